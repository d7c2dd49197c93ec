// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of the mixed load: ways to take them and to give them back.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "load.h"

#define FILES		16
#define PIPES		24

static void tmpfs_round(int cpu, unsigned long most)
{
	static char bytes[64 << 10];
	char path[64];
	unsigned long size = (1 + random_below(most)) * PAGE, at;
	int file;

	snprintf(path, sizeof(path), ROOM "/%d-%lu", cpu, (unsigned long)random_below(FILES));
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0)
		return;
	for (at = 0; at < size; at += sizeof(bytes))
		if (pwrite(file, bytes, sizeof(bytes), at) < 0)
			break;
	/* Holes of one page, as far apart as a neighbour is from its buddy. */
	for (at = random_below(4) * PAGE; at < size; at += (1 + random_below(6)) * PAGE)
		fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, PAGE);
	if (!random_below(2) && ftruncate(file, random_below(2) ? 0 : size / 2))
		unlink(path);
	close(file);
}

static void touch(char *from, unsigned long bytes, unsigned long step)
{
	for (unsigned long at = 0; at < bytes; at += step)
		*(volatile char *)(from + at) = 1;
}

static void anonymous_round(unsigned long most)
{
	unsigned long bytes = (1 + random_below(most)) * PAGE;
	char *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		return;
	if (random_below(2))
		madvise(area, bytes, MADV_HUGEPAGE);
	touch(area, bytes, PAGE);
	for (unsigned long at = 0; at < bytes; at += (1 + random_below(32)) * PAGE)
		madvise(area + at, PAGE, MADV_DONTNEED);
	munmap(area, bytes);
}

static void tables_round(void)
{
	unsigned long bytes = (1 + random_below(256)) * HUGE;
	char *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (area == MAP_FAILED)
		return;
	madvise(area, bytes, MADV_NOHUGEPAGE);
	touch(area, bytes, HUGE);
	munmap(area, bytes);
}

static void fork_round(void)
{
	unsigned long bytes = (1 + random_below(128)) * PAGE;
	char *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (area == MAP_FAILED)
		return;
	touch(area, bytes, PAGE);
	child = fork();
	if (!child) {
		touch(area, bytes / 2, PAGE);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	munmap(area, bytes);
}

static void pipe_round(void)
{
	static char bytes[PAGE];
	int pipes[PIPES][2], open_pipes;

	for (open_pipes = 0; open_pipes < PIPES; open_pipes++)
		if (pipe2(pipes[open_pipes], O_NONBLOCK | O_CLOEXEC))
			break;
	for (int i = 0; i < open_pipes; i++) {
		fcntl(pipes[i][1], F_SETPIPE_SZ, (1 + random_below(32)) * PAGE);
		while (write(pipes[i][1], bytes, sizeof(bytes)) > 0 && random_below(24))
			;
	}
	for (int i = 0; i < open_pipes; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

static void slab_round(int cpu)
{
	unsigned int files = 1 + random_below(200);
	char path[64];

	for (unsigned int i = 0; i < files; i++) {
		snprintf(path, sizeof(path), ROOM "/slab-%d-%u", cpu, i);
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	}
	for (unsigned int i = 0; i < files; i++) {
		snprintf(path, sizeof(path), ROOM "/slab-%d-%u", cpu, i);
		unlink(path);
	}
}

void take_pages(int cpu)
{
	/* All files at their longest take a third of what is free now. */
	unsigned long most = pages_of_memory(true) / 3 / FILES / cpus() + 1;

	pin(cpu);
	while (!stopped()) {
		switch (random_below(8)) {
		case 0: case 1: case 2:
			tmpfs_round(cpu, most);
			break;
		case 3: case 4:
			anonymous_round(2048);
			break;
		case 5:
			tables_round();
			break;
		case 6:
			if (random_below(2))
				fork_round();
			else
				pipe_round();
			break;
		default:
			slab_round(cpu);
		}
		bump(&shared->rounds[cpu]);
	}
}
