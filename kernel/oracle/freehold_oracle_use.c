// SPDX-License-Identifier: GPL-2.0-only
/*
 * The numbers of pageblocks that reach beyond their zone.
 *
 * This file is included at the end of mm/pageblock_use.c, which the series
 * "tidying" adds. pageblock_use_start() counts whole pageblocks alone. The
 * others start from 0, whatever is in them; what leaves them makes their
 * numbers wrap. A script starts from numbers that follow from what is there.
 */

static void freehold_count_part(struct zone *zone, struct pageblock_uses *uses,
				unsigned long start)
{
	struct pageblock_use *use = use_in(uses, start);
	unsigned long pfn = max(start, zone->zone_start_pfn);
	unsigned long end = min(start + pageblock_nr_pages, zone_end_pfn(zone));

	use->free = 0;
	use->movable = 0;
	bitmap_clear(uses->movable, start - uses->start_pfn, pageblock_nr_pages);
	for (; pfn < end; pfn++) {
		struct page *page = pfn_to_page(pfn);

		if (PageBuddy(page)) {
			use->free += 1 << buddy_order(page);
			pfn += (1UL << buddy_order(page)) - 1;
		} else if (PageLRU(page) || page_has_movable_ops(page)) {
			__set_bit(pfn - uses->start_pfn, uses->movable);
			use->movable++;
		}
	}
}

void freehold_count_ends(struct zone *zone);

/* The caller keeps everybody else out. */
void freehold_count_ends(struct zone *zone)
{
	struct pageblock_uses *uses = uses_of(zone);
	unsigned long block;

	for (block = 0; block < uses->nr_blocks; block++) {
		unsigned long start = uses->start_pfn + (block << pageblock_order);

		if (!pageblock_pfn_to_page(start, start + pageblock_nr_pages, zone))
			freehold_count_part(zone, uses, start);
	}
}
