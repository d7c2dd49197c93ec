/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts each zone's pageblocks by migratetype, from the bits that a section of memory keeps of them.
 *
 * Linux counterpart: `pagetypeinfo_showblockcount_print`.
 */
#ifndef FREEHOLD_PAGEBLOCK_TYPES_H
#define FREEHOLD_PAGEBLOCK_TYPES_H

struct pageblock_types_question {
	/* Asked for. */
	u64 zones;
	/* The value of the kernel's variable `mem_section`. */
	u64 sections;
	u64 pageblock_order;
	/* A section's pages, as a power of two. Linux counterpart: PFN_SECTION_SHIFT. */
	u64 section_shift;
	u64 page_bytes;
};

/* What is being counted, and the last word of bits that was read. */
struct pageblock_types_walk {
	struct pageblock_types_question ask;
	u64 first;
	u64 zone;
	u64 section;
	/* Where the section keeps its bits; 0 where there is no such section. */
	u64 bits;
	/* Which word of these it is plus one, and the word. */
	u64 word_at;
	u64 word;
};

/* Where a section keeps the bits of its pageblocks, or 0. */
static __always_inline u64 bits_of_section(const struct pageblock_types_question *ask, u64 section)
{
	u64 in_root = ask->page_bytes / bpf_core_type_size(struct mem_section), root = 0, usage = 0;

	if (!in_root || !PEEK(root, ask->sections + section / in_root * sizeof(u64)) || !root)
		return 0;
	root += section % in_root * bpf_core_type_size(struct mem_section);
	if (!PEEK(usage, FIELD(root, mem_section, usage)) || !usage)
		return 0;
	return FIELD(usage, mem_section_usage, pageblock_flags);
}

/* The bits that a pageblock has: 4, or more where a bit of its own says that it is isolated. */
static __always_inline u64 bits_of_pageblock(void)
{
	if (bpf_core_enum_value_exists(enum pageblock_bits, __NR_PAGEBLOCK_BITS))
		return bpf_core_enum_value(enum pageblock_bits, __NR_PAGEBLOCK_BITS) > 4 ? 8 : 4;
	return 4;
}

static __always_inline u64 isolated_bit(void)
{
	if (bpf_core_enum_value_exists(enum pageblock_bits, PB_migrate_isolate))
		return 1ull << bpf_core_enum_value(enum pageblock_bits, PB_migrate_isolate);
	return 0;
}

/* The type that a pageblock's bits say. */
static __always_inline u64 type_of_bits(u64 bits)
{
	return bits & isolated_bit() ? bpf_core_enum_value(enum migratetype, MIGRATE_ISOLATE) : bits & 7;
}

/* The end of the pages of a zone that are set up (`CONFIG_DEFERRED_STRUCT_PAGE_INIT`). */
static __always_inline u64 end_of(const struct zone_entry *entry)
{
	struct zone *zone = (void *)entry->zone;
	u64 deferred = ~0ull;

	if (bpf_core_field_exists(struct pglist_data, first_deferred_pfn))
		deferred = BPF_CORE_READ(zone, zone_pgdat, first_deferred_pfn);
	if (deferred < entry->start_pfn)
		return entry->start_pfn;
	return deferred < entry->end_pfn ? deferred : entry->end_pfn;
}

static long count_pageblock(u32 index, struct pageblock_types_walk *walk)
{
	u64 pfn = (walk->first + index) << walk->ask.pageblock_order, section = pfn >> walk->ask.section_shift;
	u64 bit = (pfn & ((1ull << walk->ask.section_shift) - 1)) >> walk->ask.pageblock_order, type;
	u32 key = walk->zone;
	struct zone_entry *entry = bpf_map_lookup_elem(&zones, &key);

	if (!entry)
		return 1;
	if (section + 1 != walk->section) {
		walk->section = section + 1;
		walk->bits = bits_of_section(&walk->ask, section);
		walk->word_at = 0;
	}
	if (!walk->bits)
		return 0;
	bit *= bits_of_pageblock();
	if (bit / 64 + 1 != walk->word_at) {
		if (!PEEK(walk->word, walk->bits + bit / 64 * sizeof(u64)))
			return 0;
		walk->word_at = bit / 64 + 1;
	}
	type = type_of_bits(walk->word >> bit % 64);
	if (type < TYPES)
		entry->pageblocks[type]++;
	return 0;
}

static long count_zone(u32 index, struct pageblock_types_question *ask)
{
	struct pageblock_types_walk walk = { .zone = index };
	u32 key = index;
	struct zone_entry *entry = bpf_map_lookup_elem(&zones, &key);
	u64 pages = 1ull << ask->pageblock_order;

	if (!entry)
		return 1;
	__builtin_memset(entry->pageblocks, 0, sizeof(entry->pageblocks));
	walk.ask = *ask;
	walk.first = entry->start_pfn >> ask->pageblock_order;
	pages = end_of(entry) - entry->start_pfn + pages - 1;
	bpf_loop(pages >> ask->pageblock_order, count_pageblock, &walk, 0);
	return 0;
}

SEC("syscall")
int count_pageblocks(struct pageblock_types_question *ask)
{
	struct pageblock_types_question question = {
		.zones = ask->zones,
		.sections = ask->sections,
		.pageblock_order = ask->pageblock_order & 31,
		.section_shift = ask->section_shift & 63,
		.page_bytes = ask->page_bytes,
	};

	bpf_loop(question.zones, count_zone, &question, 0);
	return 0;
}

#endif
