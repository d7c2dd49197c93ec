// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tracepoints tell while a script is played.
 * Part of freehold_oracle.c, which includes it.
 */

static bool fh_may_allocate(const struct fh_op *op)
{
	return op && (op->kind == FH_ALLOC || (op->kind == FH_BULK && (u32)op->argument));
}

static bool fh_may_free(const struct fh_op *op)
{
	return op && (op->kind == FH_FREE || op->kind == FH_CONTIG || op->kind == FH_TIDY);
}

static void fh_on_alloc(void *data, struct page *page, unsigned int order, gfp_t gfp, int type)
{
	if (!fh_playing || !page)
		return;
	if (!fh_may_allocate(fh_running) || fh_allocs++)
		fh_put(FH_W_FOREIGN, 1, page_to_pfn(page));
}

static void fh_on_free(void *data, struct page *page, unsigned int order)
{
	if (fh_playing && !fh_may_free(fh_running))
		fh_put(FH_W_FOREIGN, 2, page_to_pfn(page));
}

static void fh_on_extfrag(void *data, struct page *page, int alloc_order, int fallback_order,
			  int alloc_type, int fallback_type)
{
	if (fh_playing)
		fh_put(FH_W_EXTFRAG,
		       alloc_order << 12 | fallback_order << 8 | alloc_type << 4 | fallback_type,
		       page_to_pfn(page) << 1 | (alloc_type == get_pageblock_migratetype(page)));
}

static void fh_on_taken(void *data, struct page *page, unsigned int order, int type, int refill)
{
	if (fh_playing)
		fh_put(FH_W_TAKEN, !!refill << 15 | order << 8 | type, page_to_pfn(page));
}

static void fh_on_drain(void *data, struct page *page, unsigned int order, int type)
{
	if (fh_playing)
		fh_put(FH_W_DRAINED, order << 8 | type, page_to_pfn(page));
}

static int fh_watch(void)
{
	return register_trace_mm_page_alloc(fh_on_alloc, NULL) ?:
	       register_trace_mm_page_free(fh_on_free, NULL) ?:
	       register_trace_mm_page_alloc_extfrag(fh_on_extfrag, NULL) ?:
	       register_trace_mm_page_alloc_zone_locked(fh_on_taken, NULL) ?:
	       register_trace_mm_page_pcpu_drain(fh_on_drain, NULL);
}
