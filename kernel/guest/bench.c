// SPDX-License-Identifier: GPL-2.0-only
/*
 * What allocating and freeing cost: alone, beside a monitor, and beside another CPU.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
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

/* A process of its own that works on the second CPU while it is wanted. */
struct other {
	volatile int is_wanted;
	volatile int is_at_work;
	volatile long rounds;
};

static void work_if_wanted(struct other *other, int wake, void (*work)(void))
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(1);
	while (read(wake, &byte, 1) == 1) {
		other->is_at_work = 1;
		while (other->is_wanted) {
			work();
			other->rounds++;
		}
		other->is_at_work = 0;
	}
	_exit(0);
}

static struct other *start_other(int *wake, void (*work)(void))
{
	struct other *other;
	int ends[2];
	pid_t child;

	other = mmap(NULL, sizeof(*other), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (other == MAP_FAILED || pipe(ends))
		fail("no memory or pipe for a second process: %s", strerror(errno));
	child = fork();
	if (child < 0)
		fail("no second process: %s", strerror(errno));
	if (!child) {
		close(ends[1]);
		work_if_wanted(other, ends[0], work);
	}
	close(ends[0]);
	*wake = ends[1];
	return other;
}

static void switch_on(struct other *other, int wake)
{
	other->is_wanted = 1;
	if (write(wake, "", 1) != 1)
		fail("the second process is gone");
	while (!other->is_at_work)
		sleep_ms(1);
}

static void switch_off(struct other *other)
{
	other->is_wanted = 0;
	while (other->is_at_work)
		sleep_ms(1);
}

static void monitor_once(void)
{
	read_pagetypeinfo();
	sleep_ms(PERIOD_MS);
}

/* The one of a few figures of which the host took the least away; often the first. */
static const char *ask_undisturbed(int order, int n, long ms)
{
	static char best[4096];
	const char *answer, *at;
	long lost, least = -1;
	int try;

	for (try = 0; try < TRIES && (least < 0 || least >= MOST_LOST); try++) {
		answer = ask("pagealloc order=%d n=%d ms=%ld cpu=0", order, n, ms);
		at = strstr(answer, LOST);
		lost = at ? atol(at + strlen(LOST)) : 0;
		if (least < 0 || lost < least) {
			least = lost;
			snprintf(best, sizeof(best), "%s", answer);
		}
	}
	return best;
}

/* A figure without a monitor and one with it, the first of them in turn. */
static void measure_both(struct other *monitor, int wake, const char *state, int order, int n,
			 long repetition)
{
	long ms = option("ms", 40), reads;
	const char *answer;
	int turn, with;

	for (turn = 0; turn < 2; turn++) {
		with = (turn + repetition) % 2;
		if (with && !monitor)
			continue;
		reads = monitor ? monitor->rounds : 0;
		if (with)
			switch_on(monitor, wake);
		answer = ask_undisturbed(order, n, ms);
		if (with)
			switch_off(monitor);
		reads = monitor ? monitor->rounds - reads : 0;
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
	struct other *monitor = NULL;
	int wake = -1, state, order, n;

	if (cpus() > 1)
		monitor = start_other(&wake, monitor_once);
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

/* Pages that come from and go back to the zone's own lists, whose lines it writes. */
static void refill_and_drain(void)
{
	ask("drain n=400 batch=256 cpu=1");
}

/* What CPU 0 is asked while CPU 1 is idle, and while it refills and drains. */
static const char *const contended[] = {
	"watermark order=4 batch=256",
	"watermark order=9 batch=256",
	"pairs order=0",
	"pairs order=4",
};

/* All in turn, idle or beside the other CPU first in turn: what drifts weighs on both. */
void do_contend(void)
{
	long repetitions = option("repetitions", 5), n = option("n", 4000), repetition, rounds;
	struct other *other;
	int wake = -1, turn, with;
	const char *answer;
	size_t i;

	if (cpus() < 2)
		fail("one CPU cannot contend");
	other = start_other(&wake, refill_and_drain);
	pin(0);
	for (repetition = 0; repetition < repetitions; repetition++) {
		for (i = 0; i < sizeof(contended) / sizeof(*contended); i++) {
			for (turn = 0; turn < 2; turn++) {
				with = (turn + repetition) % 2;
				rounds = other->rounds;
				if (with)
					switch_on(other, wake);
				answer = ask("%s n=%ld cpu=0", contended[i], n);
				if (with)
					switch_off(other);
				say("{\"test\":\"contend\",\"what\":\"%s\",\"busy\":%s,"
				    "\"rounds\":%ld,%s}", contended[i], with ? "true" : "false",
				    other->rounds - rounds, answer);
			}
		}
	}
}
