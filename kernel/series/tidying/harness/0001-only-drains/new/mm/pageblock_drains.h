/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MM_PAGEBLOCK_DRAINS_H
#define _MM_PAGEBLOCK_DRAINS_H

#include <linux/mmzone.h>

/* Returns true if kcompactd drains in place of tidying. */
bool pageblock_only_drains(void);

/* Empties all CPUs' lists of a zone, and counts that. */
void pageblock_drain(struct zone *zone);

/* Empties the lists of a node's zones, if it is time. */
void pageblock_drain_node(pg_data_t *pgdat);

#endif /* _MM_PAGEBLOCK_DRAINS_H */
