// SPDX-License-Identifier: GPL-2.0-only
/*
 * What allocating and freeing cost: alone, and beside a monitor.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#include "guest.h"

#define PERIOD_MS	10
#define TRIES		4
#define MOST_LOST	5	/* thousandths of the time */
#define LOST		"\"lost\":"

/* A process of its own that reads the file while it is wanted. */
struct monitor {
	volatile int is_wanted;
	volatile int is_reading;
	volatile long reads;
};

static void watch(struct monitor *monitor, int wake)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(1);
	while (read(wake, &byte, 1) == 1) {
		monitor->is_reading = 1;
		while (monitor->is_wanted) {
			read_pagetypeinfo();
			monitor->reads++;
			sleep_ms(PERIOD_MS);
		}
		monitor->is_reading = 0;
	}
	_exit(0);
}

static struct monitor *start_monitor(int *wake)
{
	struct monitor *monitor;
	int ends[2];
	pid_t child;

	monitor = mmap(NULL, sizeof(*monitor), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (monitor == MAP_FAILED || pipe(ends))
		fail("no memory or pipe for a monitor: %s", strerror(errno));
	child = fork();
	if (child < 0)
		fail("no process for a monitor: %s", strerror(errno));
	if (!child) {
		close(ends[1]);
		watch(monitor, ends[0]);
	}
	close(ends[0]);
	*wake = ends[1];
	return monitor;
}

static void switch_on(struct monitor *monitor, int wake)
{
	monitor->is_wanted = 1;
	if (write(wake, "", 1) != 1)
		fail("the monitor is gone");
	while (!monitor->is_reading)
		sleep_ms(1);
}

static void switch_off(struct monitor *monitor)
{
	monitor->is_wanted = 0;
	while (monitor->is_reading)
		sleep_ms(1);
}

/* Until the host took next to nothing of the time, a few times at most. */
static const char *ask_undisturbed(int order, int n, long ms)
{
	const char *answer, *lost;
	int try;

	for (try = 0; try < TRIES; try++) {
		answer = ask("pagealloc order=%d n=%d ms=%ld cpu=0", order, n, ms);
		lost = strstr(answer, LOST);
		if (!lost || atol(lost + strlen(LOST)) < MOST_LOST)
			break;
	}
	return answer;
}

/* A figure without a monitor and one with it, the first of them in turn. */
static void measure_both(struct monitor *monitor, int wake, const char *state, int order, int n,
			 long repetition)
{
	long ms = option("ms", 40), reads;
	const char *answer;
	int turn, with;

	for (turn = 0; turn < 2; turn++) {
		with = (turn + repetition) % 2;
		if (with && !monitor)
			continue;
		reads = monitor ? monitor->reads : 0;
		if (with)
			switch_on(monitor, wake);
		answer = ask_undisturbed(order, n, ms);
		if (with)
			switch_off(monitor);
		reads = monitor ? monitor->reads - reads : 0;
		say("{\"test\":\"pagealloc\",\"state\":\"%s\",\"monitor\":%s,\"reads\":%ld,"
		    "\"repetition\":%ld,%s}", state, with ? "true" : "false", reads,
		    repetition, answer);
	}
}

void do_pagealloc(void)
{
	static const int orders[] = { 4, 0 };
	static const enum state states[] = { FRESH, SHUFFLED };
	long repetitions = option("repetitions", 5), most = option("most", 1024), repetition;
	struct monitor *monitor = NULL;
	int wake = -1, state, order, n;

	if (cpus() > 1)
		monitor = start_monitor(&wake);
	pin(0);
	for (state = 0; state < 2; state++) {
		bring_into(states[state]);
		for (repetition = 0; repetition < repetitions; repetition++)
			for (order = 0; order < 2; order++)
				for (n = 1; n <= most; n *= 2)
					measure_both(monitor, wake, state_names[states[state]],
						     orders[order], n, repetition);
	}
}

void do_hot(void)
{
	static const int orders[] = { 0, 4, 9 };
	long repetitions = option("repetitions", 5), n = option("n", 4000), repetition;
	size_t i;

	for (repetition = 0; repetition < repetitions; repetition++) {
		for (i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
			say("{\"test\":\"hot\",\"shape\":\"pairs\",%s}",
			    ask("pairs order=%d n=%ld", orders[i], n));
			say("{\"test\":\"hot\",\"shape\":\"batches\",%s}",
			    ask("batches order=%d n=%ld batch=%d", orders[i], n / 16,
				orders[i] == 9 ? 32 : 256));
		}
		say("{\"test\":\"hot\",\"shape\":\"refill\",%s}", ask("refill n=%ld", n / 4));
		say("{\"test\":\"hot\",\"shape\":\"drain\",%s}",
		    ask("drain n=%ld batch=32", n / 4));
		say("{\"test\":\"hot\",\"shape\":\"spill\",%s}",
		    ask("drain n=%ld batch=1024", n / 16));
	}
}
