// SPDX-License-Identifier: GPL-2.0-only
//
// A cache server and its clients in one process, in the manner of memcached: values lie in slabs of 1 MiB of anonymous
// memory, are overwritten at random, and the number of slabs grows and shrinks; requests go over sockets, which come and
// go and keep what was not yet read, in the kernel's own memory. At times the server reads less than it is sent.
//
//   cache-server LEAST_MIB MOST_MIB SOCKETS
//
// Runs until it is killed.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SLAB (1UL << 20)
#define MOST_VALUE (24 << 10)
/* Requests between two pauses, and between two changes of the number of slabs. */
#define BURST 64
#define PHASE 4096

static uint64_t state = 0x9e3779b97f4a7c15ULL;

static uint64_t random_below(uint64_t bound)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dULL >> 32) % bound;
}

static char *new_slab(void)
{
	char *slab = mmap(NULL, SLAB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (slab == MAP_FAILED)
		exit(1);
	madvise(slab, SLAB, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < SLAB; at += 4096)
		slab[at] = 1;
	return slab;
}

/* Most values are small, a few are as large as a value can be. */
static size_t value_size(void)
{
	return 64 + random_below(random_below(8) ? 1024 : MOST_VALUE - 64);
}

static void request(int (*sockets)[2], long count, char **slabs, long held, int is_slow)
{
	static char bytes[MOST_VALUE];
	long which = random_below(count);
	size_t size = value_size();
	ssize_t got;

	if (!random_below(64)) {
		close(sockets[which][0]);
		close(sockets[which][1]);
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets[which]))
			exit(1);
	}
	got = send(sockets[which][0], bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!is_slow || !random_below(8))
		got = recv(sockets[which][1], bytes, sizeof bytes, MSG_DONTWAIT);
	if (got > 0)
		memcpy(slabs[random_below(held)] + random_below(SLAB - MOST_VALUE), bytes, got);
}

int main(int count, char **arguments)
{
	struct rlimit files = { 1 << 16, 1 << 16 };
	struct timespec pause = { 0, 2000000 };
	long least, most, held, wanted, connections;
	int is_slow = 0;
	int(*sockets)[2];
	char **slabs;

	if (count != 4) {
		fprintf(stderr, "usage: cache-server LEAST_MIB MOST_MIB SOCKETS\n");
		return 2;
	}
	setrlimit(RLIMIT_NOFILE, &files);
	least = atol(arguments[1]);
	most = atol(arguments[2]);
	connections = atol(arguments[3]);
	slabs = calloc(most + 1, sizeof *slabs);
	sockets = calloc(connections, sizeof *sockets);
	for (long at = 0; at < connections; at++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets[at]))
			return 1;
	for (held = 0; held < least; held++)
		slabs[held] = new_slab();
	wanted = held;
	for (unsigned long number = 0;; number++) {
		if (number % PHASE == 0) {
			wanted = least + random_below(most - least + 1);
			is_slow = random_below(2);
		}
		if (number % BURST == 0) {
			if (held < wanted) {
				slabs[held++] = new_slab();
			} else if (held > wanted) {
				long which = random_below(held);

				munmap(slabs[which], SLAB);
				slabs[which] = slabs[--held];
			}
			nanosleep(&pause, NULL);
		}
		request(sockets, connections, slabs, held, is_slow);
	}
}
