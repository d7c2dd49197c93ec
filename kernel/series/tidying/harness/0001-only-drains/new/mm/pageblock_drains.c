// SPDX-License-Identifier: GPL-2.0-only
/*
 * What draining alone does: kcompactd empties the CPUs' lists and tidies
 * nothing.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sysctl.h>
#include <linux/timekeeping.h>
#include <linux/vmstat.h>

#include "internal.h"
#include "page_alloc.h"
#include "pageblock_drains.h"

/* The most drains a second and node in place of tidying; 0 is off. */
static unsigned int sysctl_only_drains;

/* When a node's kcompactd, its only user, drains next. */
static u64 drain_due_ns[MAX_NUMNODES];

bool pageblock_only_drains(void)
{
	return READ_ONCE(sysctl_only_drains);
}

void pageblock_drain(struct zone *zone)
{
	drain_all_pages(zone);
	count_vm_event(TIDY_DRAINED);
}

void pageblock_drain_node(pg_data_t *pgdat)
{
	unsigned int a_second = READ_ONCE(sysctl_only_drains);
	u64 *due_ns = &drain_due_ns[pgdat->node_id];
	u64 now_ns = ktime_get_ns();
	int zid;

	if (!a_second || now_ns < *due_ns)
		return;
	*due_ns = max(*due_ns + div_u64(NSEC_PER_SEC, a_second), now_ns);
	for (zid = 0; zid < MAX_NR_ZONES; zid++) {
		struct zone *zone = &pgdat->node_zones[zid];

		if (populated_zone(zone))
			pageblock_drain(zone);
	}
}

/* kcompactd looks at it when it next wakes up: half a second at most. */
static const struct ctl_table vm_drains[] = {
	{
		.procname	= "pageblock_only_drains",
		.data		= &sysctl_only_drains,
		.maxlen		= sizeof(sysctl_only_drains),
		.mode		= 0644,
		.proc_handler	= proc_douintvec,
	},
};

static int __init drains_init(void)
{
	register_sysctl_init("vm", vm_drains);
	return 0;
}
subsys_initcall(drains_init);
