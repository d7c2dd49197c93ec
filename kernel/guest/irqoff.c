// SPDX-License-Identifier: GPL-2.0-only
/*
 * The longest time with interrupts off while /proc/pagetypeinfo is read, by the
 * kernel's own tracer.
 */

#define _GNU_SOURCE
#include <stdlib.h>

#include "guest.h"

#define TRACING	"/sys/kernel/tracing/"

static long longest_us(long reads, long pause_ms)
{
	char text[64];

	if (!put(TRACING "tracing_max_latency", "0"))
		fail("the longest latency cannot be set back");
	while (reads--)
		read_pagetypeinfo();
	if (pause_ms)
		sleep_ms(pause_ms);
	/* Before anything else is done: the answer is read in a critical section or two of its own. */
	if (!slurp(TRACING "tracing_max_latency", text, sizeof(text)))
		fail("the longest latency cannot be read");
	return atol(text);
}

/* Many short looks: in one of them the host takes this kernel's processor away, not in most. */
static void measure(const char *state, long rounds, long reads)
{
	long round, pause, idle;
	uint64_t start;

	for (round = 0; round < rounds; round++) {
		start = now_ns();
		read_pagetypeinfo();
		pause = (now_ns() - start) * reads / 1000000 + 1;
		idle = longest_us(0, pause);
		say("{\"test\":\"irqoff\",\"state\":\"%s\",\"unit\":\"us\",\"reads\":%ld,"
		    "\"idle\":%ld,\"reading\":%ld}", state, reads, idle, longest_us(reads, 0));
	}
}

void do_irqoff(void)
{
	long rounds = option("rounds", 20), reads = option("reads", 5);

	pin(0);
	if (!put(TRACING "current_tracer", "irqsoff"))
		fail("this kernel has no tracer irqsoff: was it built without CONFIG_IRQSOFF_TRACER?");
	/* Its own clock has steps of a timer's tick under User-Mode Linux. */
	if (!put(TRACING "trace_clock", "mono"))
		fail("the tracer takes no other clock");
	if (!put(TRACING "tracing_on", "1"))
		fail("tracing cannot be switched on");
	bring_into(FRESH);
	measure(state_names[FRESH], rounds, reads);
	bring_into(SHUFFLED);
	measure(state_names[SHUFFLED], rounds, reads);
}
