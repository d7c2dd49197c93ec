// SPDX-License-Identifier: GPL-2.0-only
//
// Allocates transparent huge pages in batches while another thread churns the page cache:
// the mix of the freelist hygiene series' benchmark, small enough to record.
//
//   cc -O2 -pthread -o thp-churn thp-churn.c
//   ./thp-churn BATCHES MIB_PER_BATCH FILE...
//
// Each batch maps and touches MIB_PER_BATCH MiB with MADV_HUGEPAGE, keeps every fourth one for
// a while, and frees the rest. The other thread reads the files through the page cache, in the
// order given, again and again. Prints what /proc/vmstat says about huge pages.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_BYTES (2UL << 20)
#define KEPT 8

static atomic_bool stop;

struct files {
	int count;
	char **names;
};

static void *churn(void *argument)
{
	struct files *files = argument;
	static char buffer[1 << 20];

	for (int at = 0; !stop; at = (at + 1) % files->count) {
		int file = open(files->names[at], O_RDONLY);
		ssize_t got = 1;

		if (file < 0)
			continue;
		while (!stop && got > 0)
			got = read(file, buffer, sizeof buffer);
		close(file);
	}
	return NULL;
}

static long vmstat(const char *name)
{
	char line[128];
	long value = -1;
	FILE *file = fopen("/proc/vmstat", "r");

	while (file && fgets(line, sizeof line, file)) {
		size_t length = strlen(name);

		if (!strncmp(line, name, length) && line[length] == ' ')
			value = atol(line + length);
	}
	if (file)
		fclose(file);
	return value;
}

static char *batch(size_t bytes)
{
	char *map = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	madvise(map, bytes + HUGE_BYTES, MADV_HUGEPAGE);
	for (size_t at = 0; at < bytes; at += HUGE_BYTES / 4)
		map[at] = 1;
	return map;
}

int main(int count, char **arguments)
{
	if (count < 4) {
		fprintf(stderr, "usage: thp-churn BATCHES MIB_PER_BATCH FILE...\n");
		return 2;
	}
	int batches = atoi(arguments[1]);
	size_t bytes = (size_t)atoi(arguments[2]) << 20;
	struct files files = { count - 3, arguments + 3 };
	char *kept[KEPT] = { 0 };
	long allocated = vmstat("thp_fault_alloc");
	long fell_back = vmstat("thp_fault_fallback");
	pthread_t reader;

	if (batches < 1 || !bytes || pthread_create(&reader, NULL, churn, &files))
		return 2;
	for (int number = 0; number < batches; number++) {
		char *map = batch(bytes);

		if (!map)
			break;
		if (number % 4 == 0) {
			char **slot = &kept[number / 4 % KEPT];

			if (*slot)
				munmap(*slot, bytes + HUGE_BYTES);
			*slot = map;
		} else {
			munmap(map, bytes + HUGE_BYTES);
		}
	}
	stop = 1;
	pthread_join(reader, NULL);
	printf("huge pages: %ld allocated, %ld fell back\n",
	       vmstat("thp_fault_alloc") - allocated, vmstat("thp_fault_fallback") - fell_back);
	return 0;
}
