/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs and whoever asks them share. The kernel's sizes are checked against these first. */
#ifndef FREEHOLD_MAPS_H
#define FREEHOLD_MAPS_H

/* The most orders and types that there is room for. */
#define ORDERS 19
#define TYPES 8

/* One zone: where it is, and what was found in it. */
struct zone_entry {
	/* Asked for. */
	u64 zone;
	u64 start_pfn;
	u64 end_pfn;
	/* Found. */
	u64 nr_free[ORDERS];
	u64 blocks[ORDERS][TYPES];
	/* Types, as bits, whose number is only a lower bound. */
	u64 capped[ORDERS];
	/* Orders whose lists changed during every try. */
	u64 unsettled;
	/* Kept between readings: the longest list's type, and how many steps it waits for the others. */
	u64 longest[ORDERS];
	u64 patience[ORDERS];
	/* Lowest and highest address of a free block that is first or last on its list; 0 where there is none. */
	u64 low_page;
	u64 high_page;
	/* Pageblocks by type. */
	u64 pageblocks[TYPES];
};

struct {
	__uint(type, ARRAY_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct zone_entry);
} zones SEC(".maps");

/* The nodes' addresses, in the order in which they were found. */
struct {
	__uint(type, ARRAY_MAP);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} nodes SEC(".maps");

/* The types on whose lists a pageblock has free blocks, as bits: a byte for each pageblock. */
#define CHUNK 65536

struct chunk {
	u8 types[CHUNK];
};

struct {
	__uint(type, ARRAY_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct chunk);
} pageblocks SEC(".maps");

/* Frame numbers, which become the addresses of the slab caches that hold the frames, or 0. */
#define BATCH 8192

struct batch {
	u64 entry[BATCH];
};

struct {
	__uint(type, ARRAY_MAP);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct batch);
} frames SEC(".maps");

/* How many types this kernel has, and how many orders. */
static __always_inline u32 kernel_types(void)
{
	return bpf_core_field_size(struct free_area, free_list) / sizeof(struct list_head);
}

static __always_inline u32 kernel_orders(void)
{
	return bpf_core_field_size(struct zone, free_area) / bpf_core_type_size(struct free_area);
}

/* Whether the kernel has this order, and there is room for it. */
static __always_inline int is_order(u32 order)
{
	return order < ORDERS && order < kernel_orders();
}

/* The address of the free area of an order. */
static __always_inline u64 area_of(u64 zone, u64 order)
{
	return FIELD(zone, zone, free_area) + order * bpf_core_type_size(struct free_area);
}

/* The address of the head of a type's list. */
static __always_inline u64 head_of(u64 area, u64 type)
{
	return FIELD(area, free_area, free_list) + type * sizeof(struct list_head);
}

/*
 * Reads how many free blocks the kernel counts in an area: its total, or the sum over types where it keeps no
 * total. Leaves `total` as it is if it cannot; tells whether it could. A function of its own: out of a loop the
 * compiler would take what only one of the two kinds of kernel has.
 */
static __noinline int read_total(u64 *total, u64 area)
{
	u64 of_type[TYPES] = {}, sum = 0, size;
	u32 type;

	if (bpf_core_field_exists(struct free_area, nr_free))
		return PEEK(*total, FIELD(area, free_area, nr_free));
	size = bpf_core_field_size(struct free_area___by_type, nr_free_type);
	if (bpf_probe_read_kernel(of_type, size, (void *)FIELD(area, free_area___by_type, nr_free_type)))
		return 0;
#pragma unroll
	for (type = 0; type < TYPES; type++)
		sum += of_type[type];
	*total = sum;
	return 1;
}

/* A list of a zone, or of a CPU, that is being walked. */
struct list_walk {
	u64 head;
	u64 at;
	u64 from;
	u64 start_pfn;
	u64 end_pfn;
	u64 order;
	u64 ended;
};

/* Whether a block that the list leads to cannot be one of its own. */
static __always_inline int is_misplaced(const struct list_walk *list, u64 pfn)
{
	return pfn < list->start_pfn || pfn >= list->end_pfn || pfn & ((1ull << list->order) - 1);
}

/* The link in `struct page` that free blocks are listed by. */
static __always_inline u64 link_offset(void)
{
	if (bpf_core_field_exists(struct page, buddy_list))
		return bpf_core_field_offset(struct page, buddy_list);
	return bpf_core_field_offset(struct page___lru, lru);
}

#endif
