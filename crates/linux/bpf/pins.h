/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds pinned pages: those on the LRU to which somebody has a reference beside the page tables that map them and the
 * cache that they are in. Nothing moves such a page.
 *
 * Linux counterpart: the references that `isolate_migratepages_block` and `folio_expected_ref_count` allow for.
 */
#ifndef FREEHOLD_PINS_H
#define FREEHOLD_PINS_H

struct pins_question {
	/* Asked for: at most 64 frames for each entry of the map `frames`, in which each has a bit afterwards. */
	u64 from;
	u64 count;
	u64 page_table;
	/* Found. */
	u64 pinned;
};

/* The question, and whether the page whose further frames come next is pinned. */
struct pins_walk {
	struct pins_question ask;
	u64 within;
};

static __always_inline u64 flag(u64 flags, u64 number)
{
	return flags >> number & 1;
}

/* Reads a page's flags; tells whether it could. */
static __always_inline int read_flags(u64 *flags, u64 page)
{
	if (bpf_core_field_exists(struct page___memdesc, flags.f))
		return PEEK(*flags, FIELD(page, page___memdesc, flags));
	return PEEK(*flags, FIELD(page, page, flags));
}

/* The references to a page of one frame, or to one of several, that mappings and caches have. */
static __always_inline long expected(u64 page, u64 flags, u64 frames, long mapped)
{
	u64 mapping = 0;

	PEEK(mapping, FIELD(page, page, mapping));
	if (mapping & 1)
		return mapped + (flag(flags, bpf_core_enum_value(enum pageflags, PG_swapcache)) ? frames : 0);
	if (!mapping)
		return mapped;
	mapped += frames + flag(flags, bpf_core_enum_value(enum pageflags, PG_private));
	if (bpf_core_enum_value_exists(enum pageflags, PG_private_2) &&
	    !flag(flags, bpf_core_enum_value(enum pageflags, PG_private)))
		mapped += flag(flags, bpf_core_enum_value(enum pageflags, PG_private_2));
	return mapped;
}

/* References that stand for one pin of `pin_user_pages` on a page of one frame. */
#define PIN_BIAS 1024

/* Whether the page that begins at `page` is pinned. */
static __always_inline int is_pinned(u64 page, u64 flags)
{
	u64 order = 0;
	int mapped = 0, references = 0, pins = 0;

	if (!flag(flags, bpf_core_enum_value(enum pageflags, PG_lru)))
		return 0;
	if (!PEEK(references, FIELD(page, page, _refcount)) || references <= 0)
		return 0;
	if (!flag(flags, bpf_core_enum_value(enum pageflags, PG_head))) {
		if (!PEEK(mapped, FIELD(page, page, _mapcount)))
			return 0;
		return references > expected(page, flags, 1, mapped + 1 > 0 ? mapped + 1 : 0);
	}
	if (bpf_core_field_exists(struct folio, _pincount) && PEEK(pins, FIELD(page, folio, _pincount)) && pins > 0)
		return 1;
	if (!bpf_core_field_exists(struct folio, _large_mapcount))
		return 0;
	if (!PEEK(mapped, FIELD(page, folio, _large_mapcount)) || !PEEK(order, FIELD(page, folio, _flags_1)))
		return 0;
	return references > expected(page, flags, 1ull << (order & 0x1f), mapped + 1 > 0 ? mapped + 1 : 0);
}

static long find_pin(u32 index, struct pins_walk *walk)
{
	u32 key = 0, place = index / 64;
	struct batch *batch = bpf_map_lookup_elem(&frames, &key);
	u64 page, head, flags = 0;

	if (!batch || place >= BATCH)
		return 1;
	if (index % 64 == 0)
		batch->entry[place] = 0;
	page = walk->ask.page_table + (walk->ask.from + index) * bpf_core_type_size(struct page);
	if (!read_flags(&flags, page))
		return 0;
	if (flag(flags, bpf_core_enum_value(enum pageflags, PG_lru))) {
		walk->within = is_pinned(page, flags);
	} else {
		head = first_page(page);
		if (!head || head == page)
			walk->within = 0;
		else if (!index)
			walk->within = read_flags(&flags, head) && is_pinned(head, flags);
	}
	if (walk->within) {
		batch->entry[place] |= 1ull << index % 64;
		walk->ask.pinned++;
	}
	return 0;
}

SEC("syscall")
int find_pins(struct pins_question *ask)
{
	struct pins_walk walk = {};

	if (!bpf_core_field_exists(struct page, _refcount) || !bpf_core_field_exists(struct page, mapping))
		return 1;
	walk.ask.from = ask->from;
	walk.ask.count = ask->count;
	walk.ask.page_table = ask->page_table;
	bpf_loop(walk.ask.count, find_pin, &walk, 0);
	ask->pinned = walk.ask.pinned;
	return 0;
}

static long find_user_pin(u32 index, struct slab_question *ask)
{
	u32 key = 0;
	struct batch *batch = bpf_map_lookup_elem(&frames, &key);
	int references = 0, pins = 0;
	u64 page, flags = 0;

	if (!batch || index >= BATCH)
		return 1;
	page = first_page(ask->page_table + batch->entry[index] * bpf_core_type_size(struct page));
	batch->entry[index] = 0;
	if (!page || !read_flags(&flags, page))
		return 0;
	if (flag(flags, bpf_core_enum_value(enum pageflags, PG_head))) {
		if (bpf_core_field_exists(struct folio, _pincount))
			PEEK(pins, FIELD(page, folio, _pincount));
		batch->entry[index] = pins > 0;
		return 0;
	}
	PEEK(references, FIELD(page, page, _refcount));
	batch->entry[index] = references >= PIN_BIAS;
	return 0;
}

/* Which of the frames in the map `frames` have pins of `pin_user_pages`. */
SEC("syscall")
int find_user_pins(struct slab_question *ask)
{
	struct slab_question question = { .count = ask->count, .page_table = ask->page_table };

	bpf_loop(question.count, find_user_pin, &question, 0);
	return 0;
}

#endif
