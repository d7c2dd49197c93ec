// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tidying pageblocks: each comes to hold pages of one kind, and those that
 * hold few pages become free.
 */
#include <linux/cleanup.h>
#include <linux/compaction.h>
#include <linux/jump_label.h>
#include <linux/math64.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/cputime.h>
#include <linux/sysctl.h>
#include <linux/vmstat.h>

#include "internal.h"
#include "page_alloc.h"
#include "pageblock_claim.h"
#include "pageblock_tidying.h"

/* Few pages are at most one in so many of a pageblock. */
#define FEW 8

/* The most pages that kcompactd moves for this a second and node; 0 is off. */
static unsigned int sysctl_tidying_pages;

/* The most milliseconds of a second that it takes for it. */
static unsigned int sysctl_tidying_ms = 50;

/* What kcompactd of a node may still do; what a second brings is the most. */
struct tidy_budget {
	u64 earned_to_ns;
	s64 left_ns;
	s64 left_pages;
	/* time that has not yet made a whole millisecond of the statistics */
	u64 told_ns;
};

static struct tidy_budget tidy_budgets[MAX_NUMNODES];

/* The pageblock at which tidying goes on, from the start of the zone. */
static unsigned long tidied_to[MAX_NUMNODES][MAX_NR_ZONES];

bool pageblock_tidying_is_on(void)
{
	return READ_ONCE(sysctl_tidying_pages) && pageblock_use_counted();
}

/**
 * pageblock_chore() - tell what should be done about a pageblock
 * @type: its migratetype
 * @stays: pages in it that cannot be moved
 * @movable: pages in it that can
 *
 * Return: what should be done.
 */
enum pageblock_chore pageblock_chore(int type, unsigned int stays,
				     unsigned int movable)
{
	const unsigned int few = max(pageblock_nr_pages / FEW, 1UL);

	if (type != MIGRATE_MOVABLE) {
		if (stays <= few && movable >= pageblock_nr_pages / 4)
			return PAGEBLOCK_TO_MOVABLE;
		if (movable && movable <= few)
			return PAGEBLOCK_EMPTY;
		return PAGEBLOCK_LEAVE;
	}
	if (stays >= pageblock_nr_pages - few)
		return PAGEBLOCK_TO_UNMOVABLE;
	if (!stays && movable && pageblock_nr_pages - movable >= few)
		return PAGEBLOCK_EMPTY;
	return PAGEBLOCK_LEAVE;
}

/**
 * pageblock_is_one_block() - tell whether a pageblock is in one block or is one
 * @page: its first page, whose zone's lock the caller holds
 * @pfn: the number of that page
 *
 * Return: true if it is, whether the block is free or in use.
 */
bool pageblock_is_one_block(struct page *page, unsigned long pfn)
{
	unsigned int order;

	if (PageCompound(page) &&
	    compound_order(compound_head(page)) >= pageblock_order)
		return true;
	for (order = pageblock_order; order <= MAX_PAGE_ORDER; order++) {
		struct page *head = page - (pfn & ((1UL << order) - 1));

		if (PageBuddy(head) && buddy_order(head) >= order)
			return true;
	}
	return false;
}

/* What is seen of a pageblock. */
struct pageblock_look {
	int type;
	/* pages that stay, that can be moved, and that are on CPUs' lists */
	unsigned int stays, movable, listed;
};

/* Looks at the pages of a pageblock. The caller holds the zone lock. */
static void look_at_pages(struct page *page, struct pageblock_look *look)
{
	struct page *end = page + pageblock_nr_pages;

	look->stays = 0;
	while (page < end) {
		if (PageBuddy(page)) {
			page += 1UL << buddy_order(page);
			continue;
		}
		if (PageLRU(page) || page_has_movable_ops(page))
			look->movable++;
		else if (!page_count(page) && !PageCompound(page) &&
			 !PageSlab(page))
			look->listed++;
		else
			look->stays++;
		page++;
	}
}

/*
 * Looks at a pageblock and tells what should be done about it. Its pages are
 * looked at only if its numbers promise something.
 */
static enum pageblock_chore chore_at(struct zone *zone, unsigned long pfn,
				     struct pageblock_look *look)
{
	struct pageblock_use use;
	struct page *page;

	*look = (struct pageblock_look){};
	guard(spinlock_irqsave)(&zone->lock);
	page = pageblock_online(zone, pfn);
	if (!page)
		return PAGEBLOCK_LEAVE;
	look->type = get_pageblock_migratetype(page);
	if (look->type != MIGRATE_UNMOVABLE &&
	    look->type != MIGRATE_RECLAIMABLE && look->type != MIGRATE_MOVABLE)
		return PAGEBLOCK_LEAVE;
	if (pageblock_is_one_block(page, pfn) || !pageblock_use_of(zone, pfn, &use))
		return PAGEBLOCK_LEAVE;
	look->stays = pageblock_nr_pages -
		min_t(unsigned int, use.free + use.movable, pageblock_nr_pages);
	if (pageblock_chore(look->type, look->stays, use.movable) ==
	    PAGEBLOCK_LEAVE)
		return PAGEBLOCK_LEAVE;
	look_at_pages(page, look);
	return pageblock_chore(look->type, look->stays, look->movable);
}

/* A pageblock that is being emptied. */
struct tidy_control {
	struct zone *zone;
	unsigned long pfn;
	bool is_movable;
};

static struct folio *tidy_alloc_noprof(struct folio *src, unsigned long data)
{
	struct tidy_control *control = (struct tidy_control *)data;
	unsigned int free_below = pageblock_nr_pages + 1;
	unsigned int order = folio_order(src);
	struct pageblock_use use;
	struct page *page;

	if (control->is_movable) {
		if (!pageblock_use_of(control->zone, control->pfn, &use))
			return NULL;
		free_below = use.free;
	}
	page = take_fuller_page(control->zone, order, free_below);
	if (!page)
		return NULL;
	post_alloc_hook(page, order, __GFP_MOVABLE, ALLOC_DEFAULT);
	set_page_refcounted(page);
	if (order)
		prep_compound_page(page, order);
	return page_rmappable_folio(page);
}

static struct folio *tidy_alloc(struct folio *src, unsigned long data)
{
	return alloc_hooks(tidy_alloc_noprof(src, data));
}

static void tidy_free(struct folio *dst, unsigned long data)
{
	folio_put(dst);
}

/*
 * Moves the movable pages of a pageblock to others, if all of them can be had:
 * a single one that stays keeps the pageblock as it is. Returns how many pages
 * it tried to move.
 */
static unsigned int empty(struct zone *zone, unsigned long pfn, int type,
			  unsigned int movable)
{
	struct compact_control cc = {
		.zone = zone,
		.order = -1,
		.gfp_mask = GFP_KERNEL,
		.mode = MIGRATE_ASYNC,
		.ignore_skip_hint = true,
		.no_set_skip_hint = true,
		.finish_pageblock = true,
	};
	struct tidy_control control = {
		.zone = zone,
		.pfn = pfn,
		.is_movable = type == MIGRATE_MOVABLE,
	};
	unsigned int moved = 0;

	INIT_LIST_HEAD(&cc.migratepages);
	isolate_to_tidy(&cc, pfn, pfn + pageblock_nr_pages);
	if (cc.nr_migratepages < movable) {
		count_vm_events(TIDY_FAILED, movable - cc.nr_migratepages);
		putback_movable_pages(&cc.migratepages);
		return 0;
	}
	count_vm_event(TIDY_EMPTIED);
	if (migrate_pages(&cc.migratepages, tidy_alloc, tidy_free,
			  (unsigned long)&control, cc.mode, MR_COMPACTION,
			  &moved))
		putback_movable_pages(&cc.migratepages);
	count_vm_events(TIDY_MOVED, moved);
	count_vm_events(TIDY_FAILED,
			cc.nr_migratepages - min(moved, cc.nr_migratepages));
	return cc.nr_migratepages;
}

/* Does what should be done; returns how many pages it tried to move. */
static unsigned int tidy_pageblock(struct zone *zone, unsigned long pfn,
				   bool *drained)
{
	struct pageblock_look look;
	enum pageblock_chore chore = chore_at(zone, pfn, &look);

	if (chore == PAGEBLOCK_EMPTY && look.type == MIGRATE_MOVABLE &&
	    look.listed) {
		if (*drained)
			return 0;
		drain_all_pages(zone);
		*drained = true;
		chore = chore_at(zone, pfn, &look);
		if (chore == PAGEBLOCK_EMPTY && look.listed)
			return 0;
	}
	switch (chore) {
	case PAGEBLOCK_TO_MOVABLE:
		if (retype_pageblock(zone, pfn, look.type, MIGRATE_MOVABLE))
			count_vm_event(TIDY_RETYPED);
		return 0;
	case PAGEBLOCK_TO_UNMOVABLE:
		if (retype_pageblock(zone, pfn, look.type, MIGRATE_UNMOVABLE))
			count_vm_event(TIDY_RETYPED);
		return 0;
	case PAGEBLOCK_EMPTY:
		return empty(zone, pfn, look.type, look.movable);
	case PAGEBLOCK_LEAVE:
		break;
	}
	return 0;
}

/* Adds what the time since the last call has brought. */
static void earn(struct tidy_budget *budget, u64 now_ns)
{
	u64 since = min(now_ns - budget->earned_to_ns, (u64)NSEC_PER_SEC);
	u64 most_pages = READ_ONCE(sysctl_tidying_pages);
	u64 most_ms = READ_ONCE(sysctl_tidying_ms);
	s64 more_pages = div_u64(since * most_pages, NSEC_PER_SEC);
	s64 more_ns = div_u64(since * most_ms, MSEC_PER_SEC);

	budget->earned_to_ns = now_ns;
	budget->left_ns = min(budget->left_ns + more_ns,
			      (s64)(most_ms * NSEC_PER_MSEC));
	budget->left_pages = min(budget->left_pages + more_pages,
				 (s64)most_pages);
}

/*
 * Tidies a zone from where it stopped, until the budget or the zone ends.
 * Pageblocks that reach beyond the zone are left alone: not all of their
 * pages are the zone's to look at.
 */
static void tidy_zone(struct zone *zone, struct tidy_budget *budget)
{
	unsigned long start = pageblock_align(zone->zone_start_pfn);
	unsigned long end = pageblock_start_pfn(zone_end_pfn(zone));
	unsigned long blocks =
		end > start ? (end - start) >> pageblock_order : 0;
	unsigned long *to = &tidied_to[zone_to_nid(zone)][zone_idx(zone)];
	unsigned long passed;
	bool drained = false;
	unsigned int tried = 0;

	for (passed = 0; passed < blocks; passed++) {
		u64 before = task_sched_runtime(current);
		unsigned int pages;

		if (budget->left_ns <= 0 || budget->left_pages <= 0)
			break;
		*to = *to < blocks ? *to : 0;
		pages = tidy_pageblock(zone, start + (*to << pageblock_order),
				       &drained);
		(*to)++;
		tried += pages;
		budget->left_pages -= pages;
		before = task_sched_runtime(current) - before;
		budget->left_ns -= before;
		budget->told_ns += before;
		cond_resched();
	}
	/* what has moved left its place to this CPU's lists, where nothing merges */
	if (tried)
		lru_add_drain_cpu_zone(zone);
}

/**
 * tidy_pageblocks() - tidy a node's pageblocks as far as the budget reaches
 * @pgdat: the node, whose kcompactd calls
 */
void tidy_pageblocks(pg_data_t *pgdat)
{
	struct tidy_budget *budget = &tidy_budgets[pgdat->node_id];
	u64 ms;
	int zid;

	earn(budget, ktime_get_ns());
	for (zid = 0; zid < MAX_NR_ZONES; zid++) {
		struct zone *zone = &pgdat->node_zones[zid];

		if (populated_zone(zone))
			tidy_zone(zone, budget);
	}
	ms = div_u64(budget->told_ns, NSEC_PER_MSEC);
	count_vm_events(TIDY_MS, ms);
	budget->told_ns -= ms * NSEC_PER_MSEC;
}

/* Held while tidying is turned on or off. */
static DEFINE_MUTEX(tidying_mutex);

static int tidying_pages_handler(const struct ctl_table *table, int write,
				 void *buffer, size_t *length, loff_t *ppos)
{
	int err, nid;

	guard(mutex)(&tidying_mutex);
	err = proc_douintvec(table, write, buffer, length, ppos);
	if (err || !write)
		return err;
	if (!READ_ONCE(sysctl_tidying_pages)) {
		pageblock_use_stop();
		return 0;
	}
	err = pageblock_use_start();
	if (err)
		return err;
	for_each_node_state(nid, N_MEMORY)
		wake_up_interruptible(&NODE_DATA(nid)->kcompactd_wait);
	return 0;
}

static const struct ctl_table vm_tidying[] = {
	{
		.procname	= "pageblock_tidying_pages",
		.data		= &sysctl_tidying_pages,
		.maxlen		= sizeof(sysctl_tidying_pages),
		.mode		= 0644,
		.proc_handler	= tidying_pages_handler,
	},
	{
		.procname	= "pageblock_tidying_ms",
		.data		= &sysctl_tidying_ms,
		.maxlen		= sizeof(sysctl_tidying_ms),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE_THOUSAND,
	},
};

static int __init tidying_init(void)
{
	register_sysctl_init("vm", vm_tidying);
	return 0;
}
subsys_initcall(tidying_init)
