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

static unsigned long list_length(const struct zone *zone, unsigned int order,
				 int type)
{
	return list_count_nodes((struct list_head *)
				&zone->free_area[order].free_list[type]);
}

static void describe(struct seq_file *m, struct zone *zone,
		     unsigned int order, const char *what,
		     unsigned long on_list, unsigned long told)
{
	/* The zone's lock is held: the log gets this later. */
	if (m)
		seq_printf(m, "Node %d, zone %8s, order %u, %s: %lu on the list, %lu told\n",
			   zone_to_nid(zone), zone->name, order, what, on_list,
			   told);
	else
		printk_deferred("free_counts: Node %d, zone %s, order %u, %s: %lu on the list, %lu told\n",
				zone_to_nid(zone), zone->name, order, what,
				on_list, told);
}

unsigned int free_counts_differences(struct zone *zone, struct seq_file *m);

/*
 * How many counts and mask bits of a zone its free lists do not bear out; each
 * is described to @m, or in the kernel's log if there is none.
 */
unsigned int free_counts_differences(struct zone *zone, struct seq_file *m)
{
	unsigned int differences = 0;
	unsigned int order;
	int type;

	lockdep_assert_held(&zone->lock);

	for (order = 0; order < NR_PAGE_ORDERS; order++)
		for (type = 0; type < MIGRATE_TYPES; type++) {
			unsigned long on_list = list_length(zone, order, type);
			unsigned long counted =
				zone->free_area[order].nr_free_type[type];
			bool has_bit = free_orders(zone, type, 0) & BIT(order);

			if (counted != on_list) {
				describe(m, zone, order, migratetype_names[type],
					 on_list, counted);
				differences++;
			}
			if (has_bit != !!on_list) {
				describe(m, zone, order, "the type's bit",
					 on_list, has_bit);
				differences++;
			}
		}
	return differences;
}

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
	struct free_area *area = &zone->free_area[1];
	unsigned int faults = 0;

	area->nr_free_type[MIGRATE_MOVABLE]++;
	faults += planted(zone) != 1;
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
		for (order = least; order < NR_PAGE_ORDERS;
		     order = next_free_order(zone, order + 1, type)) {
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
	faults += next_fallback_order(zone, least, two_types) != wanted;

	wanted_down = MAX_PAGE_ORDER;
	while (wanted_down >= (int)least &&
	       !two_lists_have_block(zone, wanted_down))
		wanted_down--;
	down = last_fallback_order(zone, NR_PAGE_ORDERS, two_types);
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

static unsigned int wrong_totals(struct zone *zone)
{
	unsigned int order, faults = 0;
	int type;

	for (order = 0; order < NR_PAGE_ORDERS; order++) {
		unsigned long blocks = 0;

		for (type = 0; type < MIGRATE_TYPES; type++)
			blocks += list_length(zone, order, type);
		faults += free_area_nr_free(&zone->free_area[order]) != blocks;
	}
	return faults;
}

static void totals_are_those_of_the_lists(struct kunit *test)
{
	expect_no_faults(test, wrong_totals);
}

static struct kunit_case free_counts_cases[] = {
	KUNIT_CASE(counts_agree_with_lists),
	KUNIT_CASE(counts_follow_every_order),
	KUNIT_CASE(counts_follow_isolation),
	KUNIT_CASE(differences_are_seen),
	KUNIT_CASE(order_search_finds_what_lists_have),
	KUNIT_CASE(watermark_check_sees_what_lists_have),
	KUNIT_CASE(totals_are_those_of_the_lists),
	{}
};

static struct kunit_suite free_counts_suite = {
	.name = "free_counts",
	.test_cases = free_counts_cases,
};

kunit_test_suite(free_counts_suite);

MODULE_DESCRIPTION("KUnit tests of the counts of free blocks");
MODULE_LICENSE("GPL");
