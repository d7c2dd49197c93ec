// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds /proc/pagetypeinfo against /proc/buddyinfo.
 *
 * Of each zone and order, the free blocks of all types are as many as there are
 * free blocks. The two files are read one after the other while others allocate
 * and free, so the numbers have to agree once in a number of readings; a count
 * that went wrong never agrees again.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest.h"

#define PAGETYPEINFO	"/proc/pagetypeinfo"
#define BUDDYINFO	"/proc/buddyinfo"
#define TEXT_SIZE	1048576
#define MAX_ZONES	256
#define MAX_ORDERS	32
#define READINGS	2000
#define PAUSE_US	1000

struct zone {
	unsigned int node;
	char name[16];
	unsigned long total[MAX_ORDERS];
	unsigned long by_type[MAX_ORDERS];
	bool is_capped[MAX_ORDERS];
	bool has_agreed[MAX_ORDERS];
	int orders;
};

static struct zone zones[MAX_ZONES];
static int nr_zones;
static char text[TEXT_SIZE];

static bool read_text(const char *path)
{
	int fd = open(path, O_RDONLY);
	size_t length = 0;
	ssize_t got = -1;

	if (fd < 0)
		return false;
	while (length < TEXT_SIZE - 1) {
		got = read(fd, text + length, TEXT_SIZE - 1 - length);
		if (got <= 0)
			break;
		length += got;
	}
	close(fd);
	text[length] = '\0';
	return got == 0;
}

static struct zone *find_zone(unsigned int node, const char *name)
{
	struct zone *zone;

	for (zone = zones; zone < zones + nr_zones; zone++)
		if (zone->node == node && !strcmp(zone->name, name))
			return zone;
	if (nr_zones == MAX_ZONES)
		ksft_exit_fail_msg("more than %d zones\n", MAX_ZONES);
	zone->node = node;
	snprintf(zone->name, sizeof(zone->name), "%s", name);
	nr_zones++;
	return zone;
}

/* Adds a line's numbers, which may have a '>' before them; returns how many. */
static int add_numbers(const char *at, unsigned long *sums, bool *is_capped)
{
	int order = 0;
	char *end;

	while (order < MAX_ORDERS) {
		at += strspn(at, " ");
		if (*at == '>') {
			is_capped[order] = true;
			at++;
		}
		sums[order] += strtoul(at, &end, 10);
		if (end == at)
			break;
		order++;
		at = end;
	}
	return order;
}

static void read_totals(void)
{
	char *line, *rest = text, name[16];
	struct zone *zone;
	unsigned int node;
	int at;

	if (!read_text(BUDDYINFO))
		ksft_exit_skip("%s cannot be read\n", BUDDYINFO);
	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, "Node %u, zone %15s%n", &node, name, &at) != 2)
			continue;
		zone = find_zone(node, name);
		memset(zone->total, 0, sizeof(zone->total));
		zone->orders = add_numbers(line + at, zone->total, zone->is_capped);
	}
}

static void read_types(void)
{
	char *line, *rest = text, name[16];
	struct zone *zone;
	unsigned int node;
	int i, at;

	if (!read_text(PAGETYPEINFO))
		ksft_exit_skip("%s cannot be read\n", PAGETYPEINFO);
	for (i = 0; i < nr_zones; i++) {
		memset(zones[i].by_type, 0, sizeof(zones[i].by_type));
		memset(zones[i].is_capped, 0, sizeof(zones[i].is_capped));
	}
	while ((line = strsep(&rest, "\n"))) {
		at = 0;
		if (sscanf(line, "Node %u, zone %15[^,], type %*s%n", &node, name, &at) != 2 ||
		    !at)
			continue;
		zone = find_zone(node, name);
		if (add_numbers(line + at, zone->by_type, zone->is_capped) != zone->orders)
			ksft_exit_fail_msg("not a number for each order: %s\n", line);
	}
}

/* Lists longer than what the file counts to have no number to be compared. */
static int compare(void)
{
	int i, order, differing = 0;

	for (i = 0; i < nr_zones; i++) {
		struct zone *zone = zones + i;

		for (order = 0; order < zone->orders; order++) {
			if (zone->is_capped[order] ||
			    zone->by_type[order] == zone->total[order])
				zone->has_agreed[order] = true;
			differing += !zone->has_agreed[order];
		}
	}
	return differing;
}

static void print_differences(void)
{
	int i, order;

	for (i = 0; i < nr_zones; i++) {
		struct zone *zone = zones + i;

		for (order = 0; order < zone->orders; order++)
			if (!zone->has_agreed[order])
				ksft_print_msg("Node %u, zone %s, order %d: %lu by type, not %lu\n",
					       zone->node, zone->name, order,
					       zone->by_type[order], zone->total[order]);
	}
}

int main(void)
{
	int readings, differing = 1;

	ksft_print_header();
	if (access(PAGETYPEINFO, R_OK))
		ksft_exit_skip("%s is not for this user\n", PAGETYPEINFO);
	ksft_set_plan(1);
	for (readings = 0; readings < READINGS && differing; readings++) {
		if (readings)
			usleep(PAUSE_US);
		read_totals();
		read_types();
		differing = compare();
	}
	print_differences();
	ksft_test_result(nr_zones && !differing, "types add up in %d zones, %d readings\n",
			 nr_zones, readings);
	ksft_finished();
}
