// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of the mixed load that stay for a while: locked in memory, lent to a
 * pipe, and of memory cgroups that come and go. Whoever moves them has to keep
 * what is in them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "load.h"

#define AREAS		32
#define AREA_PAGES	256
#define LENT_PAGES	8
#define GROUPS		"/tmp/groups"
#define UNEVICTABLE	"/proc/sys/vm/compact_unevictable_allowed"

/* Pages of which each has a mark of its own. */
struct area {
	char *at;
	unsigned long pages;
	uint64_t mark;
	int pipe[2];		/* that some of the pages are lent to, or -1 */
};

static uint64_t *mark_at(const struct area *area, unsigned long page)
{
	return (uint64_t *)(area->at + page * PAGE + page % 8 * sizeof(uint64_t));
}

static bool make(struct area *area, unsigned long most)
{
	area->pages = 1 + random_below(most);
	area->mark = random_below(1ULL << 32) << 16;
	area->pipe[0] = area->pipe[1] = -1;
	area->at = mmap(NULL, area->pages * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area->at == MAP_FAILED)
		area->at = NULL;
	for (unsigned long page = 0; area->at && page < area->pages; page++)
		*mark_at(area, page) = area->mark + page;
	return area->at;
}

/* The pages whose marks are not what they were. */
static unsigned long spoiled(const struct area *area)
{
	unsigned long page, wrong = 0;

	for (page = 0; page < area->pages; page++)
		wrong += *mark_at(area, page) != area->mark + page;
	return wrong;
}

/* A pipe has references to pages until it is read: nobody can move them. */
static void lend(struct area *area)
{
	unsigned long pages = area->pages < LENT_PAGES ? area->pages : LENT_PAGES;
	struct iovec part = { area->at, pages * PAGE };

	if (pipe2(area->pipe, O_NONBLOCK | O_CLOEXEC))
		area->pipe[0] = area->pipe[1] = -1;
	else if (vmsplice(area->pipe[1], &part, 1, SPLICE_F_NONBLOCK) > 0)
		bump(&shared->lent);
}

static void drop(struct area *area)
{
	if (!area->at)
		return;
	if (spoiled(area))
		bump(&shared->kept_spoiled);
	if (area->pipe[0] >= 0) {
		close(area->pipe[0]);
		close(area->pipe[1]);
	}
	munmap(area->at, area->pages * PAGE);
	area->at = NULL;
}

/* Now and then nobody but who takes memory away may move locked pages. */
void keep_pages(void)
{
	static struct area areas[AREAS];
	struct area *area;

	while (!stopped()) {
		area = &areas[random_below(AREAS)];
		if (area->at)
			drop(area);
		else if (make(area, AREA_PAGES) && !random_below(4))
			lend(area);
		else if (area->at && !mlock(area->at, area->pages * PAGE))
			bump(&shared->locked);
		if (!random_below(64))
			put(UNEVICTABLE, random_below(2) ? "1" : "0");
		sleep_ms(random_below(20));
	}
	for (area = areas; area < areas + AREAS; area++)
		drop(area);
	put(UNEVICTABLE, "1");
}

/* What a process of a group has: memory of its own, and a file that outlives it. */
static void be_member(const char *group, const char *file_path)
{
	static char bytes[16 * PAGE];
	struct area area;
	char path[96];
	int file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	if (!put(path, "0"))
		_exit(2);
	file = open(file_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (unsigned long part = random_below(32); file >= 0 && part; part--)
		if (write(file, bytes, sizeof(bytes)) < 0)
			break;
	if (!make(&area, 4 * AREA_PAGES))
		_exit(0);
	sleep_ms(random_below(200));
	_exit(spoiled(&area) ? 1 : 0);
}

static void use_group(const char *group, const char *file_path)
{
	pid_t child = fork();
	int status;

	if (!child)
		be_member(group, file_path);
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == 2)
		bump(&shared->groups_refused);
	else if (WEXITSTATUS(status))
		bump(&shared->group_spoiled);
	else
		bump(&shared->groups);
}

/* A kernel without memory cgroups has none of this. */
void be_groups(void)
{
	char group[64], file[64], old_file[64] = "";

	mkdir(GROUPS, 0700);
	if (mount("cgroup2", GROUPS, "cgroup2", 0, NULL) ||
	    !put(GROUPS "/cgroup.subtree_control", "+memory"))
		return;
	for (unsigned long number = 0; !stopped(); number++) {
		snprintf(group, sizeof(group), GROUPS "/%lu", number);
		snprintf(file, sizeof(file), ROOM "/group-%lu", number);
		mkdir(group, 0700);
		use_group(group, file);
		/* Half of the files go before their group does, the others some time after it. */
		if (random_below(2))
			unlink(file);
		rmdir(group);
		if (*old_file)
			unlink(old_file);
		memcpy(old_file, file, sizeof(file));
	}
}
