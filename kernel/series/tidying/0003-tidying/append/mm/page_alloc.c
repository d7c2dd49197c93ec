
#ifdef CONFIG_PAGEBLOCK_TIDYING

/**
 * take_fuller_page() - take a free movable block that is better used than free
 * @zone: where from
 * @order: its order
 * @free_below: its pageblock has fewer free pages than this
 *
 * Return: the smallest such block, of those at the heads of the lists, or NULL
 * if there is none or free memory is low.
 */
struct page *take_fuller_page(struct zone *zone, unsigned int order,
			      unsigned int free_below)
{
	unsigned long mark = min_wmark_pages(zone) + (1UL << order);
	struct pageblock_use use;
	struct list_head *list;
	struct page *page;
	unsigned int at;

	guard(spinlock_irqsave)(&zone->lock);
	if (!zone_watermark_ok(zone, 0, mark, 0, ALLOC_CMA))
		return NULL;
	for (at = order; at < pageblock_order; at++) {
		int looks = PAGEBLOCK_LOOKS;

		list = &zone->free_area[at].free_list[MIGRATE_MOVABLE];
		list_for_each_entry(page, list, buddy_list) {
			if (!looks--)
				break;
			if (!pageblock_use_of(zone, page_to_pfn(page), &use) ||
			    use.free >= free_below)
				continue;
			page_del_and_expand(zone, page, order, at,
					    MIGRATE_MOVABLE);
			pageblock_use_taken(zone, page, order, MIGRATE_MOVABLE);
			return page;
		}
	}
	return NULL;
}

/**
 * retype_pageblock() - give a pageblock another migratetype
 * @zone: the zone that it is in
 * @pfn: its first page
 * @from: the migratetype that it has
 * @to: the one that it gets
 *
 * Return: false if it has another type by now, is one block or gone, or if
 * pages are not grouped by type.
 */
bool retype_pageblock(struct zone *zone, unsigned long pfn, int from, int to)
{
	struct page *page;

	guard(spinlock_irqsave)(&zone->lock);
	page = pageblock_online(zone, pfn);
	if (!page || get_pageblock_migratetype(page) != from ||
	    pageblock_is_one_block(page, pfn) || page_group_by_mobility_disabled)
		return false;
	return move_freepages_block(zone, page, from, to) >= 0;
}

#endif /* CONFIG_PAGEBLOCK_TIDYING */
