/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MM_PAGEBLOCK_USE_CHECK_H
#define _MM_PAGEBLOCK_USE_CHECK_H

#include <linux/mmzone.h>

/* For tests of the numbers that pageblocks keep. */
unsigned long pageblock_use_differences(struct zone *zone);
void pageblock_use_spoil(struct zone *zone);

#endif /* _MM_PAGEBLOCK_USE_CHECK_H */
