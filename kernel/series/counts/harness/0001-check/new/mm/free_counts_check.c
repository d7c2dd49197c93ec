// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holding the counts of free blocks against the free lists: on demand, and
 * after every so many movements of blocks.
 */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

#include "internal.h"
#include "free_counts.h"

/* In tests/free_counts_kunit.c. */
unsigned int free_counts_differences(struct zone *zone, struct seq_file *m);

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "free_counts."

static unsigned int check_every __read_mostly;
module_param(check_every, uint, 0644);
MODULE_PARM_DESC(check_every, "walk a zone's lists after every so many movements on a CPU; 0 for never");

static DEFINE_PER_CPU(unsigned long, movements);
static atomic_long_t checks;
static atomic_long_t found;

static unsigned int check(struct zone *zone, struct seq_file *m)
{
	unsigned int differences = free_counts_differences(zone, m);

	atomic_long_inc(&checks);
	atomic_long_add(differences, &found);
	return differences;
}

void free_counts_checkpoint(struct zone *zone)
{
	unsigned long moved = this_cpu_inc_return(movements);
	unsigned int every = READ_ONCE(check_every);

	if (every && !(moved % every))
		WARN_ON_ONCE(check(zone, NULL));
}

static int check_show(struct seq_file *m, void *unused)
{
	unsigned long moved = 0;
	struct zone *zone;
	int cpu;

	for_each_populated_zone(zone) {
		unsigned long flags;

		spin_lock_irqsave(&zone->lock, flags);
		check(zone, m);
		spin_unlock_irqrestore(&zone->lock, flags);
		cond_resched();
	}
	for_each_possible_cpu(cpu)
		moved += per_cpu(movements, cpu);
	seq_printf(m, "checks %ld differences %ld movements %lu\n",
		   atomic_long_read(&checks), atomic_long_read(&found), moved);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(check);

static int __init free_counts_debugfs(void)
{
	struct dentry *folder = debugfs_create_dir("free_counts", NULL);

	debugfs_create_file("check", 0400, folder, NULL, &check_fops);
	return 0;
}
late_initcall(free_counts_debugfs);
