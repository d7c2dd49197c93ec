// SPDX-License-Identifier: GPL-2.0-only
//
// Processes that hold much memory end one after the other on one CPU, while another CPU, if there is one, takes and gives
// back a few hundred pages at a time. Prints how many turns that had and how long they took, as a JSON object.
//
//   free-much PROCESSES MIB_EACH
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define TURN_PAGES 512

struct turns {
	volatile int stop;
	unsigned long count;
	double total_us, longest_us;
};

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof set, &set))
		_exit(2);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static char *take(size_t bytes)
{
	char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		_exit(2);
	for (size_t at = 0; at < bytes; at += PAGE)
		map[at] = 1;
	return map;
}

static void take_turns(struct turns *turns)
{
	double start, took;

	on_cpu(1);
	while (!turns->stop) {
		start = now_us();
		munmap(take(TURN_PAGES * PAGE), TURN_PAGES * PAGE);
		took = now_us() - start;
		turns->count++;
		turns->total_us += took;
		if (took > turns->longest_us)
			turns->longest_us = took;
	}
	_exit(0);
}

int main(int count, char **arguments)
{
	struct turns *turns = mmap(NULL, sizeof *turns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, failed = 0;
	pid_t other;

	if (count != 3 || turns == MAP_FAILED) {
		fprintf(stderr, "usage: free-much PROCESSES MIB_EACH\n");
		return 2;
	}
	other = fork();
	if (!other)
		take_turns(turns);
	on_cpu(0);
	for (int number = 0; number < atoi(arguments[1]); number++) {
		pid_t child = fork();

		if (!child) {
			take((size_t)atoi(arguments[2]) << 20);
			_exit(0);
		}
		waitpid(child, &status, 0);
		failed += status != 0;
	}
	turns->stop = 1;
	waitpid(other, &status, 0);
	printf("\nfreehold: {\"turns\":%lu,\"turn_us\":%.1f,\"longest_turn_us\":%.1f,\"failed\":%d}\n", turns->count,
	       turns->total_us / (turns->count ? turns->count : 1), turns->longest_us, failed + (status != 0));
	return failed != 0;
}
