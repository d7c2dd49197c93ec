/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Holding the counts of free blocks against the free lists.
 */
#ifndef __MM_FREE_COUNTS_CHECK_H
#define __MM_FREE_COUNTS_CHECK_H

struct seq_file;
struct zone;

/*
 * How many counts and mask bits of a zone its free lists do not bear out; each
 * is described to @m, or in the kernel's log if there is none. The caller holds
 * zone->lock.
 */
unsigned int free_counts_differences(struct zone *zone, struct seq_file *m);

#ifdef CONFIG_DEBUG_FREE_COUNTS
/* A block has moved, and what is counted is to agree with the lists again. */
void free_counts_checkpoint(struct zone *zone);
#else
static __always_inline void free_counts_checkpoint(struct zone *zone)
{
}
#endif

#endif /* __MM_FREE_COUNTS_CHECK_H */
