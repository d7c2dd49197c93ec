/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which orders have free blocks, as one bit mask a migratetype.
 *
 * A mask follows the counts of free_counts.h: written under zone->lock, read by
 * anybody. Searching the lists for the smallest or largest order that has a
 * block is a bit scan then, and the list says whether it has one: to a search a
 * mask only tells which lists need not be looked at. The watermark check looks
 * at nothing else.
 */
#ifndef __MM_FREE_ORDERS_H
#define __MM_FREE_ORDERS_H

#include <linux/bitops.h>
#include <linux/mmzone.h>

/* After a block has come: the first one of its order and type sets the bit. */
static __always_inline void
free_orders_set(struct zone *zone, unsigned int order, int type)
{
	if (zone->free_area[order].nr_free_type[type] == 1)
		WRITE_ONCE(zone->free_orders[type],
			   zone->free_orders[type] | BIT(order));
}

/* After a block has left: the last one clears it. */
static __always_inline void
free_orders_clear(struct zone *zone, unsigned int order, int type)
{
	if (!zone->free_area[order].nr_free_type[type])
		WRITE_ONCE(zone->free_orders[type],
			   zone->free_orders[type] & ~BIT(order));
}

static inline void free_orders_reset(struct zone *zone, unsigned int order)
{
	int type;

	for (type = 0; type < MIGRATE_TYPES; type++)
		zone->free_orders[type] &= ~BIT(order);
}

/* The orders from @least on that have blocks of the type. */
static __always_inline unsigned int
free_orders(const struct zone *zone, int type, unsigned int least)
{
	return READ_ONCE(zone->free_orders[type]) >> least << least;
}

/* The same for all types that another one falls back to. */
static __always_inline unsigned int
fallback_orders(const struct zone *zone, const int *fallbacks,
		unsigned int least)
{
	unsigned int orders = 0;
	int i;

	for (i = 0; i < MIGRATE_PCPTYPES - 1; i++)
		orders |= free_orders(zone, fallbacks[i], least);
	return orders;
}

/* The smallest order from @least on with a block of the type, if any. */
static __always_inline unsigned int
next_free_order(const struct zone *zone, unsigned int least, int type)
{
	unsigned int orders = free_orders(zone, type, least);

	return orders ? __ffs(orders) : NR_PAGE_ORDERS;
}

/* The same for the types that another one falls back to. */
static __always_inline unsigned int
next_fallback_order(const struct zone *zone, unsigned int least,
		    const int *fallbacks)
{
	unsigned int orders = fallback_orders(zone, fallbacks, least);

	return orders ? __ffs(orders) : NR_PAGE_ORDERS;
}

/* The largest such order below @below; -1 if there is none. */
static __always_inline int
last_fallback_order(const struct zone *zone, unsigned int below,
		    const int *fallbacks)
{
	unsigned int orders = fallback_orders(zone, fallbacks, 0);

	return (int)fls(orders & (BIT(below) - 1)) - 1;
}

/*
 * Whether a block of the order or a larger one is free on a list that an
 * allocation may take it from: those of the mobile and immobile types, and if
 * it says so those of CMA and of the high-order atomic reserve.
 */
static inline bool
free_orders_suffice(const struct zone *zone, unsigned int order, bool cma,
		    bool highatomic)
{
	unsigned int orders = 0;
	int type;

	for (type = 0; type < MIGRATE_PCPTYPES; type++)
		orders |= READ_ONCE(zone->free_orders[type]);
#ifdef CONFIG_CMA
	if (cma)
		orders |= READ_ONCE(zone->free_orders[MIGRATE_CMA]);
#endif
	if (highatomic)
		orders |= READ_ONCE(zone->free_orders[MIGRATE_HIGHATOMIC]);
	return orders >> order;
}

#endif /* __MM_FREE_ORDERS_H */
