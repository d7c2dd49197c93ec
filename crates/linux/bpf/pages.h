/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tells frames: which pageblocks have free blocks of which types, and which slab cache a frame belongs to.
 * A page's frame number is its place in the table of all `struct page`, whose address the asker finds out: from
 * a page of its own, whose frame number it knows, or from the zones that free blocks must lie in.
 */
#ifndef FREEHOLD_PAGES_H
#define FREEHOLD_PAGES_H

/* Eight bytes at an address, for the kernel's variables. */
struct peek_question {
	u64 address;
	u64 value;
};

SEC("syscall")
int peek(struct peek_question *ask)
{
	u64 value = 0;
	int failed = !PEEK(value, ask->address);

	ask->value = value;
	return failed;
}

/* The address of the asking task, which lies in the kernel's direct map of memory. */
SEC("syscall")
int own_task(struct peek_question *ask)
{
	ask->value = (u64)bpf_get_current_task();
	return 0;
}

struct own_page_question {
	/* A file of the asker's with one page. */
	u64 descriptor;
	/* Its `struct page`, or 0. */
	u64 page;
};

/* Entries of an xarray with one of these bits are no pages. */
#define NO_PAGE 3

/* The page of a file of this process. */
SEC("syscall")
int own_page(struct own_page_question *ask)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	u64 table = (u64)BPF_CORE_READ(task, files, fdt, fd), page;
	struct file *file = 0;

	ask->page = 0;
	if (!PEEK(file, table + ask->descriptor * sizeof(file)) || !file)
		return 1;
	page = (u64)BPF_CORE_READ(file, f_mapping, i_pages.xa_head);
	if (!page || page & NO_PAGE)
		return 1;
	ask->page = page;
	return 0;
}

static __always_inline void widen(struct zone_entry *entry, u64 link, u64 head)
{
	u64 page = link - link_offset();

	if (!link || link == head)
		return;
	if (!entry->low_page || page < entry->low_page)
		entry->low_page = page;
	if (page > entry->high_page)
		entry->high_page = page;
}

/* Looks at the first and the last block of one list. */
static long look_at_edges(u32 index, void *unused)
{
	u32 key = index / (ORDERS * TYPES), order = index / TYPES % ORDERS, type = index % TYPES;
	struct zone_entry *entry = bpf_map_lookup_elem(&zones, &key);
	u64 head, link[2] = {};

	if (!entry || order >= kernel_orders() || type >= kernel_types())
		return 0;
	head = head_of(area_of(entry->zone, order), type);
	if (PEEK(link, head)) {
		widen(entry, link[0], head);
		widen(entry, link[1], head);
	}
	return 0;
}

/* The addresses between which some free blocks of each zone lie. */
SEC("syscall")
int edges(struct count_question *ask)
{
	bpf_loop(ask->zones * ORDERS * TYPES, look_at_edges, 0, 0);
	return 0;
}

struct mark_question {
	/* Asked for. */
	u64 zones;
	u64 page_table;
	u64 pageblock_order;
	u64 first_pageblock;
	/* Found. */
	u64 blocks;
	u64 outside;
	u64 unsettled;
};

/* What is being marked. It is not on the stack, where the verifier would follow each of its values. */
static struct {
	u64 page_table;
	u64 pageblock_order;
	u64 first_pageblock;
	u64 blocks;
	u64 outside;
	u64 unsettled;
	struct list_walk list;
	u64 seen;
	u64 bit;
	/* Where the block starts. */
	u64 pageblock;
} marking;

static long mark_pageblock(u32 index, void *unused)
{
	u64 at = marking.pageblock + index;
	u32 key = at / CHUNK, place = at % CHUNK;
	struct chunk *chunk = bpf_map_lookup_elem(&pageblocks, &key);

	if (!chunk)
		return 1;
	chunk->types[place] |= marking.bit;
	return 0;
}

static long mark_block(u32 index, void *unused)
{
	u64 link[2], pfn, larger = 0;

	if (!PEEK(link, marking.list.at) || link[1] != marking.list.from)
		return 1;
	pfn = (marking.list.at - link_offset() - marking.page_table) / bpf_core_type_size(struct page);
	marking.seen++;
	if (is_misplaced(&marking.list, pfn)) {
		marking.outside++;
	} else {
		marking.pageblock = (pfn >> marking.pageblock_order) - marking.first_pageblock;
		if (marking.list.order > marking.pageblock_order)
			larger = marking.list.order - marking.pageblock_order;
		bpf_loop(1u << larger, mark_pageblock, 0, 0);
	}
	marking.list.from = marking.list.at;
	marking.list.at = link[0];
	marking.list.ended = link[0] == marking.list.head;
	return marking.list.ended != 0;
}

static long mark_list(u32 index, void *unused)
{
	u32 key = index / (ORDERS * TYPES), order = index / TYPES % ORDERS, type = index % TYPES, try;
	struct zone_entry *entry = bpf_map_lookup_elem(&zones, &key);
	u64 nr_free = 0, area, steps;

	if (!entry || order >= kernel_orders() || type >= kernel_types())
		return 0;
	area = area_of(entry->zone, order);
	marking.list.head = head_of(area, type);
	marking.list.start_pfn = entry->start_pfn;
	marking.list.end_pfn = entry->end_pfn;
	marking.list.order = order;
	marking.bit = 1 << type;
	marking.list.ended = 0;
	for (try = 0; try < TRIES && !marking.list.ended; try++) {
		if (!PEEK(marking.list.at, marking.list.head) || !read_total(&nr_free, area))
			return 1;
		marking.list.from = marking.list.head;
		marking.seen = 0;
		marking.list.ended = marking.list.at == marking.list.head;
		steps = nr_free + GROWTH < STEPS ? nr_free + GROWTH : STEPS;
		if (!marking.list.ended)
			bpf_loop(steps, mark_block, 0, 0);
	}
	marking.blocks += marking.seen;
	marking.unsettled += !marking.list.ended;
	return 0;
}

/* Sets a bit for each type on whose lists a pageblock has a free block. */
SEC("syscall")
int mark(struct mark_question *ask)
{
	marking.page_table = ask->page_table;
	marking.pageblock_order = ask->pageblock_order;
	marking.first_pageblock = ask->first_pageblock;
	marking.blocks = marking.outside = marking.unsettled = 0;
	bpf_loop(ask->zones * ORDERS * TYPES, mark_list, 0, 0);
	ask->blocks = marking.blocks;
	ask->outside = marking.outside;
	ask->unsettled = marking.unsettled;
	return 0;
}

struct slab_question {
	/* Asked for: how many entries of the map `frames` are frame numbers, and where pages are described. */
	u64 count;
	u64 page_table;
};

/* Whether there is a slab cache at `cache`: it is a link of a list whose neighbours know it. */
static __always_inline int is_cache(u64 cache)
{
	u64 link = FIELD(cache, kmem_cache, list), next = 0, back = 0;

	return cache && PEEK(next, link) && PEEK(back, next + sizeof(u64)) && back == link;
}

/* Whether a page is marked as a slab's first one, as far as this kernel's types say how. */
static __always_inline int is_slab(u64 page)
{
	u64 flags = 0;
	u32 type = 0;

	if (bpf_core_enum_value_exists(enum pageflags, PG_slab))
		return PEEK(flags, FIELD(page, page, flags)) &&
		       flags >> bpf_core_enum_value(enum pageflags, PG_slab) & 1;
	if (bpf_core_enum_value_exists(enum pagetype, PGTY_slab))
		return PEEK(type, FIELD(page, page, page_type)) &&
		       type >> 24 == bpf_core_enum_value(enum pagetype, PGTY_slab);
	return 1;
}

/* The first page of the larger one that `page` is within, or `page`; 0 where that cannot be told. */
static __always_inline u64 first_page(u64 page)
{
	u64 info = 0, address;

	if (bpf_core_field_exists(struct page, compound_head))
		address = FIELD(page, page, compound_head);
	else
		address = FIELD(page, page___info, compound_info);
	if (!PEEK(info, address))
		return 0;
	if (!(info & 1))
		return page;
	info -= 1;
	/* Since 7.1 it may be a mask for the address instead of the address: a power of two, negated. */
	return -info & (-info - 1) ? info : page & info;
}

static long find_cache(u32 index, struct slab_question *ask)
{
	u32 key = 0;
	struct batch *batch = bpf_map_lookup_elem(&frames, &key);
	u64 page, cache = 0;

	if (!batch || index >= BATCH)
		return 1;
	page = first_page(ask->page_table + batch->entry[index] * bpf_core_type_size(struct page));
	batch->entry[index] = 0;
	if (!page || !is_slab(page))
		return 0;
	if (PEEK(cache, FIELD(page, slab, slab_cache)) && is_cache(cache))
		batch->entry[index] = cache;
	return 0;
}

SEC("syscall")
int find_caches(struct slab_question *ask)
{
	struct slab_question question = { .count = ask->count, .page_table = ask->page_table };

	if (!bpf_core_field_exists(struct page, compound_head) &&
	    !bpf_core_field_exists(struct page___info, compound_info))
		return 1;
	if (!bpf_core_field_exists(struct slab, slab_cache))
		return 1;
	bpf_loop(question.count, find_cache, &question, 0);
	return 0;
}

/* What `find_kinds` puts in the place of a frame number. */
#define KIND_ZSMALLOC 1
#define KIND_LARGE_KMALLOC 2

static long find_kind(u32 index, struct slab_question *ask)
{
	u32 key = 0, type = 0;
	struct batch *batch = bpf_map_lookup_elem(&frames, &key);
	u64 page;

	if (!batch || index >= BATCH)
		return 1;
	page = first_page(ask->page_table + batch->entry[index] * bpf_core_type_size(struct page));
	batch->entry[index] = 0;
	if (!page || !PEEK(type, FIELD(page, page, page_type)))
		return 0;
	if (bpf_core_enum_value_exists(enum pagetype, PGTY_zsmalloc) &&
	    type >> 24 == bpf_core_enum_value(enum pagetype, PGTY_zsmalloc))
		batch->entry[index] = KIND_ZSMALLOC;
	if (bpf_core_enum_value_exists(enum pagetype, PGTY_large_kmalloc) &&
	    type >> 24 == bpf_core_enum_value(enum pagetype, PGTY_large_kmalloc))
		batch->entry[index] = KIND_LARGE_KMALLOC;
	return 0;
}

/* What the types of pages tell that no flag does, as far as this kernel has such types. */
SEC("syscall")
int find_kinds(struct slab_question *ask)
{
	struct slab_question question = { .count = ask->count, .page_table = ask->page_table };

	bpf_loop(question.count, find_kind, &question, 0);
	return 0;
}

struct name_question {
	u64 cache;
	char name[64];
};

SEC("syscall")
int name_cache(struct name_question *ask)
{
	struct kmem_cache *cache = (void *)ask->cache;
	char name[64] = {};

	if (!is_cache(ask->cache))
		return 1;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(cache, name));
	__builtin_memcpy(ask->name, name, sizeof(name));
	return 0;
}

#endif
