// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each pageblock's pages are used for: two numbers, kept while somebody
 * wants them.
 */
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/memory_hotplug.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "internal.h"
#include "page_alloc.h"
#include "pageblock_use.h"

/* The pageblocks that a zone spanned when they were first counted. */
struct pageblock_uses {
	unsigned long start_pfn;
	unsigned long nr_blocks;
	struct pageblock_use *of;
	/* a bit for each page that has left the lists for a movable request */
	unsigned long *movable;
};

DEFINE_STATIC_KEY_FALSE(pageblock_use_key);

static struct pageblock_uses *zone_uses[MAX_NUMNODES][MAX_NR_ZONES];
static DEFINE_MUTEX(pageblock_use_mutex);

/* True while the numbers of all pageblocks are right. */
static bool counted_anew;

static struct pageblock_uses *uses_of(struct zone *zone)
{
	/* pairs with the release in pageblock_use_prepare() */
	return smp_load_acquire(&zone_uses[zone_to_nid(zone)][zone_idx(zone)]);
}

static struct pageblock_use *use_in(struct pageblock_uses *uses,
				    unsigned long pfn)
{
	unsigned long block;

	if (!uses || pfn < uses->start_pfn)
		return NULL;
	block = (pfn - uses->start_pfn) >> pageblock_order;
	return block < uses->nr_blocks ? &uses->of[block] : NULL;
}

/**
 * pageblock_use_of() - read the numbers of a pageblock
 * @zone: the zone that it is in
 * @pfn: any page in it
 * @use: the numbers
 *
 * Return: false if the pageblock is not counted.
 */
bool pageblock_use_of(struct zone *zone, unsigned long pfn,
		      struct pageblock_use *use)
{
	struct pageblock_use *found;

	/* pairs with the release in pageblock_use_start() */
	if (!pageblock_use_counted() || !smp_load_acquire(&counted_anew))
		return false;
	found = use_in(uses_of(zone), pfn);
	if (!found)
		return false;
	use->free = READ_ONCE(found->free);
	use->movable = READ_ONCE(found->movable);
	return true;
}

void __pageblock_use_listed(struct zone *zone, struct page *page, int nr_pages)
{
	struct pageblock_use *use = use_in(uses_of(zone), page_to_pfn(page));

	if (use)
		WRITE_ONCE(use->free, use->free + nr_pages);
}

/*
 * Marks so many pages from a bit on as movable or not, and returns how many
 * were marked. They are a block, aligned to its size, so they lie within a word
 * of the bitmap or have words of their own.
 */
static noinline unsigned int mark_bits(unsigned long *movable_pages,
				       unsigned long bit, unsigned int nr_pages,
				       bool movable)
{
	unsigned long *word = movable_pages + BIT_WORD(bit);
	unsigned int first = bit % BITS_PER_LONG, words, had = 0;
	unsigned long mask = GENMASK(first + min(nr_pages, BITS_PER_LONG) - 1,
				     first);

	for (words = DIV_ROUND_UP(nr_pages, BITS_PER_LONG); words; words--) {
		had += hweight_long(*word & mask);
		*word = movable ? *word | mask : *word & ~mask;
		word++;
	}
	return had;
}

/* Marks the pages of a block, all of one pageblock, as movable or not. */
static void mark(struct pageblock_uses *uses, unsigned long pfn,
		 unsigned int nr_pages, bool movable)
{
	struct pageblock_use *use = use_in(uses, pfn);
	unsigned long bit;
	unsigned int had;

	if (!use)
		return;
	bit = pfn - uses->start_pfn;
	if (nr_pages > 1)
		had = mark_bits(uses->movable, bit, nr_pages, movable);
	else if (movable)
		had = __test_and_set_bit(bit, uses->movable);
	else
		had = __test_and_clear_bit(bit, uses->movable);
	if (movable || had)
		WRITE_ONCE(use->movable,
			   use->movable - had + (movable ? nr_pages : 0));
}

static void mark_block(struct zone *zone, unsigned long pfn,
		       unsigned int order, bool movable)
{
	struct pageblock_uses *uses = uses_of(zone);
	unsigned long end = pfn + (1UL << order);
	unsigned int step = min(1UL << order, pageblock_nr_pages);

	for (; pfn < end; pfn += step)
		mark(uses, pfn, step, movable);
}

void __pageblock_use_taken(struct zone *zone, struct page *page,
			   unsigned int order)
{
	mark_block(zone, page_to_pfn(page), order, true);
}

void __pageblock_use_returned(struct zone *zone, unsigned long pfn,
			      unsigned int order)
{
	mark_block(zone, pfn, order, false);
}

/* Returns a page of a zone, or NULL if it is offline or of another zone. */
static struct page *page_of(struct zone *zone, unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);

	return page && page_zone(page) == zone ? page : NULL;
}

/**
 * pageblock_online() - find a pageblock whose memory is online
 * @zone: the zone, whose lock the caller holds
 * @pfn: the first page
 *
 * Offlining takes the zone lock after pfn_to_online_page() has ceased to find
 * the pages, and before it poisons their struct pages. Until the caller lets
 * go of the lock they stay what they are.
 *
 * Return: the first page, or NULL if not all of the pageblock is the zone's.
 */
struct page *pageblock_online(struct zone *zone, unsigned long pfn)
{
	struct page *first = page_of(zone, pfn);

	lockdep_assert_held(&zone->lock);
	if (!first || !page_of(zone, pfn + pageblock_nr_pages - 1))
		return NULL;
	return first;
}

/*
 * Counts the zone's part of a pageblock anew, whatever was counted before.
 * Memory that is offline counts as nothing: it comes back free.
 */
static void recount(struct zone *zone, struct pageblock_uses *uses,
		    unsigned long start)
{
	struct pageblock_use *use = use_in(uses, start);
	unsigned long pfn = max(start, zone->zone_start_pfn);
	unsigned long end = min(start + pageblock_nr_pages, zone_end_pfn(zone));
	unsigned long bit = start - uses->start_pfn;

	guard(spinlock_irqsave)(&zone->lock);
	use->free = 0;
	use->movable = 0;
	bitmap_clear(uses->movable + BIT_WORD(bit), bit % BITS_PER_LONG,
		     pageblock_nr_pages);
	if (pfn >= end || !page_of(zone, pfn) || !page_of(zone, end - 1))
		return;
	while (pfn < end) {
		struct page *page = pfn_to_page(pfn);

		if (PageBuddy(page)) {
			unsigned int order = buddy_order(page);

			if (order < pageblock_order)
				use->free += 1 << order;
			pfn += 1UL << order;
			continue;
		}
		if (PageLRU(page) || page_has_movable_ops(page)) {
			__set_bit(pfn - uses->start_pfn, uses->movable);
			use->movable++;
		}
		pfn++;
	}
}

/* Forgets what was counted before, also of zones whose memory is offline. */
static void forget_all(void)
{
	int nid, zid;

	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		for (zid = 0; zid < MAX_NR_ZONES; zid++) {
			struct pageblock_uses *uses = zone_uses[nid][zid];
			unsigned long nr_pages;

			if (!uses)
				continue;
			nr_pages = uses->nr_blocks << pageblock_order;
			memset(uses->of, 0,
			       uses->nr_blocks * sizeof(*uses->of));
			memset(uses->movable, 0,
			       BITS_TO_LONGS(nr_pages) * sizeof(long));
		}
	}
}

static int pageblock_use_prepare(struct zone *zone)
{
	unsigned long start = pageblock_start_pfn(zone->zone_start_pfn);
	unsigned long nr_pages = pageblock_align(zone_end_pfn(zone)) - start;
	struct pageblock_uses *uses;

	/* a number may be that of all pages of a pageblock */
	BUILD_BUG_ON((1UL << PAGE_BLOCK_MAX_ORDER) > U16_MAX);
	if (uses_of(zone))
		return 0;
	uses = kzalloc_obj(*uses);
	if (!uses)
		return -ENOMEM;
	uses->start_pfn = start;
	uses->nr_blocks = nr_pages >> pageblock_order;
	uses->of = kvcalloc(uses->nr_blocks, sizeof(*uses->of), GFP_KERNEL);
	uses->movable = kvcalloc(BITS_TO_LONGS(nr_pages), sizeof(long),
				 GFP_KERNEL);
	if (!uses->of || !uses->movable) {
		kvfree(uses->movable);
		kvfree(uses->of);
		kfree(uses);
		return -ENOMEM;
	}
	/* pairs with the acquire in uses_of() */
	smp_store_release(&zone_uses[zone_to_nid(zone)][zone_idx(zone)], uses);
	return 0;
}

/**
 * pageblock_use_start() - count what pageblocks are used for from now on
 *
 * Memory that a zone did not span when it was first counted is left out.
 *
 * Return: 0, or -ENOMEM.
 */
int pageblock_use_start(void)
{
	struct zone *zone;
	int err = 0;

	guard(mutex)(&pageblock_use_mutex);
	if (pageblock_use_counted())
		return 0;
	/* in the order in which memory hotplug takes them */
	cpus_read_lock();
	get_online_mems();
	for_each_populated_zone(zone) {
		err = pageblock_use_prepare(zone);
		if (err)
			goto out;
	}
	forget_all();
	/* from here on movements count; a pageblock is right once counted anew */
	static_branch_enable_cpuslocked(&pageblock_use_key);
	for_each_populated_zone(zone) {
		struct pageblock_uses *uses = uses_of(zone);
		unsigned long block;

		for (block = 0; block < uses->nr_blocks; block++) {
			recount(zone, uses, uses->start_pfn +
				(block << pageblock_order));
			cond_resched();
		}
	}
	/* pairs with the acquire in pageblock_use_of() */
	smp_store_release(&counted_anew, true);
out:
	put_online_mems();
	cpus_read_unlock();
	return err;
}

/**
 * pageblock_use_stop() - stop counting
 */
void pageblock_use_stop(void)
{
	guard(mutex)(&pageblock_use_mutex);
	WRITE_ONCE(counted_anew, false);
	static_branch_disable(&pageblock_use_key);
}
