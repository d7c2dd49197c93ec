
#ifdef CONFIG_PAGEBLOCK_TIDYING_KUNIT_TEST

/**
 * pageblock_use_differences() - hold a zone's numbers against its lists
 * @zone: the zone
 *
 * Return: the number of pageblocks whose numbers are wrong.
 */
unsigned long pageblock_use_differences(struct zone *zone)
{
	struct pageblock_uses *uses = uses_of(zone);
	unsigned long block, wrong = 0;

	for (block = 0; uses && block < uses->nr_blocks; block++) {
		unsigned long start = uses->start_pfn + (block << pageblock_order);
		unsigned long pfn = start, end = start + pageblock_nr_pages;
		unsigned int free = 0, movable = 0;

		if (!pageblock_pfn_to_page(start, end, zone))
			continue;
		guard(spinlock_irqsave)(&zone->lock);
		while (pfn < end) {
			struct page *page = pfn_to_page(pfn);
			unsigned int order = PageBuddy(page) ? buddy_order(page) : 0;

			if (PageBuddy(page) && order < pageblock_order)
				free += 1 << order;
			/* a page on a free list has not left it */
			wrong += PageBuddy(page) && test_bit(pfn - uses->start_pfn, uses->movable);
			pfn += 1UL << order;
		}
		for (pfn = start; pfn < end; pfn++)
			movable += test_bit(pfn - uses->start_pfn, uses->movable);
		wrong += free != uses->of[block].free || movable != uses->of[block].movable;
	}
	return wrong;
}

/* Makes the numbers of a zone's first pageblock in use wrong, for the test of the test. */
void pageblock_use_spoil(struct zone *zone)
{
	struct pageblock_uses *uses = uses_of(zone);

	guard(spinlock_irqsave)(&zone->lock);
	uses->of[uses->nr_blocks / 2].free ^= 1;
}

#endif /* CONFIG_PAGEBLOCK_TIDYING_KUNIT_TEST */
