// SPDX-License-Identifier: GPL-2.0-only
/*
 * The longest time with interrupts off while /proc/pagetypeinfo is read, by the
 * kernel's own tracer.
 */

#define _GNU_SOURCE
#include <stdlib.h>

#include "guest.h"

#define TRACING	"/sys/kernel/tracing/"

/* Over that time; how often the file was read in it goes to `reads`, if it is wanted. */
static long longest_us(uint64_t ns, long *reads)
{
	uint64_t start = now_ns();
	char text[64];

	if (!put(TRACING "tracing_max_latency", "0"))
		fail("the longest latency cannot be set back");
	if (reads) {
		do {
			read_pagetypeinfo();
			++*reads;
		} while (now_ns() - start < ns);
	} else {
		sleep_ms(ns / 1000000 + 1);
	}
	/* Before anything else is done: the answer is read in a critical section or two of its own. */
	if (!slurp(TRACING "tracing_max_latency", text, sizeof(text)))
		fail("the longest latency cannot be read");
	return atol(text);
}

/*
 * Many short looks: in one of them the host takes this kernel's processor away, not in most. All are of one
 * length, whatever a reading takes: a longer one sees more of what else keeps interrupts off.
 */
static void measure(const char *state, long rounds, long window_ms)
{
	long round, reads, idle, reading;
	uint64_t start;

	for (round = 0; round < rounds; round++) {
		reads = 0;
		start = now_ns();
		reading = longest_us(window_ms * 1000000ULL, &reads);
		idle = longest_us(now_ns() - start, NULL);
		say("{\"test\":\"irqoff\",\"state\":\"%s\",\"unit\":\"us\",\"reads\":%ld,"
		    "\"idle\":%ld,\"reading\":%ld}", state, reads, idle, reading);
	}
}

void do_irqoff(void)
{
	long rounds = option("rounds", 20), window_ms = option("window_ms", 100);

	pin(0);
	if (!put(TRACING "current_tracer", "irqsoff"))
		fail("this kernel has no tracer irqsoff: was it built without CONFIG_IRQSOFF_TRACER?");
	/* Its own clock has steps of a timer's tick under User-Mode Linux. */
	if (!put(TRACING "trace_clock", "mono"))
		fail("the tracer takes no other clock");
	if (!put(TRACING "tracing_on", "1"))
		fail("tracing cannot be switched on");
	bring_into(FRESH);
	measure(state_names[FRESH], rounds, window_ms);
	bring_into(SHUFFLED);
	measure(state_names[SHUFFLED], rounds, window_ms);
}
