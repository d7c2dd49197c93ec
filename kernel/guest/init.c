// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does what freehold.do= on the kernel's command line says, tells the console,
 * and powers off:
 *
 *   freehold.do=WORD[,option=number...]
 *
 * A run is whole if its last line is {"done":true}.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest.h"

#define LINE_SIZE	8192
#define KEY		"freehold.do="

static char order[512];		/* WORD, then its options, each ended by NUL */
static size_t order_length;

static void say_line(const char *format, va_list args)
{
	static char line[LINE_SIZE];
	int length, more, done, got;

	/* What the kernel said before may have no end. */
	length = snprintf(line, sizeof(line), "\nfreehold: ");
	more = vsnprintf(line + length, sizeof(line) - length - 1, format, args);
	if (more > (int)sizeof(line) - length - 2)
		more = sizeof(line) - length - 2;
	length += more;
	line[length++] = '\n';
	for (done = 0; done < length; done += got) {
		got = write(STDOUT_FILENO, line + done, length - done);
		if (got <= 0)
			return;
	}
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args);
	va_end(args);
}

static void power_off(void) __attribute__((noreturn));
static void power_off(void)
{
	sync();
	if (getpid() == 1)
		reboot(RB_POWER_OFF);
	_exit(1);
}

void fail(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	say("{\"error\":\"%s\"}", text);
	power_off();
}

static void get_order(void)
{
	static char text[4096];
	char *at;

	if (!slurp("/proc/cmdline", text, sizeof(text)))
		fail("there is no /proc/cmdline");
	at = strstr(text, KEY);
	if (!at)
		fail("the kernel's command line has no " KEY);
	at += strlen(KEY);
	order_length = strcspn(at, " \n");
	if (order_length >= sizeof(order))
		fail(KEY " is too long");
	memcpy(order, at, order_length);
	for (at = order; at < order + order_length; at++)
		if (*at == ',')
			*at = '\0';
}

long option(const char *name, long otherwise)
{
	size_t length = strlen(name);
	char *at, *end;
	long value;

	for (at = order; at < order + order_length; at += strlen(at) + 1) {
		if (strncmp(at, name, length) || at[length] != '=')
			continue;
		value = strtol(at + length + 1, &end, 10);
		if (*end || end == at + length + 1 || value < 0)
			fail("%s is not a number", at);
		return value;
	}
	return otherwise;
}

static void set_up(void)
{
	static const struct { const char *type, *place; } mounts[] = {
		{ "proc", "/proc" },
		{ "sysfs", "/sys" },
		{ "devtmpfs", "/dev" },
		{ "debugfs", "/sys/kernel/debug" },
		{ "tracefs", "/sys/kernel/tracing" },
		{ "tmpfs", "/tmp" },
	};
	size_t i;
	int console;

	/* A kernel without one of them is no failure: what needs it says so. */
	for (i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		mkdir(mounts[i].place, 0755);
		mount(mounts[i].type, mounts[i].place, mounts[i].type, 0, NULL);
	}
	mknod("/dev/console", S_IFCHR | 0600, makedev(5, 1));
	console = open("/dev/console", O_RDWR);
	if (console < 0)
		console = open("/dev/kmsg", O_WRONLY);
	if (console >= 0) {
		dup2(console, STDOUT_FILENO);
		dup2(console, STDERR_FILENO);
	}
}

static const struct {
	const char *word;
	void (*act)(void);
} acts[] = {
	{ "read", do_read },
	{ "pagealloc", do_pagealloc },
	{ "irqoff", do_irqoff },
	{ "hot", do_hot },
	{ "contend", do_contend },
	{ "load", do_load },
};

int main(void)
{
	size_t i;

	set_up();
	get_order();
	for (i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		if (strcmp(order, acts[i].word))
			continue;
		acts[i].act();
		say("{\"done\":true}");
		power_off();
	}
	fail("freehold.do=%s is not known here", order);
}
