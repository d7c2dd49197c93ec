/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies a whole state: every free list and every CPU's lists in list order, each pageblock's type, and what
 * zones and CPUs remember besides. Nothing holds the machine still. The time before and after is told, so that
 * the events in between can be reconciled; a list that changes under each of several walks is counted.
 */
#ifndef FREEHOLD_LISTS_H
#define FREEHOLD_LISTS_H

/* Blocks of one entry of the map `listed`. */
#define LISTED 8192

/* Words of a CPU's entry and of a zone's. */
#define CPU_WORDS 12
#define STATE_WORDS 20

/* Lists of a CPU in one zone: more than any kernel has. */
#define CPU_LISTS 64

struct listed_chunk {
	u64 block[LISTED];
};

/*
 * The blocks in the order in which they were read. Bits of a block, from the lowest: 34 of the frame number, 4
 * of the order, 3 of the list's type, 3 of the type that a block on a CPU's list was freed under, 8 of the
 * zone's key, 12 of the CPU plus one or 0 for the zone's own list. An order above 14 is 15, and as much above it as
 * the lowest four bits of the frame number say: a block of such an order begins where these are 0.
 */
struct {
	__uint(type, ARRAY_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct listed_chunk);
} listed SEC(".maps");

struct words_of_cpu {
	u64 word[CPU_WORDS];
};

/* By zone, then by CPU. */
struct {
	__uint(type, ARRAY_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct words_of_cpu);
} cpus SEC(".maps");

struct words_of_zone {
	u64 word[STATE_WORDS];
};

struct {
	__uint(type, ARRAY_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct words_of_zone);
} states SEC(".maps");

/* The number of BPF_MAP_TYPE_PERCPU_ARRAY. */
#define PERCPU_ARRAY_MAP 6

/* Only its own address is of use: the difference to where each CPU has it is the CPU's offset. */
struct {
	__uint(type, PERCPU_ARRAY_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} probe SEC(".maps");

/* The type of each pageblock plus one, and 0x80 if compaction skips it; 0 where that cannot be read. */
#define SKIPPED 0x80

struct take_question {
	/* Asked for. */
	u64 zones;
	u64 cpus;
	u64 page_table;
	/* The value of the kernel's variable `mem_section`, or 0. */
	u64 sections;
	u64 pageblock_order;
	u64 first_pageblock;
	u64 pageblocks;
	/* The most blocks that there is room for. */
	u64 room;
	/* A section's pages, as a power of two. Linux counterpart: PFN_SECTION_SHIFT. */
	u64 section_shift;
	u64 page_bytes;
	/* Found. */
	u64 begin_ns;
	u64 end_ns;
	u64 blocks;
	u64 outside;
	u64 torn;
	/* Blocks on the lists of CPUs that were read. */
	u64 cpus_read;
	/* Asked for: nothing but the lists of CPUs. */
	u64 only_cpus;
};

/* What is being copied. It is not on the stack, where the verifier would follow each of its values. */
static struct {
	struct take_question ask;
	/* Where the blocks of the list begin in the map. */
	u64 mark;
	struct list_walk list;
	u64 label;
	u64 is_cpus;
	/* The CPU's lists. */
	u64 lists;
	u64 zone;
	u64 cpu;
	/* The address of the probe that no CPU has: what is added to it is a CPU's offset. */
	u64 offset;
	u64 number;
} taking;

/* The number of an address, which the verifier else takes for a pointer that may not be computed with. */
static __always_inline u64 number_of(void *address)
{
	*(volatile u64 *)&taking.number = (u64)address;
	return *(volatile u64 *)&taking.number;
}

static __always_inline void emit(u64 block)
{
	u64 at = taking.ask.blocks;
	u32 key = at / LISTED, place = at % LISTED;
	struct listed_chunk *chunk = bpf_map_lookup_elem(&listed, &key);

	taking.ask.blocks = at + 1;
	if (chunk)
		chunk->block[place] = block;
}

/* The type that a page on a CPU's list was freed under, which kernels before 6.10 note in the page. */
static __always_inline u64 freed_under(u64 page)
{
	u64 index = 7;

	if (!bpf_core_field_exists(struct page, index))
		return 7;
	PEEK(index, FIELD(page, page, index));
	return index < 7 ? index : 7;
}

static long take_block(u32 index, void *unused)
{
	u64 link[2], page, pfn, freed = 7;

	if (!PEEK(link, taking.list.at) || link[1] != taking.list.from)
		return 1;
	page = taking.list.at - link_offset();
	pfn = (page - taking.ask.page_table) / bpf_core_type_size(struct page);
	if (is_misplaced(&taking.list, pfn) || pfn >> 34) {
		taking.ask.outside++;
	} else {
		if (taking.is_cpus)
			freed = freed_under(page);
		emit(pfn | taking.label | freed << 41);
	}
	taking.list.from = taking.list.at;
	taking.list.at = link[0];
	taking.list.ended = link[0] == taking.list.head;
	return taking.list.ended != 0;
}

/* An order where it stands in a block. */
static __always_inline u64 order_bits(u64 order)
{
	return order < 15 ? order << 34 : 15ull << 34 | (order - 15);
}

/* Copies one list, from its head on. */
static __always_inline void take_list(u64 most)
{
	u32 try;

	taking.mark = taking.ask.blocks;
	taking.list.ended = 0;
	for (try = 0; try < TRIES && !taking.list.ended; try++) {
		taking.ask.blocks = taking.mark;
		taking.list.from = taking.list.head;
		if (!PEEK(taking.list.at, taking.list.head))
			break;
		taking.list.ended = taking.list.at == taking.list.head;
		if (!taking.list.ended)
			bpf_loop(most, take_block, 0, 0);
	}
	taking.ask.torn += !taking.list.ended;
}

static long take_zone_list(u32 index, void *unused)
{
	u32 key = index / (ORDERS * TYPES), order = index / TYPES % ORDERS, type = index % TYPES;
	struct zone_entry *entry = bpf_map_lookup_elem(&zones, &key);
	u64 nr_free = 0, area;

	/* The verifier needs to see the check below, which the compiler would find needless. */
	barrier_var(order);
	if (!entry || !is_order(order) || type >= kernel_types())
		return 0;
	area = area_of(entry->zone, order);
	read_total(&nr_free, area);
	entry->nr_free[order] = nr_free;
	taking.list.head = head_of(area, type);
	taking.list.start_pfn = entry->start_pfn;
	taking.list.end_pfn = entry->end_pfn;
	taking.list.order = order;
	taking.is_cpus = 0;
	taking.label = order_bits(order) | (u64)type << 38 | (u64)key << 44;
	take_list(nr_free + GROWTH < STEPS ? nr_free + GROWTH : STEPS);
	return 0;
}

static long take_cpu_list(u32 index, void *unused)
{
	u64 number = bpf_core_field_size(struct per_cpu_pages, lists) / sizeof(struct list_head);
	u64 small = 3 * 4, order = index / 3, type = index % 3;

	if (index >= number)
		return 1;
	if (index >= small) {
		/* The lists of huge pages: one for all that is not movable and one for what is, or one for all. */
		order = taking.ask.pageblock_order;
		type = number - small == 1 || index > small ? MIGRATE_MOVABLE : MIGRATE_UNMOVABLE;
	}
	taking.list.head = FIELD(taking.lists, per_cpu_pages, lists) + index * sizeof(struct list_head);
	taking.list.order = order;
	taking.is_cpus = 1;
	taking.label = order_bits(order) | type << 38 | taking.zone << 44 | (taking.cpu + 1) << 52;
	take_list(STEPS);
	return 0;
}

/* Copies a field of `kernels` that not all kernels have. */
#define COPY_FIELD(number, field)                                                                            \
	do {                                                                                                 \
		if (bpf_core_field_exists(kernels->field))                                                   \
			words->word[number] = BPF_CORE_READ(kernels, field);                                 \
		else                                                                                         \
			words->word[number] = ~0ull;                                                         \
	} while (0)

static long take_cpu(u32 index, void *unused)
{
	u32 key = index, first = 0, zone_key = index / taking.ask.cpus, cpu = index % taking.ask.cpus;
	struct zone_entry *entry = bpf_map_lookup_elem(&zones, &zone_key);
	struct words_of_cpu *words = bpf_map_lookup_elem(&cpus, &key);
	u64 own = number_of(bpf_map_lookup_percpu_elem(&probe, &first, cpu));
	struct per_cpu_pages *kernels;
	u64 lists = 0;

	if (!entry || !words)
		return 0;
	words->word[0] = 0;
	if (!own || !PEEK(lists, FIELD(entry->zone, zone, per_cpu_pageset)) || !lists)
		return 0;
	taking.lists = lists + (own - taking.offset);
	taking.list.start_pfn = entry->start_pfn;
	taking.list.end_pfn = entry->end_pfn;
	taking.zone = zone_key;
	taking.cpu = cpu;
	kernels = (void *)taking.lists;
	words->word[0] = 1;
	COPY_FIELD(1, count);
	COPY_FIELD(2, high);
	COPY_FIELD(3, high_min);
	COPY_FIELD(4, high_max);
	COPY_FIELD(5, batch);
	COPY_FIELD(6, flags);
	COPY_FIELD(7, alloc_factor);
	COPY_FIELD(8, free_factor);
	COPY_FIELD(9, free_count);
	taking.ask.cpus_read++;
	bpf_loop(CPU_LISTS, take_cpu_list, 0, 0);
	return 0;
}

static long take_zone(u32 index, void *unused)
{
	u32 key = index;
	struct zone_entry *entry = bpf_map_lookup_elem(&zones, &key);
	struct words_of_zone *words = bpf_map_lookup_elem(&states, &key);
	struct zone *kernels;

	if (!entry || !words)
		return 0;
	kernels = (void *)entry->zone;
	COPY_FIELD(0, _watermark[0]);
	COPY_FIELD(1, _watermark[1]);
	COPY_FIELD(2, _watermark[2]);
	COPY_FIELD(3, watermark_boost);
	COPY_FIELD(4, nr_reserved_highatomic);
	COPY_FIELD(5, flags);
	COPY_FIELD(6, compact_considered);
	COPY_FIELD(7, compact_defer_shift);
	COPY_FIELD(8, compact_order_failed);
	COPY_FIELD(9, compact_cached_free_pfn);
	COPY_FIELD(10, compact_cached_migrate_pfn[0]);
	COPY_FIELD(11, compact_cached_migrate_pfn[1]);
	COPY_FIELD(12, compact_blockskip_flush);
	return 0;
}

static long take_pageblock(u32 index, void *unused)
{
	u32 key = index / CHUNK, place = index % CHUNK;
	struct chunk *chunk = bpf_map_lookup_elem(&pageblocks, &key);
	u64 number = taking.ask.first_pageblock + index, pfn = number << taking.ask.pageblock_order;
	u64 section = pfn >> taking.ask.section_shift, usage, word = 0, bit, bits;
	struct pageblock_types_question ask = {
		.sections = taking.ask.sections,
		.page_bytes = taking.ask.page_bytes,
	};

	if (!chunk)
		return 1;
	chunk->types[place] = 0;
	usage = taking.ask.sections ? bits_of_section(&ask, section) : 0;
	if (!usage)
		return 0;
	bit = (pfn & ((1ull << taking.ask.section_shift) - 1)) >> taking.ask.pageblock_order;
	bit *= bits_of_pageblock();
	if (!PEEK(word, usage + bit / 64 * sizeof(u64)))
		return 0;
	bits = word >> bit % 64 & 0xff;
	chunk->types[place] = type_of_bits(bits) + 1;
	if (bits & 8)
		chunk->types[place] |= SKIPPED;
	return 0;
}

/* Where the CPU that has no offset would have the probe. */
static __always_inline u64 probe_address(void)
{
	u64 address = 0;

	PEEK(address, number_of(&probe) + bpf_core_field_offset(struct bpf_array, pptrs));
	return address;
}

SEC("?syscall")
int take(struct take_question *ask)
{
	__builtin_memcpy(&taking.ask, ask, sizeof(*ask));
	taking.ask.blocks = taking.ask.outside = taking.ask.torn = taking.ask.cpus_read = 0;
	taking.offset = probe_address();
	taking.ask.begin_ns = bpf_ktime_get_ns();
	if (!taking.ask.only_cpus)
		bpf_loop(taking.ask.zones * ORDERS * TYPES, take_zone_list, 0, 0);
	if (taking.offset)
		bpf_loop(taking.ask.zones * taking.ask.cpus, take_cpu, 0, 0);
	if (!taking.ask.only_cpus) {
		bpf_loop(taking.ask.zones, take_zone, 0, 0);
		bpf_loop(taking.ask.pageblocks, take_pageblock, 0, 0);
	}
	taking.ask.end_ns = bpf_ktime_get_ns();
	__builtin_memcpy(ask, &taking.ask, sizeof(*ask));
	return 0;
}

#endif
