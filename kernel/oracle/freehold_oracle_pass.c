// SPDX-License-Identifier: GPL-2.0-only
/*
 * One pass of tidying over a zone, as kcompactd makes it.
 *
 * This file is included at the end of mm/pageblock_tidying.c, which the series
 * "tidying" adds.
 */

void freehold_tidy_zone(struct zone *zone, u32 pages);

/* Tidies until it has tried to move so many pages; time does not count. */
void freehold_tidy_zone(struct zone *zone, u32 pages)
{
	struct tidy_budget budget = { .left_ns = S64_MAX / 2, .left_pages = pages };

	tidy_zone(zone, &budget);
}
