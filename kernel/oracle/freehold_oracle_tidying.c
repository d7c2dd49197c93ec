// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that the kernel can move, and passes of tidying over them.
 * Part of freehold_oracle.c, which includes it. Without the series "tidying"
 * there is neither.
 */

#ifdef CONFIG_PAGEBLOCK_TIDYING

#include <linux/migrate.h>
#include "pageblock_use.h"

void freehold_tidy_zone(struct zone *zone, u32 pages);

#define FH_MOST_BLOCKS	8192

static u8 fh_types_before[FH_MOST_BLOCKS];

/* ---- pages that move ---- */

static bool fh_isolate_page(struct page *page, isolate_mode_t mode)
{
	return true;
}

static void fh_putback_page(struct page *page)
{
}

/* Gives a page to whoever holds the slot whose number it carries. */
static void fh_adopt(struct page *page, unsigned long slot)
{
	__SetPageOffline(page);
	SetPageMovableOps(page);
	set_page_private(page, slot);
}

/* The slot holds the new page from here on. Who migrates frees the old one. */
static int fh_migrate_page(struct page *new, struct page *old, enum migrate_mode mode)
{
	unsigned long slot = page_private(old);

	fh_put(FH_W_MOVED, 0, page_to_pfn(old));
	fh_put(FH_W_MOVED_TO, 0, page_to_pfn(new));
	get_page(new);
	fh_adopt(new, slot);
	fh_slots[slot] = (fh_slots[slot] & ~FH_SLOT_PFN) | page_to_pfn(new);
	set_page_private(old, 0);
	put_page(old);
	return 0;
}

static const struct movable_operations fh_movable_ops = {
	.isolate_page = fh_isolate_page,
	.migrate_page = fh_migrate_page,
	.putback_page = fh_putback_page,
};

/* Lets the kernel move a slot's page, or no longer; true if it may now. */
static bool fh_let_move(u32 *slot, bool moves)
{
	struct page *page = fh_slot_page(*slot);

	if (fh_slot_order(*slot))
		return false;
	if (moves && !page_has_movable_ops(page)) {
		fh_adopt(page, slot - fh_slots);
	} else if (!moves && page_has_movable_ops(page)) {
		set_page_private(page, 0);
		clear_bit(PG_movable_ops, fh_page_flags(page));
		__ClearPageOffline(page);
	}
	return moves;
}

/* ---- passes ---- */

static unsigned long fh_first_block(void)
{
	return fh_zone->zone_start_pfn >> pageblock_order;
}

static u8 fh_block_type(unsigned long number)
{
	unsigned long pfn = (fh_first_block() + number) << pageblock_order;

	return get_pageblock_migratetype(pfn_to_page(max(pfn, fh_zone->zone_start_pfn)));
}

static unsigned long fh_blocks(void)
{
	return ((zone_end_pfn(fh_zone) - 1) >> pageblock_order) + 1 - fh_first_block();
}

static void fh_tidy(const struct fh_op *op)
{
	unsigned long number, blocks = min(fh_blocks(), (unsigned long)FH_MOST_BLOCKS);

	for (number = 0; number < blocks; number++)
		fh_types_before[number] = fh_block_type(number);
	freehold_tidy_zone(fh_zone, op->argument);
	for (number = 0; number < blocks; number++)
		if (fh_block_type(number) != fh_types_before[number])
			fh_put(FH_W_RETYPED, fh_block_type(number), fh_first_block() + number);
}

static void fh_sink_uses(struct fh_sink *sink)
{
	unsigned long number, blocks = fh_blocks();

	for (number = 0; number < blocks; number++) {
		unsigned long block = fh_first_block() + number;
		struct pageblock_use use = { };

		pageblock_use_of(fh_zone, block << pageblock_order, &use);
		fh_sink_put(sink, FH_W_USE, use.free, (u64)use.movable << 24 | block);
	}
}

/* ---- the start ---- */

static int fh_prepare_tidying(void)
{
	int error = set_movable_ops(&fh_movable_ops, PGTY_offline) ?: pageblock_use_start();

	if (error)
		fh_say("pageblocks cannot be counted (error %d)", -error);
	return error;
}

/*
 * Gives a reference to each page in use that has none and is no part of a
 * compound block: tidying takes such pages for pages on CPUs' lists, and what
 * they are is not in the dump.
 */
static void fh_hold_tails(void)
{
	unsigned long pfn = fh_zone->zone_start_pfn;

	for (; pfn < zone_end_pfn(fh_zone); pfn++) {
		struct page *page = pfn_to_page(pfn);

		if (PageBuddy(page))
			pfn += (1UL << buddy_order(page)) - 1;
		else if (!page_count(page) && !PageCompound(page) && !PageSlab(page))
			set_page_count(page, 1);
	}
}

/* Makes the numbers of all pageblocks follow from what a dump tells. */
static void fh_start_tidying(void)
{
	drain_all_pages(NULL);
	fh_hold_tails();
	pageblock_use_stop();
	if (pageblock_use_start())
		fh_broken = "pageblocks cannot be counted anew";
}

#else

static bool fh_let_move(u32 *slot, bool moves)
{
	return false;
}

static void fh_tidy(const struct fh_op *op)
{
	fh_broken = "this kernel does not tidy pageblocks";
}

static void fh_sink_uses(struct fh_sink *sink)
{
}

static int fh_prepare_tidying(void)
{
	return 0;
}

static void fh_start_tidying(void)
{
}

#endif /* CONFIG_PAGEBLOCK_TIDYING */
