/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MM_PAGEBLOCK_CLAIM_H
#define _MM_PAGEBLOCK_CLAIM_H

#include "pageblock_use.h"

/* The number of blocks at the head of a list that are looked at. */
#define PAGEBLOCK_LOOKS 32

#ifdef CONFIG_PAGEBLOCK_TIDYING

/*
 * Returns true if pages that stay are wanted, and the pageblock has such pages
 * already and an eighth free: it is no large block in any case.
 */
static inline bool pageblock_is_lost(int start_type, unsigned int free,
				     unsigned int like_wanted)
{
	return pageblock_use_counted() && start_type != MIGRATE_MOVABLE &&
		like_wanted && free >= pageblock_nr_pages / 8;
}

/* Reads the numbers as two integers; returns false if they are not kept. */
static inline bool pageblock_use_read(struct zone *zone, unsigned long pfn,
				      int *free, int *movable)
{
	struct pageblock_use use;

	if (!pageblock_use_of(zone, pfn, &use))
		return false;
	*free = use.free;
	*movable = use.movable;
	return true;
}

bool pageblock_suits(const struct pageblock_use *use, int start_type,
		     int block_type);
struct page *pageblock_to_claim(struct zone *zone, int order, int start_type,
				const int *types, int *found, int *block_type);

#else

static inline bool pageblock_is_lost(int start_type, unsigned int free,
				     unsigned int like_wanted)
{
	return false;
}

static inline bool pageblock_use_read(struct zone *zone, unsigned long pfn,
				      int *free, int *movable)
{
	return false;
}

static inline struct page *pageblock_to_claim(struct zone *zone, int order,
					      int start_type, const int *types,
					      int *found, int *block_type)
{
	return NULL;
}

#endif /* CONFIG_PAGEBLOCK_TIDYING */

#endif /* _MM_PAGEBLOCK_CLAIM_H */
