// SPDX-License-Identifier: GPL-2.0-only
/*
 * What requests for pages get and how long the zone lock is held, from the
 * kernel's own tracepoints, as one JSON object in the debugfs file
 * freehold_watch. A write to it sets everything back.
 *
 * A histogram is a list of [least value, samples]: four buckets for each power
 * of two. Holds and waits are in ns, and are there only with CONFIG_LOCK_STAT;
 * `claims` are calls for a whole pageblock in a hold that has any, and are
 * there only with CONFIG_FUNCTION_TRACER; `drained` are pages that a hold that
 * has any takes from per-CPU lists.
 */

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <asm/tsc.h>

#include <trace/events/kmem.h>
#include <trace/events/lock.h>

#define FW_BUCKETS	(4 * 42)

enum fw_what { FW_HELD, FW_WAITED, FW_CLAIMS, FW_DRAINED, FW_HISTOGRAMS };

static const char * const fw_names[FW_HISTOGRAMS] = { "held", "waited", "claims", "drained" };

struct fw_histogram {
	u64 buckets[FW_BUCKETS];
	u64 samples, total, most;
};

/* Written by its own CPU; the hold in progress is that of the CPU's only zone lock. */
struct fw_cpu {
	struct fw_histogram histograms[FW_HISTOGRAMS];
	u64 requests, mismatches, fallbacks;
	u64 asked, taken, claims, drained;
	bool is_contended;
};

static DEFINE_PER_CPU(struct fw_cpu, fw_cpus);

/* Returns the bucket of a value: itself below four, then by its first three bits. */
static unsigned int fw_bucket(u64 value)
{
	unsigned int log;

	if (value < 4)
		return value;
	log = ilog2(value);
	return min_t(unsigned int, 4 * (log - 1) + (value >> (log - 2) & 3), FW_BUCKETS - 1);
}

static u64 fw_least(unsigned int bucket)
{
	return bucket < 4 ? bucket : (4ULL + bucket % 4) << (bucket / 4 - 1);
}

static void fw_add(struct fw_histogram *histogram, u64 value)
{
	histogram->buckets[fw_bucket(value)]++;
	histogram->samples++;
	histogram->total += value;
	histogram->most = max(histogram->most, value);
}

/* ---- what requests get ---- */

static void fw_alloc(void *data, struct page *page, unsigned int order, gfp_t gfp, int type)
{
	if (!page)
		return;
	this_cpu_inc(fw_cpus.requests);
	if (get_pageblock_migratetype(page) != type)
		this_cpu_inc(fw_cpus.mismatches);
}

static void fw_fallback(void *data, struct page *page, int order, int from_order, int type,
			int from_type)
{
	this_cpu_inc(fw_cpus.fallbacks);
}

/* Runs under the zone lock. */
static void fw_drain(void *data, struct page *page, unsigned int order, int type)
{
	this_cpu_ptr(&fw_cpus)->drained += 1UL << order;
}

/* ---- the zone lock ---- */

#ifdef CONFIG_LOCK_STAT
static u64 fw_ns(u64 ticks)
{
	return tsc_khz ? mul_u64_u32_div(ticks, 1000000, tsc_khz) : 0;
}

static bool fw_is_zone_lock(struct lockdep_map *map)
{
	unsigned long at = (unsigned long)map, zones;
	int node;

	for_each_online_node(node) {
		zones = (unsigned long)NODE_DATA(node)->node_zones;
		if (at < zones || at >= zones + sizeof(NODE_DATA(node)->node_zones))
			continue;
		at = (at - zones) / sizeof(struct zone);
		return map == &NODE_DATA(node)->node_zones[at].lock.dep_map;
	}
	return false;
}

static void fw_acquire(void *data, struct lockdep_map *map, unsigned int subclass, int trylock,
		       int read, int check, struct lockdep_map *next, unsigned long ip)
{
	struct fw_cpu *cpu;

	if (!fw_is_zone_lock(map))
		return;
	cpu = this_cpu_ptr(&fw_cpus);
	cpu->asked = rdtsc_ordered();
	cpu->taken = 0;
	cpu->is_contended = false;
}

static void fw_contended(void *data, struct lockdep_map *map, unsigned long ip)
{
	if (fw_is_zone_lock(map))
		this_cpu_ptr(&fw_cpus)->is_contended = true;
}

static void fw_acquired(void *data, struct lockdep_map *map, unsigned long ip)
{
	struct fw_cpu *cpu;

	if (!fw_is_zone_lock(map))
		return;
	cpu = this_cpu_ptr(&fw_cpus);
	cpu->taken = rdtsc_ordered();
	cpu->claims = 0;
	cpu->drained = 0;
	if (cpu->is_contended)
		fw_add(&cpu->histograms[FW_WAITED], fw_ns(cpu->taken - cpu->asked));
}

static void fw_release(void *data, struct lockdep_map *map, unsigned long ip)
{
	struct fw_cpu *cpu;

	if (!fw_is_zone_lock(map))
		return;
	cpu = this_cpu_ptr(&fw_cpus);
	/* One that was tried for and had is told of by no event. */
	if (!cpu->taken)
		return;
	fw_add(&cpu->histograms[FW_HELD], fw_ns(rdtsc_ordered() - cpu->taken));
	if (cpu->claims)
		fw_add(&cpu->histograms[FW_CLAIMS], cpu->claims);
	if (cpu->drained)
		fw_add(&cpu->histograms[FW_DRAINED], cpu->drained);
	cpu->taken = 0;
}

static int __init fw_watch_lock(void)
{
	return register_trace_lock_acquire(fw_acquire, NULL) ?:
	       register_trace_lock_contended(fw_contended, NULL) ?:
	       register_trace_lock_acquired(fw_acquired, NULL) ?:
	       register_trace_lock_release(fw_release, NULL);
}
#else
static int __init fw_watch_lock(void)
{
	return 0;
}
#endif

#ifdef CONFIG_FUNCTION_TRACER
/* The function's names in Linux 6.12 and 7.3. */
static const char * const fw_claims[] = { "try_to_steal_block*", "try_to_claim_block*" };

static void notrace fw_claim(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			     struct ftrace_regs *regs)
{
	this_cpu_ptr(&fw_cpus)->claims++;
}

static struct ftrace_ops fw_ops = { .func = fw_claim };

static void __init fw_watch_claims(void)
{
	bool is_there = false;
	int i;

	for (i = 0; i < ARRAY_SIZE(fw_claims); i++)
		is_there |= !ftrace_set_filter(&fw_ops, (char *)fw_claims[i],
					       strlen(fw_claims[i]), 0);
	/* Without a filter it would be called for every function. */
	if (is_there)
		is_there = !register_ftrace_function(&fw_ops);
	if (!is_there)
		pr_err("freehold_watch: claims are not counted\n");
}
#else
static void __init fw_watch_claims(void)
{
}
#endif

/* ---- the file ---- */

static void fw_show_histogram(struct seq_file *file, enum fw_what what)
{
	u64 samples = 0, total = 0, most = 0, count;
	const char *between = "";
	struct fw_histogram *of;
	unsigned int bucket;
	int cpu;

	for_each_possible_cpu(cpu) {
		of = &per_cpu(fw_cpus, cpu).histograms[what];
		samples += of->samples;
		total += of->total;
		most = max(most, of->most);
	}
	seq_printf(file, ",\"%s\":{\"samples\":%llu,\"total\":%llu,\"most\":%llu,\"buckets\":[",
		   fw_names[what], samples, total, most);
	for (bucket = 0; bucket < FW_BUCKETS; bucket++) {
		count = 0;
		for_each_possible_cpu(cpu)
			count += per_cpu(fw_cpus, cpu).histograms[what].buckets[bucket];
		if (!count)
			continue;
		seq_printf(file, "%s[%llu,%llu]", between, fw_least(bucket), count);
		between = ",";
	}
	seq_puts(file, "]}");
}

static int fw_show(struct seq_file *file, void *data)
{
	u64 requests = 0, mismatches = 0, fallbacks = 0;
	enum fw_what what;
	int cpu;

	for_each_possible_cpu(cpu) {
		requests += per_cpu(fw_cpus, cpu).requests;
		mismatches += per_cpu(fw_cpus, cpu).mismatches;
		fallbacks += per_cpu(fw_cpus, cpu).fallbacks;
	}
	seq_printf(file, "{\"requests\":%llu,\"mismatches\":%llu,\"fallbacks\":%llu",
		   requests, mismatches, fallbacks);
	for (what = 0; what < FW_HISTOGRAMS; what++)
		fw_show_histogram(file, what);
	seq_puts(file, "}\n");
	return 0;
}

static int fw_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, fw_show, NULL, 64 << 10);
}

/* What other CPUs count at this moment may stay. */
static ssize_t fw_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct fw_cpu *of;
	int cpu;

	for_each_possible_cpu(cpu) {
		of = &per_cpu(fw_cpus, cpu);
		memset(of->histograms, 0, sizeof(of->histograms));
		of->requests = 0;
		of->mismatches = 0;
		of->fallbacks = 0;
	}
	return size;
}

static const struct file_operations fw_file = {
	.owner = THIS_MODULE,
	.open = fw_open,
	.release = single_release,
	.read = seq_read,
	.write = fw_write,
	.llseek = seq_lseek,
};

/* Early: what the boot itself does is watched too. */
static int __init fw_watch(void)
{
	int err = register_trace_mm_page_alloc(fw_alloc, NULL) ?:
		  register_trace_mm_page_alloc_extfrag(fw_fallback, NULL) ?:
		  register_trace_mm_page_pcpu_drain(fw_drain, NULL) ?:
		  fw_watch_lock();

	if (err)
		pr_err("freehold_watch: not everything is watched (%d)\n", err);
	return 0;
}
core_initcall(fw_watch);

static int __init fw_init(void)
{
	fw_watch_claims();
	debugfs_create_file("freehold_watch", 0600, NULL, NULL, &fw_file);
	return 0;
}
late_initcall(fw_init);
