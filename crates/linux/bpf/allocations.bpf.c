/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remembers who allocated the unmovable pages that are still in use: their frames, when, and the kernel's stack.
 *
 * Both programs run at tracepoints of the page allocator, in whatever context that is called from. Pages of the
 * type Movable are left out. Of a share of all pageblocks every page is remembered, of the others none; which
 * pageblocks these are depends on nothing but their numbers, so the share can shrink while the programs run.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "GPL";

/* Numbers of map types, which are the same on every kernel. */
#define HASH_MAP 1
#define PERCPU_ARRAY_MAP 6
#define STACK_TRACE_MAP 7

/* The most frames of a stack. */
#define DEPTH 48

/* Every so many calls a program looks at the clock. */
#define METERED 64

/* A timed call that took longer was interrupted, or its CPU belonged to another guest: it says nothing of the program. */
#define LONGEST_NS 20000

/* An allocation whose pages are in use. */
struct allocation {
	u64 time_ns;
	/* The stack's number in `stacks`, or less than 0. */
	__s64 stack;
	u64 order;
};

struct {
	__uint(type, HASH_MAP);
	__uint(max_entries, 131072);
	__type(key, u64);
	__type(value, struct allocation);
} live SEC(".maps");

/* How many entries of `live` each group of frames has: most frees find none, and need not look into the hash. */
#define GROUPS 65536

struct {
	__uint(type, ARRAY_MAP);
	__uint(max_entries, GROUPS);
	__type(key, u32);
	__type(value, u32);
} groups SEC(".maps");

struct {
	__uint(type, STACK_TRACE_MAP);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(u32));
	__uint(value_size, DEPTH * sizeof(u64));
} stacks SEC(".maps");

/* Given before the programs are attached; only `share` changes afterwards. */
struct settings {
	u64 page_table;
	u64 pageblock_order;
	/* Pageblocks whose mixed number is below this are remembered, of 2^32. */
	u64 share;
};

struct {
	__uint(type, ARRAY_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct settings);
} settings SEC(".maps");

struct counters {
	/* Allocations that are not of the type Movable, and frees of any pages. */
	u64 allocations;
	u64 frees;
	/* Allocations of the share. */
	u64 remembered;
	/* Those of them for which there was no room, and those whose stack there was no room for. */
	u64 lost;
	u64 without_stack;
	/* Calls that were timed, how long they took together, and how long looking at the clock took. */
	u64 metered;
	u64 metered_ns;
	u64 clock_ns;
};

struct {
	__uint(type, PERCPU_ARRAY_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct counters);
} counters SEC(".maps");

struct raw_arguments {
	u64 args[4];
};

/* Starts to time a call, if its turn has come; 0 otherwise. */
static __always_inline u64 begin_metering(struct counters *count, u64 calls)
{
	u64 before, begin;

	if (calls % METERED)
		return 0;
	before = bpf_ktime_get_ns();
	begin = bpf_ktime_get_ns();
	if (begin - before > LONGEST_NS)
		return 0;
	count->clock_ns += begin - before;
	return begin;
}

static __always_inline void end_metering(struct counters *count, u64 begin)
{
	u64 took;

	if (!begin)
		return;
	took = bpf_ktime_get_ns() - begin;
	if (took > LONGEST_NS)
		return;
	count->metered_ns += took;
	count->metered++;
}

/* Mixes the bits of a pageblock's number; crates/linux/src/blame/watch.rs does the same. */
static __always_inline u64 mixed(u64 pageblock)
{
	pageblock *= 0x9e3779b97f4a7c15ull;
	return pageblock >> 32;
}

/* Tells whether the page's allocation is to be remembered, and its frame number. */
static __always_inline int is_watched(const struct settings *set, u64 page, u64 *pfn)
{
	u64 size = bpf_core_type_size(struct page), offset = page - set->page_table;

	/* What is divided by is not a constant to the compiler. */
	*pfn = size == 64 ? offset >> 6 : offset / size;
	return mixed(*pfn >> set->pageblock_order) < set->share;
}

static __always_inline u32 *group_of(u64 pfn)
{
	u32 key = mixed(pfn) % GROUPS;

	return bpf_map_lookup_elem(&groups, &key);
}

static __always_inline void remember(void *context, struct counters *count, u64 pfn, u64 order)
{
	struct allocation made = { .time_ns = bpf_ktime_get_ns(), .order = order };
	u32 *group = group_of(pfn);

	if (!group)
		return;
	count->remembered++;
	made.stack = bpf_get_stackid(context, &stacks, 0);
	if (made.stack < 0)
		count->without_stack++;
	/* A frame that is there already was freed unseen. */
	if (bpf_map_lookup_elem(&live, &pfn)) {
		bpf_map_update_elem(&live, &pfn, &made, 0);
		return;
	}
	__sync_fetch_and_add(group, 1);
	if (bpf_map_update_elem(&live, &pfn, &made, 0)) {
		__sync_fetch_and_add(group, -1);
		count->lost++;
	}
}

/* Arguments: the page, its order, the gfp flags, the migratetype. */
SEC("raw_tp/mm_page_alloc")
int allocated(struct raw_arguments *context)
{
	u32 key = 0, type = context->args[3];
	u64 page = context->args[0], pfn, begin;
	struct settings *set;
	struct counters *count;

	if (type == bpf_core_enum_value(enum migratetype, MIGRATE_MOVABLE) || !page)
		return 0;
	set = bpf_map_lookup_elem(&settings, &key);
	count = bpf_map_lookup_elem(&counters, &key);
	if (!set || !count)
		return 0;
	begin = begin_metering(count, count->allocations++);
	if (is_watched(set, page, &pfn))
		remember(context, count, pfn, context->args[1]);
	end_metering(count, begin);
	return 0;
}

/* Arguments: the page, its order. */
SEC("raw_tp/mm_page_free")
int freed(struct raw_arguments *context)
{
	u32 key = 0;
	u32 *group;
	u64 pfn, begin;
	struct settings *set = bpf_map_lookup_elem(&settings, &key);
	struct counters *count = bpf_map_lookup_elem(&counters, &key);

	if (!set || !count)
		return 0;
	begin = begin_metering(count, count->frees++);
	group = is_watched(set, context->args[0], &pfn) ? group_of(pfn) : 0;
	if (group && *group && !bpf_map_delete_elem(&live, &pfn))
		__sync_fetch_and_add(group, -1);
	end_metering(count, begin);
	return 0;
}
