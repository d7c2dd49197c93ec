// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that goes and comes back, of the mixed load.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "load.h"

#define BLOCKS		"/sys/devices/system/memory"
#define MOST_NODES	8
#define MOST_BLOCKS	1024

/* Memory blocks of ZONE_MOVABLE that may go. */
static long blocks[MOST_BLOCKS];

static bool is_movable(long block)
{
	char path[64], zones[64];

	snprintf(path, sizeof(path), BLOCKS "/memory%ld/valid_zones", block);
	return slurp(path, zones, sizeof(zones)) && !strncmp(zones, "Movable", 7);
}

static int node_of(long block)
{
	char path[64];
	int node;

	for (node = 0; node < MOST_NODES; node++) {
		snprintf(path, sizeof(path), BLOCKS "/memory%ld/node%d", block, node);
		if (!access(path, F_OK))
			return node;
	}
	return -1;
}

/*
 * Without the first and the last block of a zone: what the zone spans changes
 * with these, in two steps, and the kernel's own assertion on the way of a page
 * from its list looks between the two (CONFIG_DEBUG_VM, seen in 7.3).
 */
static bool is_inner(long block)
{
	return is_movable(block) && is_movable(block - 1) && is_movable(block + 1) &&
	       node_of(block) == node_of(block - 1) && node_of(block) == node_of(block + 1);
}

static unsigned int find_blocks(void)
{
	DIR *folder = opendir(BLOCKS);
	unsigned int count = 0;
	struct dirent *entry;
	long block;

	while (folder && count < MOST_BLOCKS && (entry = readdir(folder)))
		if (sscanf(entry->d_name, "memory%ld", &block) == 1 && is_inner(block))
			blocks[count++] = block;
	if (folder)
		closedir(folder);
	return count;
}

static bool take_away(long block)
{
	char path[64];

	snprintf(path, sizeof(path), BLOCKS "/memory%ld/state", block);
	return put(path, "offline");
}

static void bring_back(long block)
{
	char path[64];

	snprintf(path, sizeof(path), BLOCKS "/memory%ld/state", block);
	put(path, "online_movable");
}

void take_memory_away(void)
{
	unsigned int count = find_blocks();

	while (count && !stopped()) {
		long block = blocks[random_below(count)];

		bump(take_away(block) ? &shared->offlined : &shared->offline_refused);
		sleep_ms(random_below(100));
		bring_back(block);
		sleep_ms(100 + random_below(300));
	}
}

void go_uncounted(void)
{
	unsigned long bytes = pages_of_memory(true) / 3 * 2 * PAGE, at;
	unsigned int count = find_blocks(), i;
	char *area;

	if (access(TIDYING, W_OK))
		return;
	area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		fail("no memory to be counted");
	madvise(area, bytes, MADV_NOHUGEPAGE);
	for (at = 0; at < bytes; at += PAGE)
		*(volatile char *)(area + at) = 1;
	for (at = 0; at < bytes; at += 2 * PAGE)
		madvise(area + at, PAGE, MADV_DONTNEED);
	if (!put(TIDYING, "1000000") || !put(TIDYING, "0"))
		fail("pageblocks are not counted");
	munmap(area, bytes);
	for (i = 0; i < count; i++)
		if (take_away(blocks[i]))
			bump(&shared->uncounted);
	if (!put(TIDYING, "1000000"))
		fail("pageblocks are not counted anew");
	for (i = 0; i < count; i++)
		bring_back(blocks[i]);
}
