// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time, processors, and small files.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

void sleep_ms(long ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

int cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

void pin(int cpu)
{
	cpu_set_t set;

	/* A kernel for one CPU has no such call. */
	if (cpus() == 1)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("cannot run on CPU %d: %s", cpu, strerror(errno));
}

/* xorshift64*: the same in every run. */
uint64_t random_below(uint64_t bound)
{
	static uint64_t state = 0x9e3779b97f4a7c15ULL;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dULL >> 32) % bound;
}

char *slurp(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;

	if (file < 0)
		return NULL;
	while ((got = read(file, text + length, size - 1 - length)) > 0)
		length += got;
	close(file);
	if (got < 0)
		return NULL;
	if (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	return text;
}

bool put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t length = strlen(text);
	bool is_there = file >= 0 && write(file, text, length) == length;

	if (file >= 0)
		close(file);
	return is_there;
}

const char *ask(const char *format, ...)
{
	static char answer[4096];
	char command[256];
	va_list args;
	ssize_t got;
	int file;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	file = open(BENCH_FILE, O_RDWR | O_CLOEXEC);
	if (file < 0)
		fail("there is no " BENCH_FILE ": was the kernel built without CONFIG_FREEHOLD_BENCH?");
	if (write(file, command, strlen(command)) < 0)
		fail("the bench does not take '%s': %s", command, strerror(errno));
	got = read(file, answer, sizeof(answer) - 1);
	close(file);
	if (got < 3 || answer[0] != '{' || answer[got - 2] != '}')
		fail("the bench has no answer to '%s'", command);
	answer[got - 2] = '\0';
	if (strstr(answer, "\"error\""))
		fail("the bench fails at '%s': memory ran out", command);
	return answer + 1;
}
