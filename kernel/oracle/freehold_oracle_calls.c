// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of a script, and the slots that they fill and empty.
 * Part of freehold_oracle.c, which includes it.
 */

static u32 *fh_slot(u64 number, u64 count)
{
	if (number + count <= fh_head.slots)
		return fh_slots + number;
	fh_broken = "an operation uses slots that the script does not have";
	return NULL;
}

static void fh_fill(u32 *slot, struct page *page, unsigned int order)
{
	*slot = FH_SLOT_USED | order << FH_SLOT_ORDER | page_to_pfn(page);
}

static unsigned int fh_slot_order(u32 slot)
{
	return slot >> FH_SLOT_ORDER & 0xf;
}

static struct page *fh_slot_page(u32 slot)
{
	return pfn_to_page(slot & FH_SLOT_PFN);
}

#include "freehold_oracle_tidying.c"

/*
 * Marks a block as movable for compaction, as pinned, which looks the same, or
 * as neither. A kernel with tidying can really move a movable single page.
 */
static void fh_mark(u32 *slot, unsigned int as)
{
	bool is_lru = !fh_let_move(slot, as && as != FH_PINNED) && as;
	struct page *page = fh_slot_page(*slot);
	unsigned long i, pages = 1UL << fh_slot_order(*slot);

	/* The first page speaks for a compound block, whose second keeps its order. */
	if (PageCompound(page))
		pages = 1;
	for (i = 0; i < pages; i++)
		if (is_lru)
			set_bit(PG_lru, fh_page_flags(page + i));
		else
			clear_bit(PG_lru, fh_page_flags(page + i));
	*slot = as ? *slot | FH_SLOT_MARKED : *slot & ~FH_SLOT_MARKED;
}

/* ---- operations ---- */

static gfp_t fh_gfp(u32 bits)
{
	static const gfp_t names[] = {
		__GFP_DMA, __GFP_HIGHMEM, __GFP_DMA32, __GFP_MOVABLE, __GFP_RECLAIMABLE,
		__GFP_HIGH, __GFP_IO, __GFP_FS, __GFP_ZERO, __GFP_DIRECT_RECLAIM,
		__GFP_KSWAPD_RECLAIM, __GFP_WRITE, __GFP_NOWARN, __GFP_RETRY_MAYFAIL,
		__GFP_NOFAIL, __GFP_NORETRY, __GFP_MEMALLOC, __GFP_COMP, __GFP_NOMEMALLOC,
		__GFP_HARDWALL, __GFP_THISNODE, __GFP_ACCOUNT, __GFP_ZEROTAGS,
#if !FH_SINCE_6_12
		__GFP_ATOMIC,
#endif
	};
	gfp_t gfp = 0;
	unsigned int i;

	/* The allocator takes these for granted, and dies of them: two zones, two types. */
	if (hweight32(bits & GENMASK(2, 0)) > 1 || hweight32(bits & GENMASK(4, 3)) > 1) {
		fh_broken = "gfp flags contradict each other";
		return __GFP_NOWARN;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (bits & BIT(i))
			gfp |= names[i];
	return (gfp | __GFP_NOWARN) & ~__GFP_DIRECT_RECLAIM;
}

static void fh_alloc(const struct fh_op *op, u32 *slot)
{
	struct page *page = alloc_pages_node(0, fh_gfp(op->argument), op->order);

	if (!page) {
		fh_put(FH_W_REFUSED, 0, 0);
		return;
	}
	fh_fill(slot, page, op->order);
	fh_put(FH_W_ANSWER, 0, page_to_pfn(page));
}

static void fh_free(u32 *slot)
{
	u32 held = *slot;

	if (held & FH_SLOT_MARKED)
		fh_mark(slot, 0);
	*slot = 0;
	__free_pages(fh_slot_page(held), fh_slot_order(held));
}

static void fh_split(const struct fh_op *op, u32 *slot)
{
	struct page *page = fh_slot_page(*slot);
	unsigned int order = fh_slot_order(*slot);
	u32 marked = *slot & FH_SLOT_MARKED;
	unsigned long i;

	if (PageCompound(page) || !fh_slot(op->slot, 1UL << order))
		return;
	split_page(page, order);
	for (i = 0; i < 1UL << order; i++) {
		fh_fill(slot + i, page + i, 0);
		slot[i] |= marked;
	}
}

static void fh_bulk_alloc(const struct fh_op *op)
{
	u32 most = op->argument, *slots = fh_slot(op->slot, most);
	gfp_t gfp = fh_gfp(op->argument >> 32);
	unsigned long i, pages;

	if (most > FH_MOST_BULK) {
		fh_broken = "a bulk allocation is too large";
		return;
	}
	if (!slots)
		return;
	memset(fh_bulk, 0, sizeof(fh_bulk));
#if FH_SINCE_7_3
	pages = alloc_pages_bulk(gfp, most, fh_bulk);
#else
	pages = alloc_pages_bulk_array(gfp, most, fh_bulk);
#endif
	for (i = 0; i < pages; i++) {
		fh_fill(slots + i, fh_bulk[i], 0);
		fh_put(FH_W_ANSWER, 0, page_to_pfn(fh_bulk[i]));
	}
	fh_put_result(0, pages);
}

/* The first page of the range of an operation; false if it hangs on an empty slot. */
static bool fh_range_start(const struct fh_op *op, unsigned long *pfn)
{
	u32 *slot;

	if (!(op->flags & FH_FROM_SLOT)) {
		*pfn = fh_zone->zone_start_pfn;
		if (op->kind != FH_CONTIG)
			*pfn = pageblock_start_pfn(*pfn);
		return true;
	}
	slot = fh_slot(op->slot, 1);
	if (!slot || !(*slot & FH_SLOT_USED))
		return false;
	*pfn = pageblock_start_pfn(*slot & FH_SLOT_PFN);
	return true;
}

static bool fh_inside(unsigned long pfn, unsigned long pages)
{
	return pages && pfn >= fh_zone->zone_start_pfn && pfn + pages <= zone_end_pfn(fh_zone);
}

static void fh_isolate(const struct fh_op *op)
{
	unsigned long first, end;
	int error = 0;

	if (!fh_range_start(op, &first))
		return;
	first += (u32)op->argument * pageblock_nr_pages;
	end = first + op->order * pageblock_nr_pages;
	if (!fh_inside(first, end - first))
		error = -EINVAL;
#if FH_SINCE_7_3
	else if (op->kind == FH_ISOLATE)
		error = start_isolate_page_range(first, end, PB_ISOLATE_MODE_OTHER);
	else
		undo_isolate_page_range(first, end);
#else
	else if (op->kind == FH_ISOLATE)
		error = start_isolate_page_range(first, end, MIGRATE_MOVABLE, 0, fh_gfp(0));
	else
		undo_isolate_page_range(first, end, MIGRATE_MOVABLE);
#endif
	fh_put_result(error, 0);
}

static int fh_take_range(unsigned long first, unsigned long pages, bool cma, gfp_t gfp)
{
#if FH_SINCE_7_3
	return alloc_contig_range(first, first + pages, cma ? ACR_FLAGS_CMA : ACR_FLAGS_NONE, gfp);
#else
	return alloc_contig_range(first, first + pages, cma ? MIGRATE_CMA : MIGRATE_MOVABLE, gfp);
#endif
}

static void fh_contig(const struct fh_op *op)
{
	unsigned long i, first, pages = op->argument >> 32;
	int error = -EINVAL;
	u32 *slots;

	if (!fh_range_start(op, &first))
		return;
	slots = fh_slot((u64)op->slot + 1, pages);
	if (!slots)
		return;
	first += (u32)op->argument;
	if (fh_inside(first, pages))
		error = fh_take_range(first, pages, op->flags & FH_FOR_CMA, fh_gfp(0));
	for (i = 0; i < pages && !error; i++)
		fh_fill(slots + i, pfn_to_page(first + i), 0);
	fh_put_result(error, 0);
}

/* Writes a tunable as somebody who writes to its file below /proc/sys/vm does. */
static int fh_tune(unsigned int number, u64 value)
{
	static const struct {
		int *data;
		proc_handler *handler;
		void *least, *most;
	} tunables[] = {
		{ &min_free_kbytes, min_free_kbytes_sysctl_handler, SYSCTL_ZERO, NULL },
		{ &watermark_scale_factor, watermark_scale_factor_sysctl_handler, SYSCTL_ONE,
		  SYSCTL_THREE_THOUSAND },
		{ &watermark_boost_factor, proc_dointvec_minmax, SYSCTL_ZERO, NULL },
		{ &percpu_pagelist_high_fraction, percpu_pagelist_high_fraction_sysctl_handler,
		  SYSCTL_ZERO, NULL },
	};
	static struct ctl_table table;
	static char digits[24];
	size_t length;
	loff_t at = 0;

	if (number >= ARRAY_SIZE(tunables))
		return -EINVAL;
	table = (struct ctl_table) {
		.procname = "freehold",
		.data = tunables[number].data,
		.maxlen = sizeof(int),
		.mode = 0644,
		.extra1 = tunables[number].least,
		.extra2 = tunables[number].most,
	};
	length = scnprintf(digits, sizeof(digits), "%llu\n", value);
	return tunables[number].handler(&table, 1, digits, &length, &at);
}

static void fh_set(const struct fh_op *op)
{
	struct fh_sink sink = { };
	unsigned int i;

	fh_put_result(fh_tune(op->flags, op->argument), 0);
	for (i = 1; i <= FH_VALUES; i++)
		fh_sink_value(&sink, i);
	for_each_online_cpu(i)
		fh_sink_cpu(&sink, i);
}

static void fh_relax_boost(u64 pages)
{
	unsigned long flags;

	spin_lock_irqsave(&fh_zone->lock, flags);
	fh_zone->watermark_boost -= min_t(u64, fh_zone->watermark_boost, pages);
	spin_unlock_irqrestore(&fh_zone->lock, flags);
}

static void fh_print(unsigned int which)
{
	static struct seq_file file;
	const struct seq_operations *print = freehold_seq_operations(which);
	loff_t at = 0;
	void *item;
	size_t i;

	memset(fh_text, 0, sizeof(fh_text));
	file.buf = fh_text;
	file.size = sizeof(fh_text);
	file.count = 0;
	for (item = print->start(&file, &at); item; item = print->next(&file, item, &at))
		print->show(&file, item);
	print->stop(&file, NULL);
	if (seq_has_overflowed(&file))
		fh_broken = "a text does not fit the oracle's buffer";
	fh_put(FH_W_TEXT, which, file.count);
	for (i = 0; i < DIV_ROUND_UP(file.count, 8); i++)
		fh_put_raw(((u64 *)fh_text)[i]);
}

/* The operations that hang on a block. */
static void fh_do_slot(const struct fh_op *op)
{
	u32 *slot = fh_slot(op->slot, 1);

	if (!slot)
		return;
	if (op->kind == FH_ALLOC) {
		fh_alloc(op, slot);
		return;
	}
	if (!(*slot & FH_SLOT_USED))
		return;
	if (op->kind == FH_FREE)
		fh_free(slot);
	else if (op->kind == FH_SPLIT)
		fh_split(op, slot);
	else
		fh_mark(slot, op->flags);
}

static void fh_do(const struct fh_op *op)
{
	switch (op->kind) {
	case FH_ALLOC:
	case FH_FREE:
	case FH_SPLIT:
	case FH_MARK:
		fh_do_slot(op);
		break;
	case FH_BULK:
		fh_bulk_alloc(op);
		break;
	case FH_DRAIN:
		drain_pages(op->cpu);
		break;
	case FH_DRAIN_ALL:
		drain_all_pages(NULL);
		break;
	case FH_REFRESH:
#if FH_SINCE_6_12
		decay_pcp_high(fh_zone, fh_pcp(op->cpu));
#endif
		break;
	case FH_ISOLATE:
	case FH_UNDO_ISOLATE:
		fh_isolate(op);
		break;
	case FH_CONTIG:
		fh_contig(op);
		break;
	case FH_SET:
		fh_set(op);
		break;
	case FH_RELAX_BOOST:
		fh_relax_boost(op->argument);
		break;
	case FH_RECLAIM_ACTIVE:
		if (op->flags)
			set_bit(ZONE_RECLAIM_ACTIVE, &fh_zone->flags);
		else
			clear_bit(ZONE_RECLAIM_ACTIVE, &fh_zone->flags);
		break;
	case FH_TEXT:
		fh_print(op->flags);
		break;
	case FH_STATE:
		if (op->flags)
			fh_put_dump(1);
		else
			fh_put_digest();
		break;
	case FH_TIDY:
		fh_tidy(op);
		break;
	default:
		fh_broken = "the script has an operation that this oracle does not know";
	}
}

static void fh_play_one(const struct fh_op *op)
{
	struct per_cpu_pages *pcp = fh_pcp(op->cpu);
	u64 free_count = 0, factor;
	unsigned int field;

	fh_allocs = 0;
	WRITE_ONCE(fh_running, op);
	fh_do(op);
	WRITE_ONCE(fh_running, NULL);

	for (field = 10; field <= 15; field++) {
		u64 value = fh_value(field);

		if (value != fh_last[field])
			fh_put(FH_W_VALUE, field, value);
		fh_last[field] = value;
	}
#if FH_SINCE_6_12
	free_count = pcp->free_count;
	factor = pcp->alloc_factor;
#else
	factor = pcp->free_factor;
#endif
	fh_put_raw((u64)FH_W_PERCPU_NOW << 56 | (u64)(u16)pcp->count << 40 |
		   (u64)(u16)pcp->high << 24 | (free_count & 0xffff) << 8 | (factor & 0xff));
}
