// SPDX-License-Identifier: GPL-2.0-only
/*
 * The numbers of all pageblocks against the free lists, while the kernel runs.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/vmstat.h>

#include "internal.h"
#include "pageblock_use_check.h"

static DEFINE_MUTEX(check_mutex);
static unsigned long checks, differences;

/* The third number is 0: nothing counts how often the numbers changed. */
static int check_show(struct seq_file *m, void *unused)
{
	struct zone *zone;
	unsigned long wrong;

	guard(mutex)(&check_mutex);
	for_each_populated_zone(zone) {
		wrong = pageblock_use_differences(zone);
		differences += wrong;
		if (wrong)
			pr_err("pageblock_use: %lu differences in node %d, zone %s\n",
			       wrong, zone_to_nid(zone), zone->name);
	}
	checks++;
	seq_printf(m, "checks %lu differences %lu movements 0\n", checks,
		   differences);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(check);

static int __init check_init(void)
{
	struct dentry *folder = debugfs_create_dir("pageblock_use", NULL);

	debugfs_create_file("check", 0400, folder, NULL, &check_fops);
	return 0;
}
late_initcall(check_init);
