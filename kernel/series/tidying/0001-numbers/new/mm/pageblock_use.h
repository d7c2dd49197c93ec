/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MM_PAGEBLOCK_USE_H
#define _MM_PAGEBLOCK_USE_H

#include <linux/jump_label.h>
#include <linux/mmzone.h>
#include <linux/types.h>

/*
 * What the pages of a pageblock are used for. Both numbers are written under
 * zone->lock, and are those of some moment for readers without it.
 */
struct pageblock_use {
	/* pages in free blocks that are smaller than the pageblock */
	u16 free;
	/* pages that have left the free lists for movable requests */
	u16 movable;
};

#ifdef CONFIG_PAGEBLOCK_TIDYING

/* On while pageblocks are counted. */
DECLARE_STATIC_KEY_FALSE(pageblock_use_key);

static inline bool pageblock_use_counted(void)
{
	return static_branch_unlikely(&pageblock_use_key);
}

int pageblock_use_start(void);
void pageblock_use_stop(void);
bool pageblock_use_of(struct zone *zone, unsigned long pfn,
		      struct pageblock_use *use);
struct page *pageblock_online(struct zone *zone, unsigned long pfn);

void __pageblock_use_listed(struct zone *zone, struct page *page, int nr_pages);
void __pageblock_use_taken(struct zone *zone, struct page *page,
			   unsigned int order);
void __pageblock_use_returned(struct zone *zone, unsigned long pfn,
			      unsigned int order);

/* A free block has been put on a list. */
static inline void pageblock_use_listed(struct zone *zone, struct page *page,
					unsigned int order)
{
	if (pageblock_use_counted() && order < pageblock_order)
		__pageblock_use_listed(zone, page, 1 << order);
}

/* A free block has been taken off its list. */
static inline void pageblock_use_unlisted(struct zone *zone, struct page *page,
					  unsigned int order)
{
	if (pageblock_use_counted() && order < pageblock_order)
		__pageblock_use_listed(zone, page, -(1 << order));
}

/* A block has left the free lists for a request. */
static inline void pageblock_use_taken(struct zone *zone, struct page *page,
				       unsigned int order, int migratetype)
{
	if (pageblock_use_counted() && migratetype == MIGRATE_MOVABLE)
		__pageblock_use_taken(zone, page, order);
}

/* A block comes back to the free lists. */
static inline void pageblock_use_returned(struct zone *zone, unsigned long pfn,
					  unsigned int order)
{
	if (pageblock_use_counted())
		__pageblock_use_returned(zone, pfn, order);
}

#else

static inline bool pageblock_use_counted(void)
{
	return false;
}

static inline bool pageblock_use_of(struct zone *zone, unsigned long pfn,
				    struct pageblock_use *use)
{
	return false;
}

static inline void pageblock_use_listed(struct zone *zone, struct page *page,
					unsigned int order)
{
}

static inline void pageblock_use_unlisted(struct zone *zone, struct page *page,
					  unsigned int order)
{
}

static inline void pageblock_use_taken(struct zone *zone, struct page *page,
				       unsigned int order, int migratetype)
{
}

static inline void pageblock_use_returned(struct zone *zone, unsigned long pfn,
					  unsigned int order)
{
}

#endif /* CONFIG_PAGEBLOCK_TIDYING */

#endif /* _MM_PAGEBLOCK_USE_H */
