/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts free blocks by order and type.
 *
 * The kernel keeps the sum over the lists of each order, or counts that add up to it, so the longest list
 * need not be walked: it is what the others leave. Which one it is shows by walking all lists in step until
 * only one has not ended, which costs no more than each list being as long as the second longest. The list
 * that was the longest last time waits until the others are twice as long as they were then, as it will most
 * likely be the longest again.
 *
 * Nothing holds the lists still. Each step checks that the page it came from is the one that the next
 * page's link names as its neighbour; where that fails, the order is read again, and the last time it is
 * counted without that check. What is reported then is off by no more than what changed meanwhile.
 *
 * A kernel that counts by type is believed, and none of its lists is walked.
 */
#ifndef FREEHOLD_COUNT_H
#define FREEHOLD_COUNT_H

#define TRIES 5

/* The most steps of a walk: beyond it the numbers are lower bounds. */
#define STEPS (1 << 22)

/* By how much lists may grow while they are walked, before a walk is taken for one that has no end. */
#define GROWTH 4096

/* The least number of steps that the list that was the longest waits. */
#define PATIENCE 16

/* One order's walk. It is not on the stack, where the verifier would follow each of its values. */
static struct {
	u64 area;
	u64 at[TYPES];
	u64 from[TYPES];
	u64 count[TYPES];
	/* Lists whose end was not reached, as bits. */
	u32 open;
	/* The list that waits, as a bit, or 0, and for how many steps. */
	u32 waiting;
	u64 patience;
	u32 strict;
	u32 broken;
	/* What the kernel counts, read last. */
	u64 nr_free;
	/* Over all lists: blocks, the two largest counts, the larger's type, and the only open list's. */
	u64 sum;
	u64 first;
	u64 second;
	u32 longest;
	u32 heir;
} walk;

/* Takes each list one block further; ends when at most one list has not ended. */
static long step(u32 index, void *unused)
{
	u32 type;

	if (!(walk.open & (walk.open - 1)))
		return 1;
	if (index >= walk.patience)
		walk.waiting = 0;
#pragma unroll
	for (type = 0; type < TYPES; type++) {
		u32 bit = 1 << type;
		u64 link[2];

		if (!(walk.open & ~walk.waiting & bit))
			continue;
		if (!PEEK(link, walk.at[type]) || (walk.strict && link[1] != walk.from[type])) {
			walk.broken = 1;
			return 1;
		}
		walk.count[type]++;
		walk.from[type] = walk.at[type];
		walk.at[type] = link[0];
		if (link[0] == head_of(walk.area, type))
			walk.open &= ~bit;
	}
	return 0;
}

/* Puts each list's walk at its first block. */
static __always_inline void line_up(void)
{
	u64 heads[TYPES][2] = {};
	u32 type;

	walk.open = 0;
	walk.broken =
		bpf_probe_read_kernel(heads, kernel_types() * sizeof(heads[0]), (void *)head_of(walk.area, 0)) != 0;
#pragma unroll
	for (type = 0; type < TYPES; type++) {
		walk.count[type] = 0;
		walk.at[type] = heads[type][0];
		walk.from[type] = head_of(walk.area, type);
		if (type < kernel_types() && heads[type][0] != walk.from[type])
			walk.open |= 1 << type;
	}
}

static long weigh(u32 type, void *unused)
{
	u64 count;

	if (type >= TYPES)
		return 1;
	count = walk.count[type];
	walk.sum += count;
	if (count > walk.first) {
		walk.second = walk.first;
		walk.first = count;
		walk.longest = type;
	} else if (count > walk.second) {
		walk.second = count;
	}
	if (walk.open == 1 << type)
		walk.heir = type;
	return 0;
}

static __always_inline void tally(void)
{
	walk.sum = walk.first = walk.second = walk.longest = 0;
	bpf_loop(TYPES, weigh, 0, 0);
}

/*
 * Walks all lists of an order; tells whether what was counted can be. A function of its own, which the verifier
 * looks at once: it remembers a state for each way to each call of a function that it follows, and since 7.x took
 * 34 MiB to do so, which fragments what is measured.
 */
__noinline int try_walk(void)
{
	u64 steps;

	read_total(&walk.nr_free, walk.area);
	steps = walk.nr_free + GROWTH < STEPS ? walk.nr_free + GROWTH : STEPS;
	line_up();
	if (!walk.broken)
		bpf_loop(steps, step, 0, 0);
	read_total(&walk.nr_free, walk.area);
	tally();
	if (walk.broken)
		return 0;
	if (!walk.open)
		return walk.sum == walk.nr_free;
	if (walk.open & (walk.open - 1))
		return steps == STEPS;
	return walk.sum <= walk.nr_free;
}

/* Gives the list that has not ended what the others leave, and notes what the next reading needs. */
static __always_inline void settle(struct zone_entry *entry, u32 order)
{
	u64 several = walk.open & (walk.open - 1), nr_free = walk.nr_free;
	u32 type;

	entry->capped[order] = several ? walk.open : 0;
	if (!several && walk.sum < nr_free) {
		walk.count[walk.heir % TYPES] += nr_free - walk.sum;
		tally();
	}
#pragma unroll
	for (type = 0; type < TYPES; type++)
		entry->blocks[order][type] = walk.count[type];
	entry->nr_free[order] = walk.sum > nr_free ? walk.sum : nr_free;
	entry->longest[order] = walk.longest;
	entry->patience[order] = 2 * walk.second + PATIENCE;
}

/*
 * Takes the counts by type of a kernel that keeps them; tells whether it does. A function of its own, as `read_total` is.
 */
__noinline int take_counts(void)
{
	u64 of_type[TYPES] = {}, size;
	u32 type;

	if (bpf_core_field_exists(struct free_area, nr_free))
		return 0;
	size = bpf_core_field_size(struct free_area___by_type, nr_free_type);
	if (bpf_probe_read_kernel(of_type, size, (void *)FIELD(walk.area, free_area___by_type, nr_free_type)))
		return 0;
	walk.open = 0;
	walk.nr_free = 0;
#pragma unroll
	for (type = 0; type < TYPES; type++) {
		walk.count[type] = of_type[type];
		walk.nr_free += of_type[type];
	}
	tally();
	return 1;
}

static long count_order(u32 index, void *unused)
{
	u32 key = index / ORDERS, order = index % ORDERS, try;
	struct zone_entry *entry = bpf_map_lookup_elem(&zones, &key);

	/* The verifier needs to see the check below, which the compiler would find needless. */
	barrier_var(order);
	if (!entry || !is_order(order))
		return 0;
	walk.area = area_of(entry->zone, order);
	if (take_counts()) {
		settle(entry, order);
		return 0;
	}
	for (try = 0; try < TRIES; try++) {
		walk.strict = try + 1 < TRIES;
		walk.patience = entry->patience[order];
		/* Nothing is known before the first reading. */
		walk.waiting = walk.patience ? 1 << entry->longest[order] : 0;
		walk.heir = entry->longest[order];
		if (try_walk())
			break;
	}
	if (try == TRIES) {
		entry->unsettled++;
		walk.open = 0;
	}
	settle(entry, order);
	return 0;
}

struct count_question {
	u64 zones;
};

SEC("syscall")
int count(struct count_question *ask)
{
	bpf_loop(ask->zones * ORDERS, count_order, 0, 0);
	return 0;
}

#endif
