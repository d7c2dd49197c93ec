// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the page allocator costs, measured by commands from user space.
 *
 * A command written to the debugfs file freehold_bench is a word and options,
 * and runs in a thread on the CPU asked for; what is read from the same open
 * file afterwards is one JSON object.
 *
 *   pagealloc order= n= ms=      n blocks allocated one after the other, then
 *                                freed: ns a block, over so many ms
 *   pairs order= n=              one block allocated, then freed
 *   batches order= n= batch=     so many blocks allocated, then freed
 *   refill n=                    a page from an empty per-CPU list
 *   drain n= batch=              so many pages of a per-CPU list given back
 *   watermark order= n= batch=   so many watermark checks without the lock
 *   read n=                      /proc/pagetypeinfo opened, read and closed
 *   shuffle order= type= blocks= seed=
 *                                that many free blocks that cannot merge, in
 *                                random order; their buddies stay allocated
 *   release                      frees what shuffle kept
 *   settle                       empties the lists of all CPUs
 *
 * All of them take cpu=, but read, which runs where it is asked for: a thread
 * of the kernel's own need not see any file. Nothing here needs more than the allocator's public
 * functions, so that every kernel can be measured the same way.
 */

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#ifdef CONFIG_ARM64
#include <asm/sysreg.h>
#endif

#ifdef CONFIG_UML
#include <os.h>

extern int fb_host_clock(int clock, long *seconds_and_ns) __asm__("clock_gettime");
#endif

#define FB_ANSWER_SIZE	2048
#define FB_COMMAND_SIZE	256
#define FB_MAX_SAMPLES	65536
#define FB_MAX_BATCH	1024

/* Requests that must not sleep and must not wake anybody. */
#define FB_QUIET(gfp)	(((gfp) | __GFP_NOWARN) & ~__GFP_RECLAIM)

struct fb_request {
	u64 order;
	u64 n;
	u64 ms;
	u64 batch;
	u64 blocks;
	u64 seed;
	u64 cpu;
	gfp_t gfp;
	const struct fb_command *command;

	struct completion done;
	size_t length;
	char answer[FB_ANSWER_SIZE];
};

struct fb_command {
	const char *word;
	int (*run)(struct fb_request *request);
	bool by_asker;
};

/* One of the two halves of a measurement, in ns or ticks. */
struct fb_samples {
	u32 *values;
	u64 count;
};

static DEFINE_MUTEX(fb_kept_lock);
static LIST_HEAD(fb_kept);		/* by page->lru, the order in page->private */
static unsigned long fb_kept_blocks;

static __printf(2, 3) void fb_say(struct fb_request *request, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	request->length += vscnprintf(request->answer + request->length,
				      FB_ANSWER_SIZE - request->length, format, args);
	va_end(args);
}

/* ---- time ---- */

static u64 fb_now_ns(void)
{
#ifdef CONFIG_UML
	/* The host's clock as it is: the kernel's own has steps of 256 ns there. */
	return os_nsecs();
#else
	return ktime_get_ns();
#endif
}

/*
 * On real x86 and arm64 the cycle counter: under an emulator that counts
 * instructions it counts those. Elsewhere nanoseconds.
 */
#if defined(CONFIG_X86)
#define FB_UNIT	"ticks"
static u64 fb_now(void)
{
	return get_cycles();
}

static void fb_start_clock(void)
{
}
#elif defined(CONFIG_ARM64)
#define FB_UNIT	"ticks"
static u64 fb_now(void)
{
	isb();
	return read_sysreg(pmccntr_el0);
}

/* On the calling CPU; all three registers are the performance monitor's. */
static void fb_start_clock(void)
{
	write_sysreg(0, pmccfiltr_el0);
	write_sysreg(1UL << 31, pmcntenset_el0);
	write_sysreg(1 | 1 << 6, pmcr_el0);
	isb();
}
#else
#define FB_UNIT	"ns"
static u64 fb_now(void)
{
	return fb_now_ns();
}

static void fb_start_clock(void)
{
}
#endif

/* The least that two looks at the clock are apart. */
static u64 fb_clock_cost(void)
{
	u64 least = U64_MAX;
	int i;

	for (i = 0; i < 1000; i++) {
		u64 start = fb_now();

		least = min(least, fb_now() - start);
	}
	return least;
}

static int fb_compare(const void *a, const void *b)
{
	u32 left = *(const u32 *)a, right = *(const u32 *)b;

	return left < right ? -1 : left > right;
}

/* In thousandths of the unit, for each of the operations a sample holds. */
static void fb_say_part(struct fb_request *request, const char *name, u64 sum, u64 operations)
{
	u64 rest, whole = div64_u64_rem(div64_u64(sum * 1000, operations), 1000, &rest);

	fb_say(request, "\"%s\":%llu.%03llu", name, whole, rest);
}

static void fb_say_samples(struct fb_request *request, const char *name,
			   struct fb_samples *samples, u64 operations)
{
	u64 sum = 0, i, count = samples->count;
	u32 *values = samples->values;

	sort(values, count, sizeof(*values), fb_compare, NULL);
	for (i = 0; i < count; i++)
		sum += values[i];
	fb_say(request, ",\"%s\":{", name);
	fb_say_part(request, "min", values[0], operations);
	fb_say(request, ",");
	fb_say_part(request, "median", values[count / 2], operations);
	fb_say(request, ",");
	fb_say_part(request, "mean", sum, operations * count);
	fb_say(request, ",");
	fb_say_part(request, "p99", values[div64_u64(count * 99, 100)], operations);
	fb_say(request, ",");
	fb_say_part(request, "max", values[count - 1], operations);
	fb_say(request, "}");
}

static void fb_free_samples(struct fb_samples samples[2])
{
	kvfree(samples[0].values);
	kvfree(samples[1].values);
}

static int fb_get_samples(struct fb_request *request, struct fb_samples samples[2])
{
	int i;

	request->n = clamp_t(u64, request->n, 1, FB_MAX_SAMPLES);
	memset(samples, 0, 2 * sizeof(*samples));
	for (i = 0; i < 2; i++) {
		samples[i].values = kvcalloc(request->n, sizeof(u32), GFP_KERNEL);
		if (!samples[i].values) {
			fb_free_samples(samples);
			return -ENOMEM;
		}
	}
	return 0;
}

static void fb_add(struct fb_samples *samples, u64 value, u64 clock)
{
	value -= min(value, clock);
	samples->values[samples->count++] = min_t(u64, value, U32_MAX);
}

/*
 * What this CPU has really run, where it is a thread of a host that may take
 * it away; a CPU that spins for a lock runs.
 */
static u64 fb_ran_ns(void)
{
#ifdef CONFIG_UML
	long now[2] = { 0, 0 };

	fb_host_clock(3, now);	/* CLOCK_THREAD_CPUTIME_ID */
	return now[0] * NSEC_PER_SEC + now[1];
#else
	return fb_now_ns();
#endif
}

/* ---- allocating and freeing ---- */

static unsigned int fb_take(struct page **pages, unsigned int n, gfp_t gfp, unsigned int order)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		pages[i] = alloc_pages(gfp, order);
		if (!pages[i])
			break;
	}
	return i;
}

static void fb_give(struct page **pages, unsigned int n, unsigned int order)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		__free_pages(pages[i], order);
}

struct fb_running {
	u64 sum;
	u64 squares;
	u64 least;
	u64 most;
};

static void fb_run_on(struct fb_running *running, u64 value)
{
	running->sum += value;
	running->squares += value * value;
	running->least = min(running->least, value);
	running->most = max(running->most, value);
}

static void fb_say_running(struct fb_request *request, const char *name,
			   const struct fb_running *running, u64 rounds, u64 blocks)
{
	u64 mean = div64_u64(running->sum, rounds);
	u64 variance = div64_u64(running->squares, rounds);

	variance -= min(variance, mean * mean);
	fb_say(request, ",\"%s\":{", name);
	fb_say_part(request, "min", running->least, blocks);
	fb_say(request, ",");
	fb_say_part(request, "mean", running->sum, rounds * blocks);
	fb_say(request, ",");
	fb_say_part(request, "stddev", int_sqrt64(variance), blocks);
	fb_say(request, ",");
	fb_say_part(request, "max", running->most, blocks);
	fb_say(request, "}");
}

static int fb_pagealloc(struct fb_request *request)
{
	struct fb_running alloc = { .least = U64_MAX }, free = { .least = U64_MAX };
	unsigned int n = clamp_t(u64, request->n, 1, FB_MAX_BATCH);
	unsigned int order = request->order;
	u64 rounds = 0, begin, end, started, ran;
	struct page **pages;

	pages = kcalloc(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	ran = fb_ran_ns();
	started = fb_now_ns();
	end = started + clamp_t(u64, request->ms, 1, 60000) * NSEC_PER_MSEC;
	do {
		u64 start = fb_now_ns(), between;
		unsigned int got = fb_take(pages, n, request->gfp, order);

		between = fb_now_ns();
		fb_give(pages, got, order);
		begin = fb_now_ns();
		if (got < n) {
			kfree(pages);
			return -ENOMEM;
		}
		rounds++;
		fb_run_on(&alloc, between - start);
		fb_run_on(&free, begin - between);
		cond_resched();
	} while (begin < end);
	kfree(pages);
	started = fb_now_ns() - started;
	ran = min(fb_ran_ns() - ran, started);
	fb_say(request, "\"unit\":\"ns\",\"order\":%u,\"n\":%u,\"rounds\":%llu", order, n, rounds);
	/* In thousandths of the time. */
	fb_say(request, ",\"lost\":%llu", div64_u64((started - ran) * 1000, started));
	fb_say_running(request, "alloc", &alloc, rounds, n);
	fb_say_running(request, "free", &free, rounds, n);
	return 0;
}

/* One window: interrupts are off, so that only the allocator is in it. */
static int fb_window(struct fb_request *request, struct page **pages, unsigned int batch,
		     struct fb_samples samples[2], u64 clock)
{
	u64 start, between, end;
	unsigned long flags;
	unsigned int got;

	local_irq_save(flags);
	start = fb_now();
	got = fb_take(pages, batch, FB_QUIET(request->gfp), request->order);
	between = fb_now();
	fb_give(pages, got, request->order);
	end = fb_now();
	local_irq_restore(flags);
	if (got < batch)
		return -ENOMEM;
	fb_add(&samples[0], between - start, clock);
	fb_add(&samples[1], end - between, clock);
	return 0;
}

/*
 * Returns a block beside which another one is free, so that a single block is
 * taken from the list of its own order and goes back to it: whether it has to
 * be split would be chance. NULL for single pages, which have lists of a CPU's.
 */
static struct page *fb_neighbour(struct fb_request *request)
{
	gfp_t gfp = FB_QUIET(request->gfp);
	struct page *free, *kept;

	if (!request->order)
		return NULL;
	free = alloc_pages(gfp, request->order);
	kept = alloc_pages(gfp, request->order);
	if (free)
		__free_pages(free, request->order);
	return kept;
}

static int fb_windows(struct fb_request *request, unsigned int batch)
{
	struct page **pages, *neighbour;
	struct fb_samples samples[2];
	u64 clock, i;
	int err;

	err = fb_get_samples(request, samples);
	if (err)
		return err;
	pages = kcalloc(batch, sizeof(*pages), GFP_KERNEL);
	err = pages ? 0 : -ENOMEM;
	clock = fb_clock_cost();
	neighbour = batch == 1 ? fb_neighbour(request) : NULL;
	/* What is there when it begins is not what it measures. */
	for (i = 0; i < 64 && !err; i++) {
		samples[0].count = 0;
		samples[1].count = 0;
		err = fb_window(request, pages, batch, samples, clock);
	}
	samples[0].count = 0;
	samples[1].count = 0;
	for (i = 0; i < request->n && !err; i++) {
		err = fb_window(request, pages, batch, samples, clock);
		if (i % 16 == 0)
			cond_resched();
	}
	if (!err) {
		fb_say(request, "\"unit\":\"" FB_UNIT "\",\"order\":%llu,\"batch\":%u,\"n\":%llu",
		       request->order, batch, request->n);
		fb_say_samples(request, "alloc", &samples[0], batch);
		fb_say_samples(request, "free", &samples[1], batch);
	}
	if (neighbour)
		__free_pages(neighbour, request->order);
	kfree(pages);
	fb_free_samples(samples);
	return err;
}

static int fb_pairs(struct fb_request *request)
{
	return fb_windows(request, 1);
}

static int fb_batches(struct fb_request *request)
{
	return fb_windows(request, clamp_t(u64, request->batch, 1, FB_MAX_BATCH));
}

/* A page taken from an empty list, then that list emptied again. */
static int fb_refill(struct fb_request *request)
{
	struct fb_samples samples[2];
	u64 clock = fb_clock_cost(), i;
	int err = fb_get_samples(request, samples);

	if (err)
		return err;
	for (i = 0; i < request->n && !err; i++) {
		u64 start, between, end;
		unsigned long flags;
		struct page *page;

		local_irq_save(flags);
		drain_local_pages(NULL);
		start = fb_now();
		page = alloc_pages(FB_QUIET(request->gfp), 0);
		between = fb_now();
		drain_local_pages(NULL);
		end = fb_now();
		local_irq_restore(flags);
		if (!page) {
			err = -ENOMEM;
			break;
		}
		__free_pages(page, 0);
		fb_add(&samples[0], between - start, clock);
		fb_add(&samples[1], end - between, clock);
		cond_resched();
	}
	if (!err) {
		fb_say(request, "\"unit\":\"" FB_UNIT "\",\"n\":%llu", request->n);
		fb_say_samples(request, "refill", &samples[0], 1);
		fb_say_samples(request, "drain", &samples[1], 1);
	}
	fb_free_samples(samples);
	return err;
}

/* Pages freed one by one onto a list that was empty, then drained: per page. */
static int fb_drain(struct fb_request *request)
{
	unsigned int batch = clamp_t(u64, request->batch, 1, FB_MAX_BATCH);
	struct fb_samples samples[2];
	struct page **pages;
	u64 clock = fb_clock_cost(), i;
	int err = fb_get_samples(request, samples);

	if (err)
		return err;
	pages = kcalloc(batch, sizeof(*pages), GFP_KERNEL);
	err = pages ? 0 : -ENOMEM;
	for (i = 0; i < request->n && !err; i++) {
		u64 start, between, end;
		unsigned long flags;
		unsigned int got;

		local_irq_save(flags);
		got = fb_take(pages, batch, FB_QUIET(request->gfp), 0);
		drain_local_pages(NULL);
		start = fb_now();
		fb_give(pages, got, 0);
		between = fb_now();
		drain_local_pages(NULL);
		end = fb_now();
		local_irq_restore(flags);
		err = got < batch ? -ENOMEM : 0;
		fb_add(&samples[0], between - start, clock);
		fb_add(&samples[1], end - between, clock);
		cond_resched();
	}
	if (!err) {
		fb_say(request, "\"unit\":\"" FB_UNIT "\",\"batch\":%u,\"n\":%llu",
		       batch, request->n);
		fb_say_samples(request, "free", &samples[0], batch);
		fb_say_samples(request, "drain", &samples[1], batch);
	}
	kfree(pages);
	fb_free_samples(samples);
	return err;
}

/* The zone that a page of the wanted kind is taken from; NULL if there is none. */
static struct zone *fb_zone(struct fb_request *request)
{
	struct page *page = alloc_pages(FB_QUIET(request->gfp), 0);
	struct zone *zone;

	if (!page)
		return NULL;
	zone = page_zone(page);
	__free_pages(page, 0);
	return zone;
}

/* Checks as every request for a block of that order makes one: per check. */
static int fb_watermark(struct fb_request *request)
{
	unsigned int batch = clamp_t(u64, request->batch, 1, FB_MAX_BATCH), order = request->order;
	struct zone *zone = fb_zone(request);
	struct fb_samples samples[2];
	u64 clock = fb_clock_cost(), i, passed = 0;
	int err;

	if (!zone)
		return -ENOMEM;
	err = fb_get_samples(request, samples);
	if (err)
		return err;
	for (i = 0; i < request->n; i++) {
		unsigned long flags;
		unsigned int j;
		u64 start, end;

		local_irq_save(flags);
		start = fb_now();
		for (j = 0; j < batch; j++)
			passed += zone_watermark_ok(zone, order, low_wmark_pages(zone),
						    zone_idx(zone), 0);
		end = fb_now();
		local_irq_restore(flags);
		fb_add(&samples[0], end - start, clock);
		cond_resched();
	}
	fb_say(request, "\"unit\":\"" FB_UNIT "\",\"order\":%u,\"batch\":%u,\"n\":%llu,\"passed\":%llu",
	       order, batch, request->n, passed);
	fb_say_samples(request, "check", &samples[0], batch);
	fb_free_samples(samples);
	return 0;
}

/* ---- reading ---- */

static int fb_read_file(char *text, size_t size)
{
	struct file *file = filp_open("/proc/pagetypeinfo", O_RDONLY, 0);
	ssize_t got;
	loff_t at = 0;

	if (IS_ERR(file))
		return PTR_ERR(file);
	do {
		got = kernel_read(file, text, size, &at);
	} while (got > 0);
	filp_close(file, NULL);
	return got;
}

/* From inside, so that what it costs to call the kernel is left out. */
static int fb_read_often(struct fb_request *request)
{
	struct fb_samples samples[2];
	char *text;
	u64 i;
	int err;

	err = fb_get_samples(request, samples);
	if (err)
		return err;
	text = kmalloc(PAGE_SIZE, GFP_KERNEL);
	err = text ? 0 : -ENOMEM;
	for (i = 0; i < request->n && !err; i++) {
		u64 start = fb_now_ns();

		err = fb_read_file(text, PAGE_SIZE);
		fb_add(&samples[0], fb_now_ns() - start, 0);
		cond_resched();
	}
	if (!err) {
		fb_say(request, "\"n\":%llu", request->n);
		fb_say_samples(request, "inside", &samples[0], 1);
	}
	kfree(text);
	fb_free_samples(samples);
	return err;
}

/* ---- free lists ---- */

static void fb_keep(struct page *page, unsigned int order)
{
	set_page_private(page, order);
	list_add(&page->lru, &fb_kept);
	fb_kept_blocks++;
}

/*
 * Of two buddies that are both at hand the second one goes to the front of the
 * table, to be freed; all others are kept.
 */
static u64 fb_choose(u32 *pfns, u64 count, unsigned int order)
{
	u64 i, chosen = 0;

	sort(pfns, count, sizeof(*pfns), fb_compare, NULL);
	for (i = 0; i < count; i++) {
		bool is_pair = i + 1 < count && (pfns[i] ^ pfns[i + 1]) == 1U << order;

		fb_keep(pfn_to_page(pfns[i]), order);
		if (is_pair)
			pfns[chosen++] = pfns[++i];
	}
	return chosen;
}

static int fb_shuffle(struct fb_request *request)
{
	unsigned int order = request->order;
	u64 i, got = 0, wanted = min_t(u64, request->blocks, 1UL << 24) * 2;
	struct rnd_state random;
	u32 *pfns;

	pfns = kvcalloc(wanted, sizeof(*pfns), GFP_KERNEL);
	if (!pfns)
		return -ENOMEM;
	mutex_lock(&fb_kept_lock);
	while (got < wanted) {
		struct page *page = alloc_pages(FB_QUIET(request->gfp), order);

		if (!page)
			break;
		pfns[got++] = page_to_pfn(page);
		if (got % 256 == 0)
			cond_resched();
	}
	got = fb_choose(pfns, got, order);
	prandom_seed_state(&random, request->seed);
	for (i = got; i > 1; i--) {
		u32 other = prandom_u32_state(&random) % (u32)i;

		swap(pfns[i - 1], pfns[other]);
	}
	for (i = 0; i < got; i++) {
		__free_pages(pfn_to_page(pfns[i]), order);
		if (i % 256 == 0)
			cond_resched();
	}
	drain_local_pages(NULL);
	fb_say(request, "\"order\":%u,\"free\":%llu,\"kept\":%lu", order, got, fb_kept_blocks);
	mutex_unlock(&fb_kept_lock);
	kvfree(pfns);
	return 0;
}

static int fb_release(struct fb_request *request)
{
	struct page *page, *next;

	mutex_lock(&fb_kept_lock);
	fb_say(request, "\"released\":%lu", fb_kept_blocks);
	list_for_each_entry_safe(page, next, &fb_kept, lru) {
		unsigned int order = page_private(page);

		list_del(&page->lru);
		set_page_private(page, 0);
		__free_pages(page, order);
		if (fb_kept_blocks-- % 256 == 0)
			cond_resched();
	}
	drain_local_pages(NULL);
	mutex_unlock(&fb_kept_lock);
	return 0;
}

static void fb_drain_here(struct work_struct *work)
{
	drain_local_pages(NULL);
}

static int fb_settle(struct fb_request *request)
{
	int err = schedule_on_each_cpu(fb_drain_here);

	if (err)
		return err;
	fb_say(request, "\"settled\":true");
	return 0;
}

/* ---- talking ---- */

static const gfp_t fb_types[] = {
	GFP_KERNEL,
	GFP_KERNEL | __GFP_RECLAIMABLE,
	GFP_HIGHUSER_MOVABLE,
};

static const struct fb_command fb_commands[] = {
	{ .word = "pagealloc", .run = fb_pagealloc },
	{ .word = "pairs", .run = fb_pairs },
	{ .word = "batches", .run = fb_batches },
	{ .word = "refill", .run = fb_refill },
	{ .word = "drain", .run = fb_drain },
	{ .word = "watermark", .run = fb_watermark },
	{ .word = "read", .run = fb_read_often, .by_asker = true },
	{ .word = "shuffle", .run = fb_shuffle },
	{ .word = "release", .run = fb_release },
	{ .word = "settle", .run = fb_settle },
};

static const struct {
	const char *name;
	size_t offset;
} fb_options[] = {
	{ "order", offsetof(struct fb_request, order) },
	{ "n", offsetof(struct fb_request, n) },
	{ "ms", offsetof(struct fb_request, ms) },
	{ "batch", offsetof(struct fb_request, batch) },
	{ "blocks", offsetof(struct fb_request, blocks) },
	{ "seed", offsetof(struct fb_request, seed) },
	{ "cpu", offsetof(struct fb_request, cpu) },
};

static int fb_parse_type(struct fb_request *request, const char *value)
{
	static const char * const names[] = { "unmovable", "reclaimable", "movable" };
	int i = match_string(names, ARRAY_SIZE(names), value);

	if (i < 0)
		return -EINVAL;
	request->gfp = fb_types[i];
	return 0;
}

static int fb_parse_option(struct fb_request *request, char *name)
{
	char *value = strchr(name, '=');
	int i;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(name, "type"))
		return fb_parse_type(request, value);
	for (i = 0; i < ARRAY_SIZE(fb_options); i++)
		if (!strcmp(name, fb_options[i].name))
			return kstrtou64(value, 0, (u64 *)((char *)request + fb_options[i].offset));
	return -EINVAL;
}

static int fb_parse(struct fb_request *request, char *text)
{
	char *word = strsep(&text, " ");
	int i, err;

	for (i = 0; i < ARRAY_SIZE(fb_commands); i++)
		if (!strcmp(word, fb_commands[i].word))
			request->command = fb_commands + i;
	if (!request->command)
		return -EINVAL;
	request->gfp = GFP_KERNEL | __GFP_NOWARN;
	while ((word = strsep(&text, " "))) {
		err = *word ? fb_parse_option(request, word) : 0;
		if (err)
			return err;
	}
	if (request->order > MAX_PAGE_ORDER || request->cpu >= nr_cpu_ids ||
	    !cpu_online(request->cpu))
		return -ERANGE;
	return 0;
}

static int fb_answer(void *data)
{
	struct fb_request *request = data;
	int err;

	fb_start_clock();
	fb_say(request, "{");
	err = request->command->run(request);
	if (err) {
		request->length = 0;
		fb_say(request, "{\"error\":\"%s: %s\"", request->command->word,
		       err == -ENOMEM ? "memory ran out" : "does not work here");
	}
	fb_say(request, "}\n");
	complete(&request->done);
	return 0;
}

static int fb_open(struct inode *inode, struct file *file)
{
	struct fb_request *request = kzalloc(sizeof(*request), GFP_KERNEL);

	file->private_data = request;
	return request ? 0 : -ENOMEM;
}

static int fb_close(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static ssize_t fb_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct fb_request *request = file->private_data;
	char text[FB_COMMAND_SIZE];
	struct task_struct *task;
	int err;

	if (size >= sizeof(text))
		return -E2BIG;
	if (copy_from_user(text, from, size))
		return -EFAULT;
	text[size] = '\0';
	memset(request, 0, sizeof(*request));
	init_completion(&request->done);
	err = fb_parse(request, strim(text));
	if (err)
		return err;
	if (request->command->by_asker) {
		fb_answer(request);
		return size;
	}
	task = kthread_run_on_cpu(fb_answer, request, request->cpu, "freehold_bench/%u");
	if (IS_ERR(task))
		return PTR_ERR(task);
	/* Long, and no reason to call it hung. */
	wait_for_completion_state(&request->done, TASK_IDLE);
	return size;
}

static ssize_t fb_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	struct fb_request *request = file->private_data;

	return simple_read_from_buffer(to, size, at, request->answer, request->length);
}

static const struct file_operations fb_file = {
	.owner = THIS_MODULE,
	.open = fb_open,
	.release = fb_close,
	.write = fb_write,
	.read = fb_read,
	.llseek = noop_llseek,
};

static int __init fb_init(void)
{
	debugfs_create_file("freehold_bench", 0600, NULL, NULL, &fb_file);
	return 0;
}
late_initcall(fb_init);
