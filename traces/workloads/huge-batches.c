// SPDX-License-Identifier: GPL-2.0-only
//
// Allocates transparent huge pages in batches, one batch after the other, until it gets SIGTERM, and prints how long a
// huge page's first touch took, in microseconds, as a JSON object.
//
//   huge-batches MIB_PER_BATCH PAUSE_MS
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define HUGE (2UL << 20)

static volatile sig_atomic_t stop;

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

int main(int count, char **arguments)
{
	struct sigaction act = { .sa_handler = on_term };
	double took, sum = 0, squares = 0;
	unsigned long touched = 0, batches = 0;
	struct timespec pause;
	size_t bytes, at;
	char *map, *first;

	if (count != 3) {
		fprintf(stderr, "usage: huge-batches MIB_PER_BATCH PAUSE_MS\n");
		return 2;
	}
	bytes = (size_t)atoi(arguments[1]) << 20;
	pause = (struct timespec){ atoi(arguments[2]) / 1000, atoi(arguments[2]) % 1000 * 1000000L };
	sigaction(SIGTERM, &act, NULL);
	for (; !stop; batches++) {
		map = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (map == MAP_FAILED)
			return 1;
		madvise(map, bytes + HUGE, MADV_HUGEPAGE);
		first = (char *)(((uintptr_t)map + HUGE - 1) & ~(HUGE - 1));
		for (at = 0; at < bytes && !stop; at += HUGE) {
			took = -now_us();
			first[at] = 1;
			took += now_us();
			sum += took;
			squares += took * took;
			touched++;
		}
		munmap(map, bytes + HUGE);
		nanosleep(&pause, NULL);
	}
	touched += !touched;
	printf("\nfreehold: {\"huge_batches\":%lu,\"mean_us\":%.1f,\"variance\":%.1f}\n", batches, sum / touched,
	       squares / touched - sum / touched * (sum / touched));
	return 0;
}
