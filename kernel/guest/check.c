// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mixed load on all CPUs, and what the kernel's own check of its counts says.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define OTHERS		2

/* What a series has the kernel hold against its lists; a kernel has one of them or none. */
static const char *const check_files[] = {
	"/sys/kernel/debug/free_counts/check",
	"/sys/kernel/debug/pageblock_use/check",
};

bool slurp_check(char *text, size_t size, unsigned long *checks, unsigned long *differences,
		 unsigned long *movements)
{
	if (!slurp(check_files[0], text, size) && !slurp(check_files[1], text, size))
		return false;
	if (sscanf(text, "checks %lu differences %lu movements %lu", checks, differences,
		   movements) != 3)
		fail("the kernel's check does not start with its three numbers");
	return true;
}

static pid_t start(void (*work)(long), long which)
{
	pid_t child = fork();

	if (child < 0)
		fail("no process for the load: %s", strerror(errno));
	if (child)
		return child;
	work(which);
	_exit(0);
}

static void load(long cpu)
{
	long operations = option("operations", 2000000) / cpus();

	say("{\"test\":\"load\",\"cpu\":%ld,%s}", cpu,
	    ask("load cpu=%ld n=%ld seed=%ld contig=%ld", cpu, operations, cpu + 1,
		option("contig", 20000)));
}

static void beside(long which)
{
	char folder[32];

	snprintf(folder, sizeof(folder), "/tmp/load-%ld", which);
	for (;;) {
		churn_files(folder, option("files_mb", 32), 1);
		put("/proc/sys/vm/compact_memory", "1");
		read_pagetypeinfo();
	}
}

/* The first line; what comes after it tells of differences. */
static void say_check(void)
{
	unsigned long checks, differences, movements;
	static char text[TEXT_SIZE];
	char *at;
	int lines = 0;

	if (!slurp_check(text, sizeof(text), &checks, &differences, &movements)) {
		say("{\"test\":\"check\",\"present\":false}");
		return;
	}
	say("{\"test\":\"check\",\"present\":true,\"checks\":%lu,\"differences\":%lu,"
	    "\"movements\":%lu}", checks, differences, movements);
	for (at = strchr(text, '\n'); at && at[1] && lines++ < 20; at = strchr(at + 1, '\n'))
		say("{\"test\":\"difference\",\"line\":\"%.*s\"}",
		    (int)strcspn(at + 1, "\n\"\\"), at + 1);
}

void do_check(void)
{
	struct free_lists lists;
	pid_t others[OTHERS];
	const char *wrong;
	int i, status;

	for (i = 0; i < OTHERS; i++)
		others[i] = start(beside, i);
	for (i = 0; i < cpus(); i++)
		start(load, i);
	for (i = 0; i < cpus(); i++)
		if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
			fail("a part of the load failed");
	say_check();
	for (i = 0; i < OTHERS; i++)
		kill(others[i], SIGKILL);
	for (i = 0; i < OTHERS; i++)
		waitpid(others[i], NULL, 0);
	/* Once more when nothing moves. */
	settle();
	wrong = look_at_lists(&lists);
	say("{\"test\":\"text\",\"parses\":%s,\"agrees\":%s,\"wrong\":\"%s\"}",
	    wrong ? "false" : "true", lists.agrees ? "true" : "false", wrong ? wrong : "");
	say_check();
}
