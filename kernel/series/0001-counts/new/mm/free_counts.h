/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many free blocks there are of each order and migratetype.
 *
 * Whoever holds zone->lock and puts a block on a free list, takes it off or
 * moves it says so here. Anybody may read, without the lock: a count is one
 * aligned word, so it is the number of some moment, though not of the same
 * moment as its neighbours.
 */
#ifndef __MM_FREE_COUNTS_H
#define __MM_FREE_COUNTS_H

#include <linux/mmzone.h>

#ifdef CONFIG_FREE_COUNTS

static inline unsigned long
free_area_nr_free_type(const struct free_area *area, int migratetype)
{
	return READ_ONCE(area->nr_free_type[migratetype]);
}

static __always_inline void free_type_change(struct free_area *area,
					     int migratetype, long blocks)
{
	/*
	 * No WRITE_ONCE(): it would keep the compiler from changing the word
	 * in one instruction. The total has always been written like this.
	 */
	area->nr_free_type[migratetype] += blocks;
}

static inline void free_types_reset(struct free_area *area)
{
	int type;

	for (type = 0; type < MIGRATE_TYPES; type++)
		area->nr_free_type[type] = 0;
}

#else

/* Never called: for the compiler to check code that is not compiled in. */
unsigned long free_area_nr_free_type(const struct free_area *area,
				     int migratetype);

static __always_inline void free_type_change(struct free_area *area,
					     int migratetype, long blocks)
{
}

static inline void free_types_reset(struct free_area *area)
{
}

#endif /* CONFIG_FREE_COUNTS */

#ifdef CONFIG_FREE_COUNTS_DERIVED_TOTAL

static inline unsigned long free_area_nr_free(const struct free_area *area)
{
	unsigned long total = 0;
	int type;

	for (type = 0; type < MIGRATE_TYPES; type++)
		total += free_area_nr_free_type(area, type);
	return total;
}

static __always_inline void free_total_change(struct free_area *area,
					      long blocks)
{
}

static inline void free_total_reset(struct free_area *area)
{
}

#else

static inline unsigned long free_area_nr_free(const struct free_area *area)
{
	/* Some read it without the lock, for printing or for a guess. */
	return data_race(area->nr_free);
}

static __always_inline void free_total_change(struct free_area *area,
					      long blocks)
{
	area->nr_free += blocks;
}

static inline void free_total_reset(struct free_area *area)
{
	area->nr_free = 0;
}

#endif /* CONFIG_FREE_COUNTS_DERIVED_TOTAL */

static __always_inline void
free_counts_add(struct zone *zone, unsigned int order, int migratetype)
{
	struct free_area *area = &zone->free_area[order];

	free_total_change(area, 1);
	free_type_change(area, migratetype, 1);
}

static __always_inline void
free_counts_del(struct zone *zone, unsigned int order, int migratetype)
{
	struct free_area *area = &zone->free_area[order];

	free_total_change(area, -1);
	free_type_change(area, migratetype, -1);
}

static __always_inline void
free_counts_move(struct zone *zone, unsigned int order, int from, int to)
{
	struct free_area *area = &zone->free_area[order];

	free_type_change(area, from, -1);
	free_type_change(area, to, 1);
}

static inline void free_counts_reset(struct zone *zone, unsigned int order)
{
	struct free_area *area = &zone->free_area[order];

	free_total_reset(area);
	free_types_reset(area);
}

#endif /* __MM_FREE_COUNTS_H */
