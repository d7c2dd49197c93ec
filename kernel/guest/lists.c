// SPDX-License-Identifier: GPL-2.0-only
/*
 * Free lists as they are after a boot, after a mixed load, and at their worst.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "guest.h"

#define PAGE		4096L
#define CHUNK		(64 * PAGE)
#define FILES		32
/* /proc/pagetypeinfo visits 100 000 blocks of a list; some of these will merge. */
#define LONG_LIST	120000L

const char *const state_names[STATES] = { "fresh", "fragmented", "shuffled" };

static long free_pages(void)
{
	struct sysinfo info;

	sysinfo(&info);
	return info.freeram * info.mem_unit / PAGE;
}

static int open_file(const char *folder, int i)
{
	char path[128];
	int file;

	snprintf(path, sizeof(path), "%s/%d", folder, i);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0)
		fail("cannot make %s: %s", path, strerror(errno));
	return file;
}

static void punch(int file, off_t at)
{
	if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, PAGE))
		fail("cannot punch a hole: %s", strerror(errno));
}

/* Files that grow side by side; then every other page of each goes, at random. */
static void churn_files(const char *folder, long mib)
{
	static char chunk[CHUNK];
	long chunks = mib * 1024 * 1024 / CHUNK / FILES, i, page;
	int files[FILES], file;

	mkdir(folder, 0700);
	memset(chunk, 1, sizeof(chunk));
	for (file = 0; file < FILES; file++)
		files[file] = open_file(folder, file);
	for (i = 0; i < chunks * FILES; i++)
		if (pwrite(files[i % FILES], chunk, CHUNK, i / FILES * CHUNK) != CHUNK)
			fail("cannot write to %s: %s", folder, strerror(errno));
	for (page = 0; page < chunks * (CHUNK / PAGE); page++)
		for (file = 0; file < FILES; file++)
			if (random_below(2))
				punch(files[file], page * PAGE);
	for (file = 0; file < FILES; file++)
		close(files[file]);
}

static void fragment(void)
{
	churn_files("/tmp/fragments", option("fragment_mb", free_pages() / 256 / 8));
}

/*
 * In ascending orders, for an order's blocks come from the larger ones. Single
 * pages of each type first; half of what is left goes to the next orders.
 */
static void shuffle(void)
{
	static const char *const types[] = { "unmovable", "reclaimable", "movable" };
	long budget = free_pages() / 5 * 4, seed = 1, blocks = budget / 6, order, type;

	if (blocks > LONG_LIST)
		blocks = LONG_LIST;
	budget -= blocks * 6;
	for (order = 0; order < 4; order++) {
		for (type = 0; type < 3; type++)
			ask("shuffle order=%ld type=%s blocks=%ld seed=%ld", order, types[type],
			    blocks, seed++);
		blocks = budget / 3 / 3 / (2L << (order + 1));
	}
}

/* Blocks that are on their way to the free lists get there. */
void settle(void)
{
	sleep_ms(200);
	ask("settle");
}

void bring_into(enum state state)
{
	if (state == FRAGMENTED)
		fragment();
	else if (state == SHUFFLED)
		shuffle();
	settle();
}
