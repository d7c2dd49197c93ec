/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MM_PAGEBLOCK_TIDYING_H
#define _MM_PAGEBLOCK_TIDYING_H

#include <linux/mmzone.h>

#include "internal.h"

/* What is to be done about a pageblock. */
enum pageblock_chore {
	PAGEBLOCK_LEAVE,
	PAGEBLOCK_TO_MOVABLE,
	PAGEBLOCK_TO_UNMOVABLE,
	PAGEBLOCK_EMPTY,
};

#ifdef CONFIG_PAGEBLOCK_TIDYING

enum pageblock_chore pageblock_chore(int type, unsigned int stays,
				     unsigned int movable);
bool pageblock_tidying_is_on(void);
bool pageblock_is_one_block(struct page *page, unsigned long pfn);
void tidy_pageblocks(pg_data_t *pgdat);

/* of mm/page_alloc.c */
struct page *take_fuller_page(struct zone *zone, unsigned int order,
			      unsigned int free_below);
bool retype_pageblock(struct zone *zone, unsigned long pfn, int from, int to);

/* of mm/compaction.c */
int isolate_to_tidy(struct compact_control *cc, unsigned long start_pfn,
		    unsigned long end_pfn);

#else

static inline bool pageblock_tidying_is_on(void)
{
	return false;
}

static inline void tidy_pageblocks(pg_data_t *pgdat)
{
}

#endif /* CONFIG_PAGEBLOCK_TIDYING */

long kcompactd_wait_tidying(pg_data_t *pgdat, long timeout);

#endif /* _MM_PAGEBLOCK_TIDYING_H */
