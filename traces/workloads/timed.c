// SPDX-License-Identifier: GPL-2.0-only
//
// Runs a command and prints how long it took, as a JSON object on a line of the console:
//
//   timed NAME COMMAND [ARGUMENT...]
//
// Milliseconds of real time, and of user and system time with those of all children.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static double ms(struct timeval time)
{
	return time.tv_sec * 1e3 + time.tv_usec / 1e3;
}

int main(int count, char **arguments)
{
	struct rusage used;
	double start;
	int status;
	pid_t child;

	if (count < 3) {
		fprintf(stderr, "usage: timed NAME COMMAND [ARGUMENT...]\n");
		return 2;
	}
	start = now_ms();
	child = fork();
	if (!child) {
		execvp(arguments[2], arguments + 2);
		perror(arguments[2]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 2;
	getrusage(RUSAGE_CHILDREN, &used);
	printf("\nfreehold: {\"timed\":\"%s\",\"status\":%d,\"real_ms\":%.1f,\"user_ms\":%.1f,\"system_ms\":%.1f}\n",
	       arguments[1], status, now_ms() - start, ms(used.ru_utime), ms(used.ru_stime));
	return status != 0;
}
