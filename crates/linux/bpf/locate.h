/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the zones. Every node with memory has a thread `kswapd`, and what that thread was given to work on
 * is its node: `struct kthread` keeps it in `data`. No symbol, no tracepoint and no write is needed.
 */
#ifndef FREEHOLD_LOCATE_H
#define FREEHOLD_LOCATE_H

/* Enough for any chain of parents, and for the threads that run since the machine was booted. */
#define PARENTS 4096
#define TASKS (1 << 20)

/* Linux counterpart: PF_KTHREAD. */
#define KERNEL_THREAD 0x00200000

struct layout {
	u64 orders;
	u64 types;
	u64 page_bytes;
	/* The kernel's value of each type plus one, or 0 where it has no such type. */
	u64 value[6];
};

#define TYPE_VALUE(name)                                                                                     \
	(bpf_core_enum_value_exists(enum migratetype, name) ?                                                \
		 bpf_core_enum_value(enum migratetype, name) + 1 : 0)

/* What this kernel was built with. */
SEC("syscall")
int describe(struct layout *layout)
{
	layout->orders = kernel_orders();
	layout->types = kernel_types();
	layout->page_bytes = bpf_core_type_size(struct page);
	layout->value[0] = TYPE_VALUE(MIGRATE_UNMOVABLE);
	layout->value[1] = TYPE_VALUE(MIGRATE_MOVABLE);
	layout->value[2] = TYPE_VALUE(MIGRATE_RECLAIMABLE);
	layout->value[3] = TYPE_VALUE(MIGRATE_HIGHATOMIC);
	layout->value[4] = TYPE_VALUE(MIGRATE_CMA);
	layout->value[5] = TYPE_VALUE(MIGRATE_ISOLATE);
	return 0;
}

struct search {
	struct task_struct *task;
	struct task_struct *first;
	u32 found;
};

/* Climbs to the idle task, which is everybody's ancestor and the head of the list of tasks. */
static long climb(u32 index, struct search *search)
{
	struct task_struct *task = search->task, *parent = BPF_CORE_READ(task, real_parent);

	if (!parent || parent == task)
		return 1;
	search->task = parent;
	return 0;
}

static __always_inline u64 thread_data(struct task_struct *task)
{
	u64 kthread = (u64)BPF_CORE_READ(task, worker_private), data = 0;

	if (kthread)
		PEEK(data, FIELD(kthread, kthread, data));
	return data;
}

static long visit_task(u32 index, struct search *search)
{
	struct task_struct *task = search->task;
	u64 next = (u64)BPF_CORE_READ(task, tasks.next);
	char name[8] = {};

	if (!next)
		return 1;
	task = (void *)(next - bpf_core_field_offset(struct task_struct, tasks));
	if (task == search->first)
		return 1;
	search->task = task;
	if (!(BPF_CORE_READ(task, flags) & KERNEL_THREAD))
		return 0;
	bpf_probe_read_kernel(name, 6, (void *)FIELD(task, task_struct, comm));
	if (*(u64 *)name == *(u64 *)"kswapd\0") {
		u32 key = search->found;
		u64 *node = bpf_map_lookup_elem(&nodes, &key);

		if (!node)
			return 1;
		*node = thread_data(task);
		search->found++;
	}
	return 0;
}

struct found {
	u64 nodes;
};

SEC("syscall")
int find_nodes(struct found *found)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct search search = { .task = BPF_CORE_READ(task, group_leader) };

	bpf_loop(PARENTS, climb, &search, 0);
	search.first = search.task;
	bpf_loop(TASKS, visit_task, &search, 0);
	found->nodes = search.found;
	return 0;
}

struct zone_question {
	/* Asked for. */
	u64 node;
	u64 index;
	/* Found; the address is 0 where the node has no such zone. */
	u64 zone;
	u64 node_id;
	u64 start_pfn;
	u64 spanned;
	u64 present;
	char name[16];
};

SEC("syscall")
int describe_zone(struct zone_question *ask)
{
	u64 count = bpf_core_field_size(struct pglist_data, node_zones) / bpf_core_type_size(struct zone);
	struct pglist_data *node = (void *)ask->node, *back = 0;
	struct zone *zone;
	char name[16] = {};

	ask->zone = 0;
	if (ask->index >= count)
		return 0;
	zone = (void *)(FIELD(node, pglist_data, node_zones) + ask->index * bpf_core_type_size(struct zone));
	/* What is not a node of the kernel's does not point back at itself. */
	if (!PEEK(back, FIELD(zone, zone, zone_pgdat)) || back != node)
		return 1;
	ask->zone = (u64)zone;
	ask->node_id = BPF_CORE_READ(node, node_id);
	ask->start_pfn = BPF_CORE_READ(zone, zone_start_pfn);
	ask->spanned = BPF_CORE_READ(zone, spanned_pages);
	ask->present = BPF_CORE_READ(zone, present_pages);
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(zone, name));
	__builtin_memcpy(ask->name, name, sizeof(name));
	return 0;
}

#endif
