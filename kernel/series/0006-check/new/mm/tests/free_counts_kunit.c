// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the counts of free blocks, on the zones of the running kernel.
 *
 * Other tasks go on allocating meanwhile, so whatever is compared is compared
 * under zone->lock. What the counts tell is always held against the lists.
 */
#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/seq_file.h>

#include "../internal.h"
#include "../free_counts.h"

#define TEXT_BYTES	8192

/*
 * How often a zone is not as it should be. The zone's lock is held, so there is
 * no expecting anything before it is let go: that may allocate.
 */
typedef unsigned int (*zone_faults)(struct zone *zone);

static void expect_no_faults(struct kunit *test, zone_faults look)
{
	struct zone *zone;

	for_each_populated_zone(zone) {
		unsigned long flags;
		unsigned int faults;

		spin_lock_irqsave(&zone->lock, flags);
		faults = look(zone);
		spin_unlock_irqrestore(&zone->lock, flags);
		KUNIT_EXPECT_EQ_MSG(test, faults, 0u, "in node %d, zone %s",
				    zone_to_nid(zone), zone->name);
	}
}

static bool list_has_block(const struct zone *zone, unsigned int order, int type)
{
	return !list_empty(&zone->free_area[order].free_list[type]);
}

static unsigned long list_length(const struct zone *zone, unsigned int order,
				 int type)
{
	return list_count_nodes((struct list_head *)
				&zone->free_area[order].free_list[type]);
}

static unsigned int disagreements(struct zone *zone)
{
	return free_counts_differences(zone, NULL);
}

static void counts_agree_with_lists(struct kunit *test)
{
	expect_no_faults(test, disagreements);
}

static void counts_follow_every_order(struct kunit *test)
{
	static const gfp_t types[] = {
		GFP_KERNEL, GFP_KERNEL | __GFP_RECLAIMABLE, GFP_HIGHUSER_MOVABLE,
	};
	unsigned int order, i;

	for (order = 0; order < NR_PAGE_ORDERS; order++)
		for (i = 0; i < ARRAY_SIZE(types); i++) {
			gfp_t gfp = types[i] | __GFP_NOWARN | __GFP_NORETRY;
			struct page *page = alloc_pages(gfp, order);

			expect_no_faults(test, disagreements);
			if (!page)
				continue;
			__free_pages(page, order);
			expect_no_faults(test, disagreements);
		}
}

static void counts_follow_isolation(struct kunit *test)
{
#ifdef CONFIG_CONTIG_ALLOC
	unsigned long pages = 2 * pageblock_nr_pages + 3;
	struct page *page;

	page = alloc_contig_pages(pages, GFP_KERNEL | __GFP_NOWARN,
				  first_memory_node, NULL);
	if (!page)
		kunit_skip(test, "no %lu free pages in a row", pages);
	expect_no_faults(test, disagreements);
	free_contig_range(page_to_pfn(page), pages);
	expect_no_faults(test, disagreements);
#else
	kunit_skip(test, "needs CONFIG_CONTIG_ALLOC");
#endif
}

/* Differences in a zone that now has one fault, without words about them. */
static unsigned int planted(struct zone *zone)
{
	static char unread[256];
	struct seq_file m = { .buf = unread, .size = sizeof(unread) };

	return free_counts_differences(zone, &m);
}

/* A wrong count and a wrong bit are seen, or no other test means anything. */
static unsigned int unseen_faults(struct zone *zone)
{
	/* A total that is derived is as wrong as its parts. */
	unsigned int wrong =
		IS_ENABLED(CONFIG_FREE_COUNTS_DERIVED_TOTAL) ? 2 : 1;
	struct free_area *area = &zone->free_area[1];
	unsigned int faults = 0;

	area->nr_free_type[MIGRATE_MOVABLE]++;
	faults += planted(zone) != wrong;
	area->nr_free_type[MIGRATE_MOVABLE]--;

	zone->free_orders[MIGRATE_RECLAIMABLE] ^= BIT(2);
	faults += planted(zone) != 1;
	zone->free_orders[MIGRATE_RECLAIMABLE] ^= BIT(2);

	return faults + disagreements(zone);
}

static void differences_are_seen(struct kunit *test)
{
	expect_no_faults(test, unseen_faults);
}

static const int two_types[] = { MIGRATE_RECLAIMABLE, MIGRATE_MOVABLE };

static bool two_lists_have_block(const struct zone *zone, unsigned int order)
{
	return list_has_block(zone, order, two_types[0]) ||
	       list_has_block(zone, order, two_types[1]);
}

static unsigned int wrong_orders_from(struct zone *zone, unsigned int least)
{
	unsigned int order, wanted, steps, faults = 0;
	int type, down, wanted_down;

	for (type = 0; type < MIGRATE_TYPES; type++) {
		for (wanted = least; wanted < NR_PAGE_ORDERS; wanted++)
			if (list_has_block(zone, wanted, type))
				break;
		steps = 0;
		for_each_free_order(order, zone, least, type) {
			steps++;
			if (list_has_block(zone, order, type))
				break;
		}
		/* Nothing between the first one and the right one is tried. */
		faults += order != wanted || steps > 2;
	}

	for (wanted = least; wanted < NR_PAGE_ORDERS; wanted++)
		if (two_lists_have_block(zone, wanted))
			break;
	for_each_fallback_order(order, zone, least, two_types)
		break;
	faults += order != wanted;

	wanted_down = MAX_PAGE_ORDER;
	while (wanted_down >= (int)least &&
	       !two_lists_have_block(zone, wanted_down))
		wanted_down--;
	for_each_fallback_order_reverse(down, zone, least, two_types)
		break;
	/* Any order below the least says that there is none. */
	faults += max(down, (int)least - 1) != wanted_down;

	return faults;
}

static unsigned int wrong_orders(struct zone *zone)
{
	unsigned int least, faults = 0;

	for (least = 0; least < NR_PAGE_ORDERS; least++)
		faults += wrong_orders_from(zone, least);
	return faults;
}

static void order_search_finds_what_lists_have(struct kunit *test)
{
	expect_no_faults(test, wrong_orders);
}

static bool lists_suffice(const struct zone *zone, unsigned int least, bool cma,
			  bool highatomic)
{
	unsigned int order;
	int type;

	for (order = least; order < NR_PAGE_ORDERS; order++) {
		for (type = 0; type < MIGRATE_PCPTYPES; type++)
			if (list_has_block(zone, order, type))
				return true;
#ifdef CONFIG_CMA
		if (cma && list_has_block(zone, order, MIGRATE_CMA))
			return true;
#endif
		if (highatomic && list_has_block(zone, order, MIGRATE_HIGHATOMIC))
			return true;
	}
	return false;
}

static unsigned int wrong_watermarks(struct zone *zone)
{
	unsigned int order, lists, faults = 0;

	for (order = 1; order < NR_PAGE_ORDERS; order++)
		for (lists = 0; lists < 4; lists++)
			faults += free_orders_suffice(zone, order, lists & 1, lists & 2) !=
				  lists_suffice(zone, order, lists & 1, lists & 2);
	return faults;
}

static void watermark_check_sees_what_lists_have(struct kunit *test)
{
	expect_no_faults(test, wrong_watermarks);
}

static unsigned int wrong_out_of_reach(struct zone *zone)
{
	unsigned long pages = 0;
	unsigned int order;

	for (order = 0; order < NR_PAGE_ORDERS; order++)
		pages += (list_length(zone, order, MIGRATE_UNMOVABLE) +
			  list_length(zone, order, MIGRATE_RECLAIMABLE)) << order;
	return free_pages_out_of_reach(zone) != pages;
}

static void pages_out_of_reach_are_those_of_the_lists(struct kunit *test)
{
	expect_no_faults(test, wrong_out_of_reach);
}

/* The lines as walking the lists would print them. */
static void print_from_lists(struct seq_file *m, struct zone *zone)
{
	unsigned int order;
	int type;

	for (type = 0; type < MIGRATE_TYPES; type++) {
		seq_printf(m, "Node %4d, zone %8s, type %12s ",
			   zone_to_nid(zone), zone->name,
			   migratetype_names[type]);
		for (order = 0; order < NR_PAGE_ORDERS; order++) {
			unsigned long blocks = list_length(zone, order, type);

			if (blocks >= 100000)
				seq_puts(m, ">100000 ");
			else
				seq_printf(m, "%6lu ", blocks);
		}
		seq_putc(m, '\n');
	}
}

static void text_is_the_same(struct kunit *test)
{
	struct seq_file counted = { .size = TEXT_BYTES };
	struct seq_file walked = { .size = TEXT_BYTES };
	struct zone *zone;

	counted.buf = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	walked.buf = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, counted.buf);
	KUNIT_ASSERT_NOT_NULL(test, walked.buf);

	for_each_populated_zone(zone) {
		unsigned long flags;

		counted.count = 0;
		walked.count = 0;
		spin_lock_irqsave(&zone->lock, flags);
		free_counts_print(&counted, zone->zone_pgdat, zone);
		print_from_lists(&walked, zone);
		spin_unlock_irqrestore(&zone->lock, flags);

		KUNIT_EXPECT_FALSE(test, seq_has_overflowed(&walked));
		KUNIT_EXPECT_GT(test, walked.count, 0);
		KUNIT_ASSERT_EQ(test, counted.count, walked.count);
		KUNIT_EXPECT_MEMEQ(test, counted.buf, walked.buf, walked.count);
	}
}

static struct kunit_case free_counts_cases[] = {
	KUNIT_CASE(counts_agree_with_lists),
	KUNIT_CASE(counts_follow_every_order),
	KUNIT_CASE(counts_follow_isolation),
	KUNIT_CASE(differences_are_seen),
	KUNIT_CASE(order_search_finds_what_lists_have),
	KUNIT_CASE(watermark_check_sees_what_lists_have),
	KUNIT_CASE(pages_out_of_reach_are_those_of_the_lists),
	KUNIT_CASE(text_is_the_same),
	{}
};

static struct kunit_suite free_counts_suite = {
	.name = "free_counts",
	.test_cases = free_counts_cases,
};
kunit_test_suite(free_counts_suite);

MODULE_DESCRIPTION("KUnit tests of the counts of free blocks");
MODULE_LICENSE("GPL");
