/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Holding the counts of free blocks against the free lists, after every so many
 * movements of blocks.
 */
#ifndef __MM_FREE_COUNTS_CHECK_H
#define __MM_FREE_COUNTS_CHECK_H

struct zone;

#ifdef CONFIG_DEBUG_FREE_COUNTS
/* A block has moved, and what is counted is to agree with the lists again. */
void free_counts_checkpoint(struct zone *zone);
#else
static __always_inline void free_counts_checkpoint(struct zone *zone)
{
}
#endif

#endif /* __MM_FREE_COUNTS_CHECK_H */
