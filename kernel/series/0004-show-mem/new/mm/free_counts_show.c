// SPDX-License-Identifier: GPL-2.0-only
/*
 * The free blocks by migratetype in the report of free memory, which goes with
 * a failed allocation and with the OOM killer.
 */
#include <linux/mm.h>
#include <linux/printk.h>

#include "internal.h"
#include "free_counts.h"

/* Ten digits of blocks for each order fit. */
#define LINE_BYTES	(NR_PAGE_ORDERS * 20)

static void show_type(struct zone *zone, int type)
{
	unsigned long pages = 0;
	char line[LINE_BYTES];
	unsigned int order;
	int used = 0;

	for (order = 0; order < NR_PAGE_ORDERS; order++) {
		const struct free_area *area = &zone->free_area[order];
		unsigned long blocks = free_area_nr_free_type(area, type);

		if (!blocks)
			continue;
		used += scnprintf(line + used, sizeof(line) - used,
				  "%lu*%lukB ", blocks, K(1UL) << order);
		pages += blocks << order;
	}
	if (used)
		pr_warn("Node %d %s %s: %s= %lukB\n", zone_to_nid(zone),
			zone->name, migratetype_names[type], line, K(pages));
}

/*
 * A line for each type that has free blocks: whether memory is too fragmented,
 * or free but of the wrong type, is not to be seen from the totals.
 */
void free_counts_show(struct zone *zone)
{
	int type;

	for (type = 0; type < MIGRATE_TYPES; type++)
		if (free_orders(zone, type, 0))
			show_type(zone, type);
}
