
#ifdef CONFIG_PAGEBLOCK_TIDYING_KUNIT_TEST
#include "pageblock_use_check.h"

/* Returns whether a page counts as one that left for a movable request. */
static bool is_marked(struct pageblock_uses *uses, unsigned long pfn)
{
	return test_bit(pfn - uses->start_pfn, uses->movable);
}

/**
 * pageblock_use_differences() - hold a zone's numbers against its lists
 * @zone: the zone
 *
 * Return: the number of pageblocks whose numbers are wrong; 0 while none are
 * kept.
 */
unsigned long pageblock_use_differences(struct zone *zone)
{
	struct pageblock_uses *uses = uses_of(zone);
	unsigned long block, wrong = 0;

	guard(mutex)(&pageblock_use_mutex);
	if (!pageblock_use_counted())
		return 0;
	get_online_mems();
	for (block = 0; uses && block < uses->nr_blocks; block++) {
		unsigned long start = uses->start_pfn +
			(block << pageblock_order);
		unsigned long pfn = start, end = start + pageblock_nr_pages;
		unsigned int free = 0, movable = 0;

		guard(spinlock_irqsave)(&zone->lock);
		if (!pageblock_online(zone, start))
			continue;
		while (pfn < end) {
			struct page *page = pfn_to_page(pfn);
			bool listed = PageBuddy(page);
			unsigned int order = listed ? buddy_order(page) : 0;

			if (listed && order < pageblock_order)
				free += 1 << order;
			/* a page on a free list has not left it */
			wrong += listed && is_marked(uses, pfn);
			pfn += 1UL << order;
		}
		for (pfn = start; pfn < end; pfn++)
			movable += is_marked(uses, pfn);
		wrong += free != uses->of[block].free;
		wrong += movable != uses->of[block].movable;
	}
	put_online_mems();
	return wrong;
}

/**
 * pageblock_use_spoil() - make a number wrong, or right again
 * @zone: the zone
 */
void pageblock_use_spoil(struct zone *zone)
{
	struct pageblock_uses *uses = uses_of(zone);

	guard(spinlock_irqsave)(&zone->lock);
	uses->of[uses->nr_blocks / 2].free ^= 1;
}

#endif /* CONFIG_PAGEBLOCK_TIDYING_KUNIT_TEST */
