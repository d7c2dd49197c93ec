/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the processes of the mixed load have in common.
 */
#ifndef FREEHOLD_LOAD_H
#define FREEHOLD_LOAD_H

#include <stdbool.h>

#define PAGE		4096UL
#define HUGE		(2UL << 20)
#define ROOM		"/tmp/load"
#define TIDYING		"/proc/sys/vm/pageblock_tidying_pages"
#define MOST_CPUS	8

/* What the processes tell each other; each number has one writer. */
struct shared {
	bool stop;
	unsigned long rounds[MOST_CPUS];
	unsigned long compactions;
	unsigned long cma, cma_refused;
	unsigned long offlined, offline_refused;
	unsigned long uncounted;	/* memory blocks that went while nobody counted */
	unsigned long reads, bad_reads;
	unsigned long checks, differences, movements;
	unsigned long locked, lent, kept_spoiled;
	unsigned long groups, groups_refused, group_spoiled;
	unsigned long starts;	/* of tidying */
};

extern struct shared *shared;

static inline bool stopped(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

static inline void bump(unsigned long *number)
{
	__atomic_store_n(number, *number + 1, __ATOMIC_RELAXED);
}

unsigned long pages_of_memory(bool only_free);

/* ---- load_pages.c ---- */

/* Takes pages on a CPU in every way that a program can, and gives them back. */
void take_pages(int cpu);

/* ---- load_hotplug.c ---- */

/* Takes memory blocks of ZONE_MOVABLE away and brings them back, one at a time. */
void take_memory_away(void);

/*
 * Has memory whose pageblocks were counted with free pages in them go while
 * nobody counts, and come back once pageblocks are counted anew.
 */
void go_uncounted(void);

/* ---- load_kept.c ---- */

/* Keeps pages for a while, locked in memory or lent to pipes. */
void keep_pages(void);

/* Has memory cgroups come and go. */
void be_groups(void);

#endif
