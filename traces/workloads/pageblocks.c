// SPDX-License-Identifier: GPL-2.0-only
//
// Says how a machine's pageblocks of 512 pages are, as members of a JSON object, each after a comma.
//
//   pageblocks watch    looks at /proc/buddyinfo every 100 ms from SIGUSR1 on; at SIGTERM prints how many were free in the
//                       mean, and how often it looked
//   pageblocks mixed    prints how many hold both pages that move and pages that stay
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ORDER 9
#define PAGES (1UL << ORDER)
#define STEP_NS 100000000L

// Flags of /proc/kpageflags: Documentation/admin-guide/mm/pagemap.rst.
enum { ON_LRU = 1 << 5, FREE = 1 << 10, NO_PAGE = 1 << 20 };

static volatile sig_atomic_t is_begun, is_over;

static void begin(int number)
{
	(void)number;
	is_begun = 1;
}

static void end(int number)
{
	(void)number;
	is_over = 1;
}

static int opened(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0) {
		perror(path);
		exit(1);
	}
	return file;
}

// Free pageblocks in a line of /proc/buddyinfo: `Node 0, zone Normal`, then how many blocks of each order are free.
static unsigned long free_in(char *line)
{
	unsigned long sum = 0;
	int order = 0, at = 0;

	if (sscanf(line, "Node %*d, zone %*s%n", &at) < 0 || !at)
		return 0;
	for (line += at; *(line += strspn(line, " ")); order++) {
		unsigned long blocks = strtoul(line, &line, 10);

		// A block of a larger order is several pageblocks.
		if (order >= ORDER)
			sum += blocks << (order - ORDER);
	}
	return sum;
}

static unsigned long free_pageblocks(int file)
{
	static char text[8192];
	ssize_t size = pread(file, text, sizeof text - 1, 0);
	unsigned long sum = 0;
	char *line, *rest;

	text[size > 0 ? size : 0] = 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		sum += free_in(line);
	return sum;
}

static void watch(void)
{
	const struct timespec step = { 0, STEP_NS };
	int file = opened("/proc/buddyinfo");
	unsigned long sum = 0, looks = 0;

	signal(SIGUSR1, begin);
	signal(SIGTERM, end);
	// Nothing of it is to be fetched from a disk, or to be reclaimed, while it looks.
	mlockall(MCL_CURRENT);
	while (!is_begun && !is_over)
		nanosleep(&step, NULL);
	while (!is_over) {
		sum += free_pageblocks(file);
		looks++;
		nanosleep(&step, NULL);
	}
	printf(",\"mean_pageblocks\":%.3f,\"looks\":%lu", looks ? (double)sum / looks : 0.0, looks);
}

// Pageblocks with pages that move and pages that stay. What is on CPUs' lists looks as if it stayed.
static unsigned long mixed_pageblocks(void)
{
	static uint64_t flags[PAGES];
	int file = opened("/proc/kpageflags");
	unsigned long mixed = 0, at;
	ssize_t size;

	while ((size = read(file, flags, sizeof flags)) > 0) {
		unsigned long moves = 0, stays = 0;

		for (at = 0; at < size / sizeof *flags; at++) {
			if (flags[at] & ON_LRU)
				moves++;
			else if (!(flags[at] & (FREE | NO_PAGE)))
				stays++;
		}
		mixed += moves && stays;
	}
	close(file);
	return mixed;
}

int main(int count, char **words)
{
	const char *what = count == 2 ? words[1] : "";

	if (!strcmp(what, "watch")) {
		watch();
	} else if (!strcmp(what, "mixed")) {
		printf(",\"mixed\":%lu", mixed_pageblocks());
	} else {
		fputs("pageblocks watch|mixed\n", stderr);
		return 2;
	}
	return 0;
}
