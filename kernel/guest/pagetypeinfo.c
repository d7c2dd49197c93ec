// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of /proc/pagetypeinfo: how long it takes, and whether it adds up.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

#define ORDERS		16
#define ZONES		32

struct zone_lists {
	unsigned int node;
	char name[16];
	unsigned long by_type[ORDERS];
	unsigned long total[ORDERS];
	bool is_capped[ORDERS];
	bool has_types;
};

static struct zone_lists zones[ZONES];
static unsigned int zones_known;

static struct zone_lists *zone_of(unsigned int node, const char *name)
{
	unsigned int i;

	for (i = 0; i < zones_known; i++)
		if (zones[i].node == node && !strcmp(zones[i].name, name))
			return zones + i;
	if (zones_known == ZONES)
		return NULL;
	memset(zones + i, 0, sizeof(*zones));
	zones[i].node = node;
	snprintf(zones[i].name, sizeof(zones[i].name), "%s", name);
	zones_known++;
	return zones + i;
}

/* Numbers up to the line's end, each maybe behind a '>'; how many, or -1. */
static int numbers(char *at, unsigned long values[ORDERS], bool capped[ORDERS])
{
	int count = 0;
	char *end;

	for (;;) {
		at += strspn(at, " ");
		if (!*at)
			return count;
		if (count == ORDERS)
			return -1;
		capped[count] = *at == '>';
		at += *at == '>';
		values[count++] = strtoul(at, &end, 10);
		if (end == at || (*end && *end != ' '))
			return -1;
		at = end;
	}
}

/* One line of the table of free blocks. */
static const char *take_line(char *line, int orders, struct free_lists *lists)
{
	unsigned long values[ORDERS];
	char name[16], type[16];
	bool capped[ORDERS];
	struct zone_lists *zone;
	unsigned int node;
	int at = 0, i;

	if (sscanf(line, "Node %u, zone %15[^,], type %15s %n", &node, name, type, &at) < 3 || !at)
		return "a line of the free blocks does not name node, zone and type";
	if (numbers(line + at, values, capped) != orders)
		return "a line of the free blocks has not one number for each order";
	zone = zone_of(node, name);
	if (!zone)
		return "there are too many zones";
	zone->has_types = true;
	for (i = 0; i < orders; i++) {
		zone->by_type[i] += values[i];
		zone->is_capped[i] |= capped[i];
		lists->capped += capped[i];
		if (values[i] > lists->longest)
			lists->longest = values[i];
	}
	return NULL;
}

static const char *take_types(char *text, struct free_lists *lists)
{
	unsigned long values[ORDERS];
	bool capped[ORDERS];
	char *line = strstr(text, "Free pages count per migrate type at order");
	const char *wrong;
	int orders;

	if (strncmp(text, "Page block order: ", 18) || !strstr(text, "\nPages per block: "))
		return "it does not start with the pageblock's size";
	if (!line || !strstr(line, "\n\nNumber of blocks type "))
		return "one of its two tables is missing";
	line = strtok(line, "\n");
	orders = numbers(strstr(line, "order") + 5, values, capped);
	if (orders < 1)
		return "its orders are not numbers";
	while ((line = strtok(NULL, "\n")) && !strncmp(line, "Node", 4)) {
		wrong = take_line(line, orders, lists);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *take_totals(char *text, struct free_lists *lists)
{
	char *line, name[16];
	struct zone_lists *zone;
	bool capped[ORDERS];
	unsigned int node;
	int at, i, orders;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		at = 0;
		if (sscanf(line, "Node %u, zone %15s %n", &node, name, &at) < 2 || !at)
			return "/proc/buddyinfo has a line without node and zone";
		zone = zone_of(node, name);
		if (!zone)
			return "there are too many zones";
		orders = numbers(line + at, zone->total, capped);
		for (i = 0; i < orders; i++)
			lists->blocks += zone->total[i];
	}
	return NULL;
}

static bool add_up(void)
{
	const struct zone_lists *zone;
	int i;

	for (zone = zones; zone < zones + zones_known; zone++)
		for (i = 0; i < ORDERS; i++)
			if (zone->is_capped[i] ? zone->by_type[i] > zone->total[i] :
						 zone->by_type[i] != zone->total[i])
				return false;
	return zones_known;
}

const char *look_at_lists(struct free_lists *lists)
{
	static char types[TEXT_SIZE], totals[TEXT_SIZE];
	const char *wrong;
	int try;

	/* Something always runs: two texts of the same moment take a few tries. */
	for (try = 0; try < 50; try++) {
		memset(lists, 0, sizeof(*lists));
		zones_known = 0;
		if (!slurp(PAGETYPEINFO, types, sizeof(types)))
			return "it cannot be read";
		if (!slurp("/proc/buddyinfo", totals, sizeof(totals)))
			return "/proc/buddyinfo cannot be read";
		wrong = take_types(types, lists);
		if (!wrong)
			wrong = take_totals(totals, lists);
		lists->agrees = !wrong && add_up();
		if (wrong || lists->agrees)
			return wrong;
		sleep_ms(5);
	}
	return NULL;
}

size_t read_pagetypeinfo(void)
{
	static char text[TEXT_SIZE];
	size_t length = 0;
	ssize_t got;
	int file;

	file = open(PAGETYPEINFO, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		fail("there is no " PAGETYPEINFO);
	while ((got = read(file, text, sizeof(text))) > 0)
		length += got;
	close(file);
	return length;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void time_reads(const char *state, long reads)
{
	struct free_lists lists;
	uint64_t *times, start;
	const char *wrong;
	size_t length = 0;
	long i;

	wrong = look_at_lists(&lists);
	if (wrong)
		fail(PAGETYPEINFO " is not what it should be: %s", wrong);
	times = calloc(reads, sizeof(*times));
	if (!times)
		fail("no memory for %ld figures", reads);
	read_pagetypeinfo();
	for (i = 0; i < reads; i++) {
		start = now_ns();
		length = read_pagetypeinfo();
		times[i] = now_ns() - start;
	}
	qsort(times, reads, sizeof(*times), compare);
	say("{\"test\":\"read\",\"state\":\"%s\",\"reads\":%ld,\"bytes\":%zu,\"unit\":\"ns\","
	    "\"min\":%llu,\"median\":%llu,\"p99\":%llu,\"max\":%llu,"
	    "\"blocks\":%lu,\"longest\":%lu,\"capped\":%u,\"agrees\":%s,%s}", state, reads, length,
	    (unsigned long long)times[0], (unsigned long long)times[reads / 2],
	    (unsigned long long)times[reads * 99 / 100], (unsigned long long)times[reads - 1],
	    lists.blocks, lists.longest, lists.capped, lists.agrees ? "true" : "false",
	    ask("read n=%ld", reads));
	free(times);
}

void do_read(void)
{
	long reads = option("reads", 200);
	int state;

	if (reads < 1)
		fail("reads=%ld: nothing to measure", reads);
	pin(0);
	for (state = FRESH; state < STATES; state++) {
		bring_into(state);
		time_reads(state_names[state], reads);
	}
	ask("release");
	settle();
	time_reads("released", reads);
}
