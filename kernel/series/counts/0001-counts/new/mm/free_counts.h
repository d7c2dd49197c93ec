/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many free blocks there are of each order and migratetype.
 *
 * Whoever holds zone->lock and puts a block on a free list, takes it off or
 * moves it says so here. A reader without the lock gets the number of some
 * moment, and of another moment than its neighbours.
 */
#ifndef __MM_FREE_COUNTS_H
#define __MM_FREE_COUNTS_H

#include <linux/mmzone.h>

/* The free blocks of an order, of whatever type. */
static inline unsigned long free_area_nr_free(const struct free_area *area)
{
	unsigned long blocks = 0;
	int type;

	for (type = 0; type < MIGRATE_TYPES; type++)
		blocks += area->nr_free_type[type];
	return blocks;
}

/* Both without zone->lock: for printing, or for a guess. */
static inline unsigned long free_area_peek_nr_free(const struct free_area *area)
{
	/* Each count is one aligned word that is written whole. */
	return data_race(free_area_nr_free(area));
}

static inline unsigned long
free_area_peek_nr_free_type(const struct free_area *area, int type)
{
	/* As above. */
	return data_race(area->nr_free_type[type]);
}

static __always_inline void
free_counts_add(struct zone *zone, unsigned int order, int type)
{
	struct free_area *area = &zone->free_area[order];

	area->nr_free_type[type]++;
}

static __always_inline void
free_counts_del(struct zone *zone, unsigned int order, int type)
{
	struct free_area *area = &zone->free_area[order];

	area->nr_free_type[type]--;
}

static __always_inline void
free_counts_move(struct zone *zone, unsigned int order, int from, int to)
{
	struct free_area *area = &zone->free_area[order];

	area->nr_free_type[to]++;
	area->nr_free_type[from]--;
}

static inline void free_counts_reset(struct zone *zone, unsigned int order)
{
	struct free_area *area = &zone->free_area[order];
	int type;

	for (type = 0; type < MIGRATE_TYPES; type++)
		area->nr_free_type[type] = 0;
}

#endif /* __MM_FREE_COUNTS_H */
