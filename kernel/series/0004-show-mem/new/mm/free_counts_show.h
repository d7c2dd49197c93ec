/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The free blocks by migratetype in the report of free memory.
 */
#ifndef __MM_FREE_COUNTS_SHOW_H
#define __MM_FREE_COUNTS_SHOW_H

struct zone;

#ifdef CONFIG_FREE_COUNTS
void free_counts_show(struct zone *zone);
#else
static inline void free_counts_show(struct zone *zone)
{
}
#endif

#endif /* __MM_FREE_COUNTS_SHOW_H */
