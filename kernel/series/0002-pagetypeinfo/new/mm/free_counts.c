// SPDX-License-Identifier: GPL-2.0-only
/*
 * Telling how many free blocks there are of each order and migratetype.
 */
#include <linux/mm.h>
#include <linux/seq_file.h>

#include "internal.h"
#include "free_counts.h"

/* From here on the file has always said ">100000": its readers know it. */
#define LARGEST_PRINTED	100000UL

/* One zone's lines of /proc/pagetypeinfo, from the counts. */
void free_counts_print(struct seq_file *m, pg_data_t *pgdat, struct zone *zone)
{
	unsigned int order;
	int type;

	for (type = 0; type < MIGRATE_TYPES; type++) {
		seq_printf(m, "Node %4d, zone %8s, type %12s ",
			   pgdat->node_id, zone->name, migratetype_names[type]);
		for (order = 0; order < NR_PAGE_ORDERS; order++) {
			unsigned long blocks =
				free_area_nr_free_type(&zone->free_area[order], type);

			seq_printf(m, "%s%6lu ",
				   blocks < LARGEST_PRINTED ? "" : ">",
				   min(blocks, LARGEST_PRINTED));
		}
		seq_putc(m, '\n');
	}
}
