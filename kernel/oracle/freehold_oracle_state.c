// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of the zone as words: into the transcript, or into a digest.
 * Part of freehold_oracle.c, which includes it.
 */

/* Where the words of the state go: into the transcript, or into a digest. */
struct fh_sink {
	bool digesting;
	u64 digest;
};

static void fh_sink_put(struct fh_sink *sink, enum fh_tag tag, u16 a, u64 b)
{
	u64 mixed;

	if (!sink->digesting) {
		fh_put(tag, a, b);
		return;
	}
	mixed = (sink->digest ^ fh_word(tag, a, b)) * 0x9e3779b97f4a7c15ULL;
	sink->digest = mixed ^ mixed >> 32;
}

static u64 fh_zone_type(void)
{
	switch (zone_idx(fh_zone)) {
#ifdef CONFIG_ZONE_DMA
	case ZONE_DMA:
		return 0;
#endif
#ifdef CONFIG_ZONE_DMA32
	case ZONE_DMA32:
		return 1;
#endif
#ifdef CONFIG_HIGHMEM
	case ZONE_HIGHMEM:
		return 3;
#endif
	case ZONE_MOVABLE:
		return 4;
	default:
		return 2;
	}
}

static u64 fh_flags(void)
{
	u64 flags = 0;

	if (test_bit(ZONE_BOOSTED_WATERMARK, &fh_zone->flags))
		flags |= 1;
	if (test_bit(ZONE_RECLAIM_ACTIVE, &fh_zone->flags))
		flags |= 2;
#if FH_SINCE_6_12
	if (test_bit(ZONE_BELOW_HIGH, &fh_zone->flags))
		flags |= 4;
#endif
	return flags;
}

static u64 fh_value(unsigned int field)
{
	switch (field) {
	case 1: return fh_zone->zone_start_pfn;
	case 2: return fh_zone->spanned_pages;
	case 3: return fh_zone->present_pages;
	case 4: return zone_managed_pages(fh_zone);
	case 5: return pageblock_order;
	case 6: return FH_ORDERS - 1;
	case 7: return fh_zone->_watermark[WMARK_MIN];
	case 8: return fh_zone->_watermark[WMARK_LOW];
	case 9: return fh_zone->_watermark[WMARK_HIGH];
	case 10: return fh_zone->watermark_boost;
	case 11: return fh_zone->nr_reserved_highatomic;
#if FH_SINCE_6_12
	case 12: return fh_zone->nr_free_highatomic;
#endif
	case 13: return zone_page_state(fh_zone, NR_FREE_PAGES);
	case 14: return zone_page_state(fh_zone, NR_FREE_CMA_PAGES);
	case 15: return fh_flags();
	case 16: return watermark_boost_factor;
	case 17: return fh_zone_type();
	case 18: return num_online_cpus();
	case 19: return fh_zone->nr_isolate_pageblock;
	case 20: return fh_zone->lowmem_reserve[zone_idx(fh_zone)];
	default: return 0;
	}
}

static void fh_sink_value(struct fh_sink *sink, unsigned int field)
{
	u64 value = fh_value(field);

	if (!sink->digesting)
		fh_last[field] = value;
	fh_sink_put(sink, FH_W_VALUE, field, value);
}

static struct per_cpu_pages *fh_pcp(unsigned int cpu)
{
	return per_cpu_ptr(fh_zone->per_cpu_pageset, cpu);
}

static void fh_sink_cpu(struct fh_sink *sink, unsigned int cpu)
{
	struct per_cpu_pages *pcp = fh_pcp(cpu);
	u64 values[FH_CPU_VALUES + 1] = { 0, pcp->count, pcp->high };
	unsigned int field;

	values[5] = pcp->batch;
#if FH_SINCE_6_12
	values[3] = pcp->high_min;
	values[4] = pcp->high_max;
	values[6] = pcp->flags;
	values[7] = pcp->alloc_factor;
	values[8] = pcp->free_count;
#else
	values[3] = pcp->high;
	values[4] = pcp->high;
	values[9] = pcp->free_factor;
#endif
	for (field = 1; field <= FH_CPU_VALUES; field++)
		fh_sink_put(sink, FH_W_CPU_VALUE, cpu << 8 | field, values[field]);
}

static u64 fh_recorded_type(struct page *page)
{
#if FH_SINCE_6_12
	return 7;
#else
	return get_pcppage_migratetype(page);
#endif
}

static void fh_sink_percpu_lists(struct fh_sink *sink, unsigned int cpu)
{
	unsigned int order, type;
	struct page *page;

	for (order = 0; order <= PAGE_ALLOC_COSTLY_ORDER; order++)
		for (type = 0; type < MIGRATE_PCPTYPES; type++)
			list_for_each_entry(page, &fh_pcp(cpu)->lists[order_to_pindex(type, order)],
					    pcp_list)
				fh_sink_put(sink, FH_W_PERCPU, cpu << 8 | order << 4 | type,
					    fh_recorded_type(page) << 36 | page_to_pfn(page));
}

static void fh_sink_block_types(struct fh_sink *sink)
{
	unsigned long block = fh_zone->zone_start_pfn >> pageblock_order;
	unsigned long last = (zone_end_pfn(fh_zone) - 1) >> pageblock_order;
	int before = -1;

	for (; block <= last; block++) {
		unsigned long pfn = max(block << pageblock_order, fh_zone->zone_start_pfn);
		int type = get_pageblock_migratetype(pfn_to_page(pfn));

		if (type != before)
			fh_sink_put(sink, FH_W_BLOCK_TYPE, type, block);
		before = type;
	}
}

static void fh_sink_free_lists(struct fh_sink *sink)
{
	unsigned int order, type;
	struct page *page;

	for (order = 0; order < FH_ORDERS; order++)
		for (type = 0; type < MIGRATE_TYPES; type++)
			list_for_each_entry(page, &fh_zone->free_area[order].free_list[type],
					    buddy_list)
				fh_sink_put(sink, FH_W_FREE, order << 8 | type, page_to_pfn(page));
}

static unsigned long *fh_page_flags(struct page *page)
{
#if FH_SINCE_7_3
	return &page->flags.f;
#else
	return &page->flags;
#endif
}

/* Writes the numbers that pageblocks keep, if they do. */
static void fh_sink_uses(struct fh_sink *sink);

static void fh_put_reserved(void)
{
	unsigned long pfn, first = 0, pages = 0;

	for (pfn = fh_zone->zone_start_pfn; pfn <= zone_end_pfn(fh_zone); pfn++) {
		if (pfn < zone_end_pfn(fh_zone) && PageReserved(pfn_to_page(pfn))) {
			if (!pages++)
				first = pfn;
		} else if (pages) {
			fh_put(FH_W_RESERVED, 0, first);
			fh_put(FH_W_LENGTH, 0, pages);
			pages = 0;
		}
	}
}

/*
 * What the allocator itself takes for movable. Before 7.3 that includes pages
 * whose mapping only happens to look like that of a movable one: a slab that
 * was taken off a list, for example.
 */
static bool fh_looks_movable(struct page *page)
{
#if FH_SINCE_7_3
	return PageLRU(page) || page_has_movable_ops(page);
#else
	return PageLRU(page) || __PageMovable(page);
#endif
}

static void fh_put_movable(void)
{
	unsigned long pfn;

	for (pfn = fh_zone->zone_start_pfn; pfn < zone_end_pfn(fh_zone); pfn++) {
		struct page *page = pfn_to_page(pfn);

		if (fh_looks_movable(page))
			fh_put(FH_W_MOVABLE, 0, pfn);
	}
}

static void fh_put_dump(unsigned int reason)
{
	struct fh_sink sink = { };
	unsigned int i;

	fh_put(FH_W_DUMP, reason, 0);
	for (i = 1; i <= FH_VALUES; i++)
		fh_sink_value(&sink, i);
	for_each_online_cpu(i) {
		fh_sink_cpu(&sink, i);
		fh_sink_percpu_lists(&sink, i);
	}
	fh_sink_block_types(&sink);
	fh_sink_free_lists(&sink);
	fh_sink_uses(&sink);
	fh_put_reserved();
	fh_put_movable();
	fh_put(FH_W_DUMP_END, 0, 0);
}

static void fh_put_digest(void)
{
	struct fh_sink sink = { .digesting = true };
	unsigned int i;

	for (i = 7; i <= 15; i++)
		fh_sink_value(&sink, i);
	fh_sink_value(&sink, 19);
	for_each_online_cpu(i) {
		fh_sink_cpu(&sink, i);
		fh_sink_percpu_lists(&sink, i);
	}
	fh_sink_block_types(&sink);
	fh_sink_free_lists(&sink);
	fh_sink_uses(&sink);
	fh_put_raw((u64)FH_W_DIGEST << 56 | (sink.digest & GENMASK_ULL(55, 0)));
}
