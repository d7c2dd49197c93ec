// SPDX-License-Identifier: GPL-2.0-only
/*
 * This kernel's allocator as a side of `cargo xtask bench peers --linux`.
 * Part of freehold_oracle.c, which includes it.
 *
 * The host asks on standard input and is answered on standard output, a line
 * each, as tools/bench/src/peers/protocol.rs has it; the shapes of work are
 * those of tools/bench/src/peers/shapes.rs. Meanwhile nothing else of the
 * kernel runs, as while a script is played.
 */

#if FH_SINCE_7_3
#include <linux/folio_batch.h>
#else
#include <linux/pagevec.h>
#endif

#define FH_BENCH_BLOCKS	1024	/* of a batch */
#define FH_BENCH_TRIES	3	/* where others took the processor away */
#define FH_BENCH_ROUND	64	/* operations between two looks at the clock */

/* A request that fails at once, as the other sides do. */
#define FH_BENCH_GFP	((GFP_HIGHUSER_MOVABLE | __GFP_NOWARN) & ~__GFP_RECLAIM)

struct fh_shape;

struct fh_plan {
	const struct fh_shape *shape;
	u64 pages;
	u64 times;
	u64 patience_ns;
};

struct fh_sample {
	u64 figures[3];		/* in thousandths */
	u64 digest;
};

struct fh_shape {
	const char *word;
	unsigned int share;	/* every page is taken first, then one of so many freed */
	unsigned int order;
	unsigned int blocks;
	void (*run)(const struct fh_plan *plan, struct fh_sample *sample);
};

static bool fh_bench_wanted;
static const char *fh_bench_wrong;
static u64 fh_bench_random;
static s64 fh_bench_balance;
static u32 *fh_held;		/* PFN and order, as in a slot */
static u64 fh_held_len;
static struct page *fh_places[FH_BENCH_BLOCKS];

extern int fh_host_clock(int clock, long *seconds_and_ns) __asm__("clock_gettime");

static u64 fh_processor_ns(void)
{
	long now[2] = { 0, 0 };

	fh_host_clock(3, now);	/* CLOCK_THREAD_CPUTIME_ID */
	return now[0] * NSEC_PER_SEC + now[1];
}

/* wyrand, as the other sides have it. */
static u64 fh_below(u64 bound)
{
	unsigned __int128 product;

	fh_bench_random += 0x2d358dccaa6c78a5ULL;
	product = (unsigned __int128)fh_bench_random * (fh_bench_random ^ 0x8bb84b93962eacc9ULL);
	return (u64)((unsigned __int128)((u64)product ^ (u64)(product >> 64)) * bound >> 64);
}

static struct page *fh_bench_alloc(unsigned int order)
{
	return alloc_pages_node(0, FH_BENCH_GFP, order);
}

static void fh_hold(struct page *page, unsigned int order)
{
	fh_held[fh_held_len++] = order << FH_SLOT_ORDER | page_to_pfn(page);
}

/* ---- the work ---- */

static void fh_pairs(const struct fh_plan *plan, struct fh_sample *sample)
{
	u64 i, start = os_nsecs();

	for (i = 0; i < plan->times; i++) {
		struct page *page = fh_bench_alloc(0);

		if (!page) {
			fh_bench_wrong = "has no block left";
			return;
		}
		sample->digest += page_to_pfn(page);
		__free_pages(page, 0);
	}
	sample->figures[0] = (os_nsecs() - start) * 1000 / plan->times;
}

static unsigned int fh_alloc_batch(unsigned int order, unsigned int blocks)
{
	unsigned int filled = 0, before;

	memset(fh_places, 0, blocks * sizeof(*fh_places));
	if (order) {
		while (filled < blocks && (fh_places[filled] = fh_bench_alloc(order)))
			filled++;
		return filled;
	}
	do {
		before = filled;
#if FH_SINCE_7_3
		filled = alloc_pages_bulk(FH_BENCH_GFP, blocks, fh_places);
#else
		filled = alloc_pages_bulk_array(FH_BENCH_GFP, blocks, fh_places);
#endif
	} while (filled < blocks && filled != before);
	return filled;
}

/* Single pages go back together, as release_pages() has it. */
static void fh_free_batch(unsigned int order, unsigned int blocks)
{
#if FH_SINCE_6_12
	struct folio_batch batch;

	folio_batch_init(&batch);
#else
	LIST_HEAD(batch);
#endif
	unsigned int i;

	for (i = 0; i < blocks; i++) {
		if (order) {
			__free_pages(fh_places[i], order);
			continue;
		}
		if (!put_page_testzero(fh_places[i]))
			continue;
#if FH_SINCE_6_12
		if (!folio_batch_add(&batch, page_folio(fh_places[i])))
			free_unref_folios(&batch);
#else
		list_add(&fh_places[i]->lru, &batch);
#endif
	}
#if FH_SINCE_6_12
	if (batch.nr)
		free_unref_folios(&batch);
#else
	free_unref_page_list(&batch);
#endif
}

static void fh_batches(const struct fh_plan *plan, struct fh_sample *sample)
{
	unsigned int i, filled, order = plan->shape->order;
	unsigned int blocks = min_t(u64, plan->shape->blocks, plan->pages / 4 >> order);
	u64 count = 0, begin = os_nsecs();

	while (!count || (count * blocks < plan->times && os_nsecs() - begin < plan->patience_ns)) {
		u64 start = os_nsecs();

		filled = fh_alloc_batch(order, blocks);
		sample->figures[0] += os_nsecs() - start;
		for (i = 0; i < filled; i++)
			sample->digest += page_to_pfn(fh_places[i]);
		start = os_nsecs();
		fh_free_batch(order, filled);
		sample->figures[1] += os_nsecs() - start;
		if (filled < blocks) {
			fh_bench_wrong = "has no block left";
			return;
		}
		count++;
	}
	for (i = 0; i < 2; i++)
		sample->figures[i] = sample->figures[i] * 1000 / (count * blocks);
}

static unsigned int fh_mixed(void)
{
	u64 percent = fh_below(100);

	return percent < 90 ? 0 : percent < 98 ? 1 + fh_below(3) : 9;
}

/* Frees a random block and allocates another. */
static void fh_churn(const struct fh_plan *plan, struct fh_sample *sample)
{
	u64 asked[2] = { 0, 0 }, failed[2] = { 0, 0 };
	u64 operations = 0, elapsed = 0, begin = os_nsecs();

	while (operations < plan->times && os_nsecs() - begin < plan->patience_ns) {
		u64 start = os_nsecs();
		unsigned int i;

		for (i = 0; i < FH_BENCH_ROUND; i++) {
			struct page *page;
			unsigned int order;

			if (fh_bench_balance > 0 && fh_held_len) {
				u32 *at = fh_held + fh_below(fh_held_len), held = *at;

				*at = fh_held[--fh_held_len];
				order = fh_slot_order(held);
				__free_pages(fh_slot_page(held), order);
				fh_bench_balance -= 1L << order;
				continue;
			}
			order = fh_mixed();
			asked[order == 9] += !!order;
			page = fh_bench_alloc(order);
			if (page) {
				fh_hold(page, order);
				fh_bench_balance += 1L << order;
			} else {
				failed[order == 9] += !!order;
			}
		}
		operations += FH_BENCH_ROUND;
		elapsed += os_nsecs() - start;
	}
	if (fh_held_len)
		sample->digest = fh_held[fh_held_len - 1] & FH_SLOT_PFN;
	sample->figures[0] = elapsed * 1000 / max(operations, 1ULL);
	sample->figures[1] = failed[0] * 100000 / max(asked[0], 1ULL);
	sample->figures[2] = failed[1] * 100000 / max(asked[1], 1ULL);
}

static void fh_failing(const struct fh_plan *plan, struct fh_sample *sample)
{
	u64 asked = 0, begin = os_nsecs();

	while (asked < plan->times && os_nsecs() - begin < plan->patience_ns) {
		unsigned int i;

		for (i = 0; i < 16; i++) {
			if (fh_bench_alloc(plan->shape->order)) {
				fh_bench_wrong = "has a huge page where there is none";
				return;
			}
		}
		asked += 16;
	}
	sample->figures[0] = (os_nsecs() - begin) * 1000 / max(asked, 1ULL);
}

static const struct fh_shape fh_shapes[] = {
	{ "one-page", 2, 0, 0, fh_pairs },
	{ "batch-0", 2, 0, FH_BENCH_BLOCKS, fh_batches },
	{ "batch-4", 0, 4, FH_BENCH_BLOCKS, fh_batches },
	{ "batch-9", 0, 9, 128, fh_batches },
	{ "churn-fresh", 0, 0, 0, fh_churn },
	{ "churn-aged", 5, 0, 0, fh_churn },
	{ "failing-9", 5, 9, 0, fh_failing },
};

/* ---- talking ---- */

static __printf(1, 2) void fh_answer(const char *format, ...)
{
	static char line[256];
	va_list args;
	int length;

	va_start(args, format);
	length = scnprintf(line, sizeof(line), "= ");
	length += vscnprintf(line + length, sizeof(line) - length, format, args);
	va_end(args);
	length += scnprintf(line + length, sizeof(line) - length, "\n");
	os_write_file(1, line, length);
}

/* Allocates every page, those below the marks too, then frees one of `share` at random. */
static void fh_age(unsigned int share)
{
	struct page *page;
	u64 i, at, kept;

	while ((page = alloc_pages_node(0, FH_BENCH_GFP | __GFP_MEMALLOC, 0)))
		fh_hold(page, 0);
	for (i = fh_held_len; i > 1; i--) {
		at = fh_below(i);
		swap(fh_held[i - 1], fh_held[at]);
	}
	kept = fh_held_len - fh_held_len / share;
	while (fh_held_len > kept)
		__free_pages(fh_slot_page(fh_held[--fh_held_len]), 0);
	drain_local_pages(NULL);
}

static void fh_fill_up(u64 pages)
{
	s64 left = pages;

	while (left > 0) {
		unsigned int order = fh_mixed();
		struct page *page = fh_bench_alloc(order);

		if (!page)
			return;
		fh_hold(page, order);
		left -= 1L << order;
	}
}

/* A kernel is asked for one shape only: its memory is not made new. */
static void fh_bench_prepare(const char *words, struct fh_plan *plan)
{
	char word[16];
	unsigned int i;

	if (plan->shape || sscanf(words, "prepare %15s %llu %llu %llu", word, &plan->pages,
				  &plan->times, &plan->patience_ns) != 4 || !plan->times) {
		fh_answer("wrong this is not asked of a kernel, or not now");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(fh_shapes); i++)
		if (!strcmp(word, fh_shapes[i].word))
			plan->shape = fh_shapes + i;
	if (!plan->shape) {
		fh_answer("cannot");
		return;
	}
	if (plan->shape->share)
		fh_age(plan->shape->share);
	else if (plan->shape->run == fh_churn)
		fh_fill_up(plan->pages * 4 / 5);
	fh_answer("prepared");
}

/* A sample; taken again where others took this kernel's processor away. */
static void fh_bench_run(const struct fh_plan *plan)
{
	struct fh_sample best = { { 0 } };
	u64 least = U64_MAX;
	int try;

	for (try = 0; try < FH_BENCH_TRIES && !fh_bench_wrong; try++) {
		struct fh_sample sample = { { 0 } };
		u64 start = os_nsecs(), start_ns = fh_processor_ns(), took, had, lost;

		plan->shape->run(plan, &sample);
		took = os_nsecs() - start;
		had = min(fh_processor_ns() - start_ns, took);
		lost = (took - had) * 1000 / max(took, 1ULL);
		if (lost < least) {
			least = lost;
			best = sample;
		}
		if (lost < 10)
			break;
	}
	if (test_taint(TAINT_BAD_PAGE))
		fh_bench_wrong = "has found a page that is not as it should be";
	if (fh_bench_wrong)
		fh_answer("wrong %s", fh_bench_wrong);
	else
		fh_answer("figures %llu %llu %llu %016llx", best.figures[0], best.figures[1],
			  best.figures[2], best.digest);
}

static void fh_greet(void)
{
	static const char newline = '\n';

	/* What the kernel said before may have no end. */
	os_write_file(1, &newline, 1);
	fh_answer("side 1");
	fh_answer("name Linux %s", init_utsname()->release);
	fh_answer("metadata %zu", sizeof(struct page) * 1000);
	fh_answer("note under User-Mode Linux, a kernel %s, on one CPU, %lu pages",
		  IS_ENABLED(CONFIG_SMP) ? "for many CPUs" : "for one CPU, so without locks",
		  zone_managed_pages(fh_zone));
	fh_answer("note interrupts are off all the time, so that to turn them off costs nothing; single pages of a batch go by alloc_pages_bulk and free_unref_%s",
		  FH_SINCE_6_12 ? "folios" : "page_list");
	fh_answer("note a free of order 9 looks at 512 struct pages, which belong to the block");
	fh_answer("ready");
}

/* One line of the host's; false at the end. */
static bool fh_hear(char *line, unsigned int room)
{
	unsigned int length = 0;

	while (length < room - 1) {
		int got = os_read_file(0, line + length, 1);

		if (got == -EINTR)
			continue;
		if (got != 1)
			return false;
		if (line[length] == '\n')
			break;
		length++;
	}
	line[length] = '\0';
	return true;
}

static void fh_bench(void)
{
	unsigned long before[16], flags;
	struct fh_plan plan = { NULL };
	char line[96];

	/* Readable and writable, private and anonymous. */
	fh_held = fh_host_mmap(NULL, fh_zone->spanned_pages * sizeof(*fh_held), 3, 0x22, -1, 0);
	if (fh_held == (void *)-1L) {
		fh_say("no memory for %lu blocks", fh_zone->spanned_pages);
		return;
	}
	fh_bench_random = 7;
	lru_add_drain_all();
	fh_block_signals(before);
	/* To turn interrupts off and on takes system calls of the host where UML is for many CPUs. */
	local_irq_save(flags);
	preempt_count_inc();
	fh_greet();
	while (fh_hear(line, sizeof(line))) {
		if (plan.shape && !strcmp(line, "run"))
			fh_bench_run(&plan);
		else
			fh_bench_prepare(line, &plan);
	}
	preempt_count_dec();
	local_irq_restore(flags);
	fh_host_sigmask(2, before, NULL);
}

static int __init fh_bench_setup(char *rest)
{
	fh_bench_wanted = true;
	return 1;
}
__setup("freehold.bench", fh_bench_setup);
