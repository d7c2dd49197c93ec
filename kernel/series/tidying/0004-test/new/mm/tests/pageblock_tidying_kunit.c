// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of tidying pageblocks.
 */
#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/mm.h>

#include "../internal.h"
#include "../page_alloc.h"
#include "../pageblock_claim.h"
#include "../pageblock_tidying.h"
#include "../pageblock_use_check.h"

#define ALL ((unsigned int)pageblock_nr_pages)

static void chores(struct kunit *test)
{
	const struct {
		int type;
		unsigned int stays, movable;
		enum pageblock_chore chore;
	} cases[] = {
		{ MIGRATE_MOVABLE, ALL - ALL / 8, 0, PAGEBLOCK_TO_UNMOVABLE },
		{ MIGRATE_MOVABLE, ALL - ALL / 8 - 1, 0, PAGEBLOCK_LEAVE },
		{ MIGRATE_MOVABLE, 0, ALL - ALL / 8, PAGEBLOCK_EMPTY },
		{ MIGRATE_MOVABLE, 0, ALL - ALL / 8 + 1, PAGEBLOCK_LEAVE },
		{ MIGRATE_MOVABLE, 1, ALL / 2, PAGEBLOCK_LEAVE },
		{ MIGRATE_MOVABLE, 0, 0, PAGEBLOCK_LEAVE },
		{ MIGRATE_UNMOVABLE, ALL / 8, ALL / 4, PAGEBLOCK_TO_MOVABLE },
		{ MIGRATE_RECLAIMABLE, ALL / 8, ALL / 4, PAGEBLOCK_TO_MOVABLE },
		{ MIGRATE_UNMOVABLE, ALL / 8 + 1, ALL / 4, PAGEBLOCK_LEAVE },
		{ MIGRATE_UNMOVABLE, ALL / 2, ALL / 8, PAGEBLOCK_EMPTY },
		{ MIGRATE_UNMOVABLE, ALL / 2, ALL / 8 + 1, PAGEBLOCK_LEAVE },
		{ MIGRATE_UNMOVABLE, ALL / 2, 0, PAGEBLOCK_LEAVE },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, cases[i].chore,
				    pageblock_chore(cases[i].type, cases[i].stays,
						    cases[i].movable),
				    "case %d", i);
}

static void claims(struct kunit *test)
{
	const struct {
		struct pageblock_use use;
		int start, block;
		bool suits;
	} cases[] = {
		/* half of it is free or alike */
		{ { ALL / 2, 0 }, MIGRATE_MOVABLE, MIGRATE_UNMOVABLE, true },
		{ { ALL / 2 - 1, 1 }, MIGRATE_MOVABLE, MIGRATE_UNMOVABLE, true },
		{ { ALL / 2 - 1, 0 }, MIGRATE_MOVABLE, MIGRATE_UNMOVABLE, false },
		{ { ALL / 4, ALL / 2 }, MIGRATE_UNMOVABLE, MIGRATE_MOVABLE, true },
		/* an eighth is free, and something in it stays */
		{ { ALL / 8, ALL - ALL / 8 - 1 }, MIGRATE_UNMOVABLE, MIGRATE_MOVABLE, true },
		{ { ALL / 8 - 1, ALL - ALL / 8 }, MIGRATE_UNMOVABLE, MIGRATE_MOVABLE, false },
		{ { ALL / 8, ALL - ALL / 8 }, MIGRATE_UNMOVABLE, MIGRATE_MOVABLE, false },
		{ { ALL / 8, ALL / 8 }, MIGRATE_MOVABLE, MIGRATE_UNMOVABLE, false },
		/* unmovable and reclaimable pages cannot be told apart */
		{ { ALL / 4, 0 }, MIGRATE_UNMOVABLE, MIGRATE_RECLAIMABLE, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, cases[i].suits,
				    pageblock_suits(&cases[i].use, cases[i].start,
						    cases[i].block),
				    "case %d", i);
}

/* Counts the zones' pageblocks whose numbers are wrong. */
static unsigned long differences(void)
{
	unsigned long wrong = 0;
	struct zone *zone;

	for_each_populated_zone(zone)
		wrong += pageblock_use_differences(zone);
	return wrong;
}

static void numbers(struct kunit *test)
{
	static const gfp_t flags[] = {
		GFP_KERNEL, GFP_HIGHUSER_MOVABLE, GFP_KERNEL | __GFP_RECLAIMABLE,
	};
	struct page *pages[64] = {};
	unsigned int orders[64];
	unsigned int i, at;
	u32 seed = 1;

	KUNIT_EXPECT_EQ(test, 0, differences());
	for (i = 0; i < 20000; i++) {
		seed = seed * 1664525 + 1013904223;
		at = (seed >> 16) % ARRAY_SIZE(pages);
		if (pages[at]) {
			__free_pages(pages[at], orders[at]);
			pages[at] = NULL;
			continue;
		}
		orders[at] = (seed >> 24) % (pageblock_order + 1);
		pages[at] = alloc_pages((flags[(seed >> 8) % 3] & ~__GFP_DIRECT_RECLAIM) |
					__GFP_NOWARN, orders[at]);
	}
	KUNIT_EXPECT_EQ(test, 0, differences());
	for (at = 0; at < ARRAY_SIZE(pages); at++)
		if (pages[at])
			__free_pages(pages[at], orders[at]);
	drain_all_pages(NULL);
	KUNIT_EXPECT_EQ(test, 0, differences());
}

static void wrong_numbers_are_seen(struct kunit *test)
{
	struct zone *zone;

	for_each_populated_zone(zone) {
		pageblock_use_spoil(zone);
		KUNIT_EXPECT_EQ(test, 1, pageblock_use_differences(zone));
		pageblock_use_spoil(zone);
		KUNIT_EXPECT_EQ(test, 0, pageblock_use_differences(zone));
	}
}

static int counting(struct kunit_suite *suite)
{
	return pageblock_use_start();
}

static void counted(struct kunit_suite *suite)
{
	pageblock_use_stop();
}

static struct kunit_case tidying_cases[] = {
	KUNIT_CASE(chores),
	KUNIT_CASE(claims),
	KUNIT_CASE(numbers),
	KUNIT_CASE(wrong_numbers_are_seen),
	{}
};

static struct kunit_suite tidying_suite = {
	.name = "pageblock_tidying",
	.suite_init = counting,
	.suite_exit = counted,
	.test_cases = tidying_cases,
};

kunit_test_suite(tidying_suite);

MODULE_LICENSE("GPL");
