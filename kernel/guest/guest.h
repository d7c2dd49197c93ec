/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only process of a kernel that is tested or measured.
 */

#ifndef FREEHOLD_GUEST_H
#define FREEHOLD_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- init.c ---- */

/* One JSON object, as a line of the console: "freehold: {...}". */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what went wrong, and powers off. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* The number that an option of freehold.do has, or `otherwise`. */
long option(const char *name, long otherwise);

/* ---- tools.c ---- */

#define TEXT_SIZE	65536
#define BENCH_FILE	"/sys/kernel/debug/freehold_bench"

uint64_t now_ns(void);
void sleep_ms(long ms);
int cpus(void);
void pin(int cpu);
uint64_t random_below(uint64_t bound);

/* A file's text without its last newline; NULL where there is no such file. */
char *slurp(const char *path, char *text, size_t size);
bool put(const char *path, const char *text);

/* The answer of the kernel's bench to a command, without its braces. */
const char *ask(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- lists.c ---- */

enum state { FRESH, FRAGMENTED, SHUFFLED, STATES };
extern const char *const state_names[STATES];

/* From a fresh boot, one after the other. */
void bring_into(enum state state);
void settle(void);

/* ---- pagetypeinfo.c ---- */

#define PAGETYPEINFO	"/proc/pagetypeinfo"

struct free_lists {
	unsigned long blocks;		/* by /proc/buddyinfo, which counts them all */
	unsigned long longest;		/* list, as the text has it */
	unsigned int capped;		/* lists that the text has a `>` at */
	bool agrees;			/* types add up to /proc/buddyinfo */
};

/* Why the text is not what it should be, or NULL. */
const char *look_at_lists(struct free_lists *lists);
size_t read_pagetypeinfo(void);

/* ---- what freehold.do can name ---- */

void do_read(void);
void do_pagealloc(void);
void do_irqoff(void);
void do_hot(void);
void do_contend(void);
void do_load(void);

#endif
