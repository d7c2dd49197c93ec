// SPDX-License-Identifier: GPL-2.0-only
//
// Fills pageblocks with unmovable pages, the buffers of pipes, and frees some of them again: what is free then lies in
// pageblocks that are not for movable pages, in blocks of up to 64 pages.
//
//   unmovable MIB KEPT OF
//
// Of each OF pipes KEPT stay full, until the machine goes down. Ends once the others are free.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096
#define PIPE_PAGES 64

static int fill(long pipes, int kept, int of)
{
	static char bytes[PAGE];
	int(*ends)[2] = calloc(pipes, sizeof *ends);
	long at;

	for (at = 0; ends && at < pipes; at++) {
		if (pipe2(ends[at], O_NONBLOCK | O_CLOEXEC) ||
		    fcntl(ends[at][1], F_SETPIPE_SZ, PIPE_PAGES * PAGE) < 0)
			return 1;
		for (int page = 0; page < PIPE_PAGES; page++)
			if (write(ends[at][1], bytes, PAGE) != PAGE)
				return 1;
	}
	for (at = 0; ends && at < pipes; at++) {
		if (at % of < kept)
			continue;
		close(ends[at][0]);
		close(ends[at][1]);
	}
	return !ends;
}

int main(int count, char **arguments)
{
	struct rlimit files = { 1 << 16, 1 << 16 };
	int said[2];
	char answer = 1;

	if (count != 4 || atoi(arguments[3]) < 1 || setrlimit(RLIMIT_NOFILE, &files) || pipe(said)) {
		fprintf(stderr, "usage: unmovable MIB KEPT OF, as root\n");
		return 2;
	}
	if (!fork()) {
		close(said[0]);
		answer = fill(atol(arguments[1]) * 256 / PIPE_PAGES, atoi(arguments[2]), atoi(arguments[3]));
		if (write(said[1], &answer, 1) != 1 || answer)
			return 1;
		for (;;)
			pause();
	}
	close(said[1]);
	return read(said[0], &answer, 1) != 1 || answer;
}
