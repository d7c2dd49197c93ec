// SPDX-License-Identifier: GPL-2.0-only
//
// Many processes map a sparse file each and read it through: what `lru-file-mmap-read` of vm-scalability does.
//
//   mmap-read PROCESSES MIB_EACH FOLDER
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL

static int read_through(const char *folder, int number, size_t bytes)
{
	char path[256];
	unsigned long sum = 0;
	char *map;
	int file;

	snprintf(path, sizeof path, "%s/sparse-%d", folder, number);
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, bytes))
		return 1;
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		return 1;
	for (size_t at = 0; at < bytes; at += PAGE)
		sum += *(volatile unsigned long *)(map + at);
	munmap(map, bytes);
	close(file);
	unlink(path);
	return sum != 0;
}

int main(int count, char **arguments)
{
	int processes, status, failed = 0;
	size_t bytes;

	if (count != 4) {
		fprintf(stderr, "usage: mmap-read PROCESSES MIB_EACH FOLDER\n");
		return 2;
	}
	processes = atoi(arguments[1]);
	bytes = (size_t)atoi(arguments[2]) << 20;
	for (int number = 0; number < processes; number++)
		if (!fork())
			_exit(read_through(arguments[3], number, bytes));
	while (wait(&status) > 0)
		failed += status != 0;
	return failed != 0;
}
