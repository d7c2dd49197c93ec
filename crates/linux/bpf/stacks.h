/* SPDX-License-Identifier: GPL-2.0-only */
/* Tells the pages of the tasks' kernel stacks, which are vmalloc areas. */
#ifndef FREEHOLD_STACKS_H
#define FREEHOLD_STACKS_H

/* Enough for any stack: 16 KiB on most machines. */
#define STACK_PAGES 16

struct stack_question {
	/* How many entries of the map `frames` are addresses of a `struct page`. */
	u64 count;
};

/* What is being visited. It is not on the stack, where the verifier would follow each of its values. */
static struct {
	u64 first;
	u64 task;
	u64 head;
	u64 link;
	u64 pages;
	u64 left;
	u64 count;
} stacking;

static long note_page(u32 index, void *unused)
{
	u32 key = 0, at = stacking.count;
	struct batch *batch = bpf_map_lookup_elem(&frames, &key);
	u64 page = 0;

	if (!batch || index >= stacking.left || at >= BATCH)
		return 1;
	if (!PEEK(page, stacking.pages + index * sizeof(page)))
		return 1;
	batch->entry[at] = page;
	stacking.count++;
	return 0;
}

static long visit_thread(u32 index, void *unused)
{
	struct task_struct *task;
	struct vm_struct *area;

	if (stacking.link == stacking.head || !stacking.link)
		return 1;
	task = (void *)(stacking.link - bpf_core_field_offset(struct task_struct, thread_node));
	area = BPF_CORE_READ(task, stack_vm_area);
	if (area) {
		stacking.pages = (u64)BPF_CORE_READ(area, pages);
		stacking.left = BPF_CORE_READ(area, nr_pages);
		bpf_loop(STACK_PAGES, note_page, 0, 0);
	}
	stacking.link = (u64)BPF_CORE_READ(task, thread_node.next);
	return 0;
}

static long visit_process(u32 index, void *unused)
{
	struct task_struct *task = (void *)stacking.task;
	u64 next = (u64)BPF_CORE_READ(task, tasks.next);

	if (!next)
		return 1;
	stacking.task = next - bpf_core_field_offset(struct task_struct, tasks);
	if (stacking.task == stacking.first)
		return 1;
	task = (void *)stacking.task;
	stacking.head = (u64)BPF_CORE_READ(task, signal) + bpf_core_field_offset(struct signal_struct, thread_head);
	if (!PEEK(stacking.link, stacking.head))
		return 0;
	bpf_loop(TASKS, visit_thread, 0, 0);
	return 0;
}

/* The pages of the stacks of all tasks, as far as there is room. */
SEC("syscall")
int find_stacks(struct stack_question *ask)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct search search = { .task = BPF_CORE_READ(task, group_leader) };

	ask->count = 0;
	if (!bpf_core_field_exists(struct task_struct, stack_vm_area))
		return 1;
	bpf_loop(PARENTS, climb, &search, 0);
	stacking.first = stacking.task = (u64)search.task;
	stacking.count = 0;
	bpf_loop(TASKS, visit_process, 0, 0);
	ask->count = stacking.count;
	return 0;
}

#endif
