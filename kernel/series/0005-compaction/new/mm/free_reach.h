/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which free pages compaction can put something on.
 */
#ifndef __MM_FREE_REACH_H
#define __MM_FREE_REACH_H

#include <linux/mmzone.h>

/*
 * The free pages of unmovable and reclaimable pageblocks, which the free
 * scanner passes over. Those of the high-order atomic reserve are none of them:
 * the watermark check leaves them out already. Isolated pages do not count as
 * free in the first place.
 */
static inline unsigned long free_pages_out_of_reach(const struct zone *zone)
{
	unsigned long pages = 0;
#ifdef CONFIG_FREE_COUNTS
	unsigned int order;

	for (order = 0; order < NR_PAGE_ORDERS; order++) {
		const struct free_area *area = &zone->free_area[order];

		pages += (READ_ONCE(area->nr_free_type[MIGRATE_UNMOVABLE]) +
			  READ_ONCE(area->nr_free_type[MIGRATE_RECLAIMABLE])) << order;
	}
#endif
	return pages;
}

#endif /* __MM_FREE_REACH_H */
