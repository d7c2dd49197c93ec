// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mixed load: a process on each CPU that takes and gives back pages in
 * every way that a program can, while others keep pages, come and go with memory
 * cgroups, compact, isolate, take memory away, read /proc/pagetypeinfo and have
 * the counts checked. All of them go on until so many pages were allocated and
 * freed, or so many seconds are over.
 *
 *	operations=N	pages allocated and freed (10000000)
 *	movements=N	and this many movements between free lists (0), as the
 *			kernel's own check counts them, if it has one
 *	seconds=N	stop then at the latest (600)
 *	checks=0	do not have the counts checked while the load runs
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "load.h"

#define LARGE_FOLIOS	"/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled"
#define CMA		"/sys/kernel/debug/cma"

/* What a series has the kernel hold against its lists; a kernel has one of them or none. */
static const char *const check_files[] = {
	"/sys/kernel/debug/free_counts/check",
	"/sys/kernel/debug/pageblock_use/check",
};

struct shared *shared;
static int page_cpu;

unsigned long pages_of_memory(bool only_free)
{
	struct sysinfo info;

	sysinfo(&info);
	return (only_free ? info.freeram : info.totalram) * info.mem_unit / PAGE;
}

static void pages(void)
{
	take_pages(page_cpu);
}

/* ---- what goes on beside it ---- */

static void compaction(void)
{
	while (!stopped()) {
		if (put("/proc/sys/vm/compact_memory", "1"))
			bump(&shared->compactions);
		if (!random_below(4))
			put("/proc/sys/vm/drop_caches", "3");
		sleep_ms(100 + random_below(200));
	}
}

/* The first area of contiguous memory, if the kernel has one. */
static bool cma_area(char *path, size_t size)
{
	DIR *areas = opendir(CMA);
	struct dirent *area;
	bool found = false;

	while (areas && !found && (area = readdir(areas))) {
		if (area->d_name[0] == '.')
			continue;
		snprintf(path, size, CMA "/%s", area->d_name);
		found = true;
	}
	if (areas)
		closedir(areas);
	return found;
}

static void contiguous(void)
{
	char area[300], alloc[310], give[310], pages[16];

	if (!cma_area(area, sizeof(area)))
		return;
	snprintf(alloc, sizeof(alloc), "%s/alloc", area);
	snprintf(give, sizeof(give), "%s/free", area);
	while (!stopped()) {
		snprintf(pages, sizeof(pages), "%d", 1 + (int)random_below(2048));
		if (put(alloc, pages))
			bump(&shared->cma);
		else
			bump(&shared->cma_refused);
		sleep_ms(random_below(20));
		if (random_below(2))
			put(give, pages);
		if (!random_below(8))
			put(give, "1000000");
	}
	put(give, "1000000");
}

/* Pageblocks are counted anew each time. A kernel without tidying has nothing to turn on. */
static void tidying(void)
{
	while (!stopped() && put(TIDYING, "1000000")) {
		bump(&shared->starts);
		sleep_ms(1000 + random_below(2000));
		put(TIDYING, "0");
		sleep_ms(random_below(100));
	}
	put(TIDYING, "1000000");
}

/* Each text has its form, and no count that cannot be: one that fell below zero is very large. */
static void reading(void)
{
	unsigned long most = 2 * pages_of_memory(false);
	struct free_lists lists;
	const char *wrong;

	while (!stopped()) {
		wrong = look_at_lists(&lists);
		if (!wrong && lists.longest > most)
			wrong = "it has more blocks than there are pages";
		if (wrong) {
			say("{\"test\":\"text\",\"wrong\":\"%s\"}", wrong);
			bump(&shared->bad_reads);
		}
		for (int i = 0; i < 10 && !stopped(); i++) {
			read_pagetypeinfo();
			bump(&shared->reads);
			sleep_ms(10);
		}
	}
}

/* Has the kernel walk its lists and hold them against its counts. */
static void check(void)
{
	unsigned long checks, differences, movements;
	static char text[TEXT_SIZE];
	char *at;

	if (!slurp(check_files[0], text, sizeof(text)) && !slurp(check_files[1], text, sizeof(text)))
		return;
	if (sscanf(text, "checks %lu differences %lu movements %lu", &checks, &differences,
		   &movements) != 3)
		fail("the kernel's check does not start with its three numbers");
	at = differences > shared->differences ? strchr(text, '\n') : NULL;
	for (; at && at[1]; at = strchr(at + 1, '\n'))
		say("{\"test\":\"difference\",\"line\":\"%.*s\"}",
		    (int)strcspn(at + 1, "\n\"\\"), at + 1);
	shared->checks = checks;
	shared->differences = differences;
	shared->movements = movements;
}

static void checking(void)
{
	while (!stopped()) {
		check();
		sleep_ms(500);
	}
}

/* Pages that were allocated, or freed, since the machine started. */
static unsigned long vmstat(const char *prefix)
{
	static char text[TEXT_SIZE];
	unsigned long pages = 0;
	char *line;

	if (!slurp("/proc/vmstat", text, sizeof(text)))
		fail("there is no /proc/vmstat");
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, prefix, strlen(prefix)))
			pages += strtoul(line + strcspn(line, " "), NULL, 10);
	return pages;
}

struct running {
	pid_t children[MOST_CPUS + 8];
	int count;
};

static void start(struct running *running, void (*role)(void))
{
	pid_t child = fork();
	int i;

	if (child < 0)
		fail("no process for the load: %s", strerror(errno));
	if (child) {
		running->children[running->count++] = child;
		return;
	}
	/* To each its own part of the row. */
	for (i = 0; i < running->count * 10007; i++)
		random_below(2);
	role();
	_exit(0);
}

/* How many of them did not end as they should. */
static int reap(const struct running *running)
{
	int failed = 0, status, i;

	for (i = 0; i < running->count; i++)
		if (waitpid(running->children[i], &status, 0) < 0 || status)
			failed++;
	return failed;
}

static void start_all(struct running *running, bool with_checks)
{
	for (page_cpu = 0; page_cpu < cpus() && page_cpu < MOST_CPUS; page_cpu++)
		start(running, pages);
	start(running, compaction);
	start(running, contiguous);
	start(running, take_memory_away);
	start(running, reading);
	start(running, tidying);
	start(running, keep_pages);
	start(running, be_groups);
	if (with_checks)
		start(running, checking);
}

/* Memory that comes back is freed without ever having been allocated. */
static unsigned long operations_of(unsigned long allocated, unsigned long freed)
{
	return allocated + (freed < allocated ? freed : allocated);
}

/* What the kernel counted meanwhile. */
struct counted {
	unsigned long allocated, freed, huge, tidied, moved;
};

static struct counted counted(void)
{
	return (struct counted) {
		.allocated = vmstat("pgalloc_"),
		.freed = vmstat("pgfree "),
		.huge = vmstat("thp_fault_alloc "),
		.tidied = vmstat("tidy_retyped ") + vmstat("tidy_emptied "),
		.moved = vmstat("tidy_moved "),
	};
}

static void report(struct counted begin, uint64_t ns, int failed)
{
	unsigned long rounds = 0, allocated, freed;
	struct counted now = counted();
	int i;

	allocated = now.allocated - begin.allocated;
	freed = now.freed - begin.freed;
	for (i = 0; i < MOST_CPUS; i++)
		rounds += shared->rounds[i];
	say("{\"load\":{\"operations\":%lu,\"allocated\":%lu,\"freed\":%lu,\"movements\":%lu,"
	    "\"checks\":%lu,\"differences\":%lu,\"compactions\":%lu,\"cma\":%lu,"
	    "\"cma_refused\":%lu,\"offlined\":%lu,\"offline_refused\":%lu,\"uncounted\":%lu,\"reads\":%lu,"
	    "\"bad_reads\":%lu,\"rounds\":%lu,\"huge\":%lu,\"locked\":%lu,\"lent\":%lu,"
	    "\"groups\":%lu,\"groups_refused\":%lu,\"spoiled\":%lu,\"tidied\":%lu,"
	    "\"tidy_moved\":%lu,\"starts\":%lu,\"failed\":%d,\"seconds\":%lu}}",
	    operations_of(allocated, freed), allocated, freed, shared->movements,
	    shared->checks, shared->differences, shared->compactions, shared->cma,
	    shared->cma_refused, shared->offlined, shared->offline_refused, shared->uncounted, shared->reads,
	    shared->bad_reads, rounds, now.huge - begin.huge, shared->locked, shared->lent,
	    shared->groups, shared->groups_refused,
	    shared->kept_spoiled + shared->group_spoiled, now.tidied - begin.tidied,
	    now.moved - begin.moved, shared->starts, failed, (unsigned long)(ns / 1000000000));
}

void do_load(void)
{
	unsigned long operations = option("operations", 10000000);
	unsigned long movements = option("movements", 0);
	uint64_t most_ns = option("seconds", 600) * 1000000000ULL, begin;
	struct running running = { .count = 0 };
	struct counted begin_counts;
	int failed;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || mkdir(ROOM, 0700))
		fail("no room for the load: %s", strerror(errno));
	/* Folios of a size between a page and a huge one, for whoever asks for huge ones. */
	put(LARGE_FOLIOS, "madvise");
	go_uncounted();
	begin_counts = counted();
	begin = now_ns();
	start_all(&running, option("checks", 1));
	do {
		sleep_ms(200);
	} while (now_ns() - begin < most_ns &&
		 (operations_of(vmstat("pgalloc_") - begin_counts.allocated,
				vmstat("pgfree ") - begin_counts.freed) < operations ||
		  shared->movements < movements));
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	failed = reap(&running);
	check();
	report(begin_counts, now_ns() - begin, failed);
}
