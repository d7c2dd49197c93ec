// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pageblock a request of another migratetype claims, by what the
 * pageblocks are used for.
 */
#include <linux/mm.h>

#include "internal.h"
#include "pageblock_claim.h"

/* Returns how many pages of a pageblock are in use like the wanted ones. */
static unsigned int alike(const struct pageblock_use *use, int start_type,
			  int block_type)
{
	if (start_type == MIGRATE_MOVABLE)
		return use->movable;
	/* unmovable and reclaimable pages cannot be told apart */
	if (block_type != MIGRATE_MOVABLE)
		return 0;
	return pageblock_nr_pages - use->free - use->movable;
}

/**
 * pageblock_suits() - tell whether a pageblock should be claimed
 * @use: its numbers
 * @start_type: the migratetype that is wanted
 * @block_type: its own
 *
 * Return: true if half of it is free or in use like the wanted pages, or if
 * it is lost to large blocks in any case.
 */
bool pageblock_suits(const struct pageblock_use *use, int start_type,
		     int block_type)
{
	unsigned int like_wanted = alike(use, start_type, block_type);

	return use->free + like_wanted >= pageblock_nr_pages / 2 ||
		pageblock_is_lost(start_type, use->free, like_wanted);
}

/**
 * pageblock_to_claim() - find a pageblock in use that is worth claiming
 * @zone: where to look
 * @order: the order that is wanted
 * @start_type: the migratetype that is wanted
 * @types: the types to take from, best first
 * @found: the order of the block that was found
 * @block_type: the migratetype of its pageblock
 *
 * The caller holds zone->lock.
 *
 * Return: the largest such block, of those at the heads of the lists, or NULL.
 */
struct page *pageblock_to_claim(struct zone *zone, int order, int start_type,
				const int *types, int *found, int *block_type)
{
	struct pageblock_use use;
	struct list_head *list;
	struct page *page;
	int at, i;

	for (at = pageblock_order - 1; at >= order; at--) {
		for (i = 0; i < MIGRATE_PCPTYPES - 1; i++) {
			int looks = PAGEBLOCK_LOOKS;

			list = &zone->free_area[at].free_list[types[i]];
			list_for_each_entry(page, list, buddy_list) {
				if (!looks--)
					break;
				if (!pageblock_use_of(zone, page_to_pfn(page),
						      &use))
					continue;
				if (!pageblock_suits(&use, start_type, types[i]))
					continue;
				*found = at;
				*block_type = types[i];
				return page;
			}
		}
	}
	return NULL;
}
