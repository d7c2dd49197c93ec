// SPDX-License-Identifier: GPL-2.0-only
/*
 * The oracle: plays a script of page allocator calls on this kernel's own
 * allocator and writes down every answer. docs/reference/oracle-format.md of Freehold
 * describes both files.
 *
 * This file is included at the end of mm/page_alloc.c of a User-Mode Linux
 * kernel, so that the allocator's private functions are in reach. While a
 * script is played nothing else of the kernel runs: the host's signals, which
 * are UML's interrupts, are blocked on the host, the preemption count keeps
 * every cond_resched() from doing anything, and a second CPU spins until it is
 * its turn. The oracle itself allocates nothing meanwhile: its buffers are
 * static and its table of slots is the host's memory, not the guest's.
 */

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/page-isolation.h>
#include <linux/reboot.h>
#include <linux/seq_file.h>
#include <linux/swap.h>
#include <linux/sysctl.h>
#include <linux/utsname.h>
#include <linux/version.h>
#include <os.h>

#define FH_FORMAT	1
#define FH_BEHAVIOUR	1	/* raised whenever the oracle answers differently */

#define FH_SINCE_6_12	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0))
#define FH_SINCE_7_3	(LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0))

#if FH_SINCE_6_12
#define FH_ORDERS	NR_PAGE_ORDERS
#else
#define FH_ORDERS	MAX_ORDER
#endif

#define FH_MOST_CPUS	2
#define FH_MOST_BULK	512
#define FH_NOBODY	U32_MAX
#define FH_OVER		(U32_MAX - 1)

enum fh_kind {
	FH_ALLOC = 1,
	FH_FREE,
	FH_SPLIT,
	FH_BULK,
	FH_DRAIN,
	FH_DRAIN_ALL,
	FH_REFRESH,
	FH_ISOLATE,
	FH_UNDO_ISOLATE,
	FH_CONTIG,
	FH_SET,
	FH_RELAX_BOOST,
	FH_RECLAIM_ACTIVE,
	FH_MARK,
	FH_TEXT,
	FH_STATE,
	FH_TIDY,
};

enum fh_tag {
	FH_W_VALUE = 0x01,
	FH_W_CPU_VALUE,
	FH_W_BLOCK_TYPE,
	FH_W_FREE,
	FH_W_PERCPU,
	FH_W_RESERVED,
	FH_W_LENGTH,
	FH_W_MOVABLE,
	FH_W_USE,
	FH_W_DUMP = 0x0e,
	FH_W_DUMP_END,
	FH_W_ANSWER = 0x10,
	FH_W_REFUSED,
	FH_W_RESULT,
	FH_W_EXTFRAG,
	FH_W_TAKEN,
	FH_W_DRAINED,
	FH_W_PERCPU_NOW,
	FH_W_DIGEST,
	FH_W_TEXT,
	FH_W_MOVED,
	FH_W_MOVED_TO,
	FH_W_RETYPED,
	FH_W_FOREIGN = 0x20,
	FH_W_END = 0x3f,
};

#define FH_VALUES	20
#define FH_CPU_VALUES	9
#define FH_FROM_SLOT	1	/* flag of isolate, undo isolate and contig */
#define FH_FOR_CMA	2	/* flag of contig */
#define FH_PINNED	2	/* flag of mark: looks movable, but cannot be moved */

struct fh_header {
	char magic[8];
	u32 format;
	u32 cpus;
	u64 ops;
	u64 slots;
	u32 cma_blocks;
	u32 zero;
	u64 seed;
	u64 zeroes[2];
};

struct fh_op {
	u8 kind;
	u8 cpu;
	u8 order;
	u8 flags;
	u32 slot;
	u64 argument;
};

/* A slot is one u32: PFN, order, and whether it is marked and in use. */
#define FH_SLOT_PFN	GENMASK(25, 0)
#define FH_SLOT_ORDER	26
#define FH_SLOT_MARKED	BIT(30)
#define FH_SLOT_USED	BIT(31)

static char *fh_script_path;
static char *fh_transcript_path;
static int fh_script = -1;
static int fh_transcript = -1;
static struct fh_header fh_head;
static struct zone *fh_zone;
static u32 *fh_slots;

static struct fh_op fh_in[4096];
static unsigned int fh_in_at, fh_in_len;
static u64 fh_out[16384];
static unsigned int fh_out_len;
static char fh_text[32768] __aligned(8);
static struct page *fh_bulk[FH_MOST_BULK];

static u64 fh_last[FH_VALUES + 1];	/* what was written last of each value */
static const struct fh_op *fh_running;	/* NULL between operations */
static unsigned int fh_allocs;		/* seen within the running operation */
static u64 fh_played;
static const char *fh_broken;		/* why playing stopped early */
static bool fh_playing;
static u32 fh_turn = FH_NOBODY;		/* whose turn it is; orders all of the above */
static u32 fh_ready;
static struct completion fh_done[FH_MOST_CPUS];

const struct seq_operations *freehold_seq_operations(int which);

/*
 * Functions of the host's C library whose names the kernel has for itself, or
 * does not declare.
 */
extern void *fh_host_mmap(void *at, unsigned long bytes, int protection, int flags,
			  int fd, long offset) __asm__("mmap");
extern int fh_host_sigmask(int how, const unsigned long *set, unsigned long *old)
	__asm__("sigprocmask");
extern int fh_host_yield(void) __asm__("sched_yield");

/*
 * alloc_contig_range() wants the LRU caches of all CPUs empty. The kernel makes
 * sure by waiting for RCU and for a work item on each CPU, which never comes
 * while a script is played. The caches were emptied before, and nothing is put
 * into them. page_alloc.c is compiled with this name in place of the real one.
 */
#undef lru_cache_disable
extern void lru_cache_disable(void);
void freehold_lru_cache_disable(void);

void freehold_lru_cache_disable(void)
{
	if (READ_ONCE(fh_playing))
		atomic_inc(&lru_disable_count);
	else
		lru_cache_disable();
}

/* What a person should read goes to standard error: the console is gone by now. */
static __printf(1, 2) void fh_say(const char *format, ...)
{
	static char line[512];
	va_list args;
	int length;

	va_start(args, format);
	length = scnprintf(line, sizeof(line), "freehold oracle: ");
	length += vscnprintf(line + length, sizeof(line) - length, format, args);
	va_end(args);
	length += scnprintf(line + length, sizeof(line) - length, "\n");
	os_write_file(2, line, length);
}

/* ---- the transcript ---- */

static void fh_write(const void *bytes, size_t length)
{
	while (length && !fh_broken) {
		int written = os_write_file(fh_transcript, bytes, min_t(size_t, length, SZ_1M));

		if (written <= 0) {
			fh_broken = "the transcript cannot be written";
			return;
		}
		bytes += written;
		length -= written;
	}
}

static void fh_flush(void)
{
	fh_write(fh_out, fh_out_len * sizeof(*fh_out));
	fh_out_len = 0;
}

static void fh_put_raw(u64 word)
{
	if (fh_out_len == ARRAY_SIZE(fh_out))
		fh_flush();
	fh_out[fh_out_len++] = word;
}

static u64 fh_word(enum fh_tag tag, u16 a, u64 b)
{
	return (u64)tag << 56 | (u64)a << 40 | (b & GENMASK_ULL(39, 0));
}

static void fh_put(enum fh_tag tag, u16 a, u64 b)
{
	fh_put_raw(fh_word(tag, a, b));
}

static void fh_put_result(int error, u64 number)
{
	fh_put(FH_W_RESULT, error < 0 ? -error : 0, number);
}

#include "freehold_oracle_state.c"
#include "freehold_oracle_events.c"
#include "freehold_oracle_calls.c"

/* ---- playing ---- */

/* The next operation, or NULL after the last one. */
static const struct fh_op *fh_next(void)
{
	if (fh_played == fh_head.ops || fh_broken)
		return NULL;
	if (fh_in_at == fh_in_len) {
		int bytes = os_read_file(fh_script, fh_in, sizeof(fh_in));

		/* Whole operations: the script is a file whose length was checked. */
		if (bytes < (int)sizeof(*fh_in) || bytes % sizeof(*fh_in)) {
			fh_broken = "the script cannot be read to its end";
			return NULL;
		}
		fh_in_at = 0;
		fh_in_len = bytes / sizeof(*fh_in);
	}
	return &fh_in[fh_in_at];
}

/* Waits until it is this CPU's turn; false when all is over. */
static bool fh_await_turn(u32 cpu)
{
	unsigned int spins = 0;
	u32 turn;

	/*
	 * A turn is short, so it is worth to wait a little. Where the host has
	 * other work, its scheduler must be told soon, or a turn takes as long
	 * as one of its time slices.
	 *
	 * Pairs with the release in fh_pass_turn().
	 */
	while ((turn = smp_load_acquire(&fh_turn)) != cpu && turn != FH_OVER) {
		cpu_relax();
		if (++spins % 64 == 0)
			fh_host_yield();
	}
	return turn == cpu;
}

static void fh_pass_turn(u32 cpu)
{
	/* Pairs with the acquire in fh_await_turn(). */
	smp_store_release(&fh_turn, cpu);
}

/* Folds what CPUs count for themselves into the zone, and keeps it there. */
static void fh_count_exactly(void)
{
#ifdef CONFIG_SMP
	unsigned int cpu, item;

	for_each_possible_cpu(cpu) {
		struct per_cpu_zonestat *stat = per_cpu_ptr(fh_zone->per_cpu_zonestats, cpu);

		stat->stat_threshold = 0;
		for (item = 0; item < NR_VM_ZONE_STAT_ITEMS; item++) {
			zone_page_state_add(stat->vm_stat_diff[item], fh_zone, item);
			stat->vm_stat_diff[item] = 0;
		}
	}
#endif
}

static void fh_start(void)
{
	static struct {
		char magic[8];
		u32 format;
		u32 behaviour;
		char release[48];
	} head = { .magic = "FHTRANS1", .format = FH_FORMAT, .behaviour = FH_BEHAVIOUR };

	strscpy(head.release, init_utsname()->release, sizeof(head.release));
	fh_write(&head, sizeof(head));
	fh_count_exactly();
	fh_start_tidying();
	WRITE_ONCE(fh_playing, true);
	fh_put_dump(0);
}

static void fh_end(void)
{
	fh_put_dump(2);
	WRITE_ONCE(fh_playing, false);
	if (!fh_broken)
		fh_put(FH_W_END, 0, fh_played);
	fh_flush();
}

/* Nobody leaves before the last word is written: what runs then is not kept out. */
static void fh_play(u32 cpu)
{
	const struct fh_op *op;

	while (fh_await_turn(cpu)) {
		op = fh_next();
		if (op && op->cpu >= fh_head.cpus) {
			fh_broken = "an operation is for a CPU that the script does not use";
			op = NULL;
		}
		if (op && op->cpu == cpu) {
			fh_play_one(op);
			fh_in_at++;
			fh_played++;
		} else if (op) {
			fh_pass_turn(op->cpu);
		} else if (cpu) {
			fh_pass_turn(0);
		} else {
			fh_end();
			fh_pass_turn(FH_OVER);
		}
	}
}

/*
 * Signals of the host that are faults stay open, UML needs them, and so do
 * those with which a person ends the whole thing.
 */
static void fh_block_signals(unsigned long *before)
{
	static const unsigned long open = BIT(1) | BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6) |
					  BIT(7) | BIT(8) | BIT(11) | BIT(15);
	unsigned long mask[16];

	memset(mask, 0xff, sizeof(mask));
	mask[0] &= ~(open >> 1);
	fh_host_sigmask(0, mask, before);
}

/* One CPU's player. */
static int fh_player(void *data)
{
	unsigned long before[16], flags;
	u32 cpu = (unsigned long)data;

	fh_block_signals(before);
	local_irq_save(flags);
	preempt_count_inc();

	if (cpu) {
		/* Pairs with the acquire below: this CPU is out of the way. */
		smp_store_release(&fh_ready, 1);
	} else {
		while (fh_head.cpus > 1 && !smp_load_acquire(&fh_ready))
			fh_host_yield();
		fh_start();
		fh_pass_turn(0);
	}
	fh_play(cpu);

	preempt_count_dec();
	local_irq_restore(flags);
	fh_host_sigmask(2, before, NULL);
	complete(&fh_done[cpu]);
	return 0;
}

/* ---- preparation ---- */

static int fh_read_script(void)
{
	unsigned long long bytes;
	int error;

	error = os_file_size(fh_script_path, &bytes);
	if (!error)
		error = fh_script = os_open_file(fh_script_path, of_read(OPENFLAGS()), 0);
	if (error < 0) {
		fh_say("the script cannot be opened (error %d)", -error);
		return error;
	}
	if (os_read_file(fh_script, &fh_head, sizeof(fh_head)) != sizeof(fh_head) ||
	    memcmp(fh_head.magic, "FHSCRPT1", 8)) {
		fh_say("this is not a script, it does not start with FHSCRPT1");
		return -EINVAL;
	}
	if (fh_head.format != FH_FORMAT) {
		fh_say("the script has format version %u, this oracle reads version %u",
		       fh_head.format, FH_FORMAT);
		return -EINVAL;
	}
	if (bytes - sizeof(fh_head) != fh_head.ops * sizeof(struct fh_op)) {
		fh_say("the script is %llu bytes long, which is not what its %llu operations take",
		       bytes, fh_head.ops);
		return -EINVAL;
	}
	if (!fh_head.cpus || fh_head.cpus > FH_MOST_CPUS || fh_head.cpus != num_online_cpus()) {
		fh_say("the script is for %u CPUs, the kernel runs on %u", fh_head.cpus,
		       num_online_cpus());
		return -EINVAL;
	}
	return 0;
}

static int fh_find_zone(void)
{
	struct zone *zone;

	for_each_populated_zone(zone) {
		if (fh_zone) {
			fh_say("the kernel has more than one zone");
			return -EINVAL;
		}
		fh_zone = zone;
	}
	if (zone_end_pfn(fh_zone) > FH_SLOT_PFN) {
		fh_say("the zone is too large");
		return -EINVAL;
	}
	return 0;
}

static int fh_make_slots(void)
{
	if (!fh_head.slots)
		return 0;
	/* Readable and writable, private and anonymous. */
	fh_slots = fh_host_mmap(NULL, fh_head.slots * sizeof(*fh_slots), 3, 0x22, -1, 0);
	if (fh_slots == (void *)-1L) {
		fh_say("no memory for %llu slots", fh_head.slots);
		return -ENOMEM;
	}
	return 0;
}

/* Makes one pageblock CMA, as if it had been reserved at boot for that. */
static bool fh_make_block_cma(unsigned long first)
{
	struct page *page = pfn_to_page(first);
	unsigned long i;

	if (fh_take_range(first, pageblock_nr_pages, false, GFP_KERNEL | __GFP_NOWARN))
		return false;
	for (i = 1; i < pageblock_nr_pages; i++)
		set_page_count(page + i, 0);
	set_pageblock_migratetype(page, MIGRATE_CMA);
	fh_zone->cma_pages += pageblock_nr_pages;
	__free_pages(page, pageblock_order);
	return true;
}

/* The kernel has the very end for itself, so the last blocks that can be had are taken. */
static int fh_make_cma(void)
{
	unsigned long first = pageblock_start_pfn(zone_end_pfn(fh_zone));
	u32 left = fh_head.cma_blocks;

	while (left && first >= fh_zone->zone_start_pfn + pageblock_nr_pages) {
		first -= pageblock_nr_pages;
		if (get_pageblock_migratetype(pfn_to_page(first)) == MIGRATE_MOVABLE &&
		    fh_make_block_cma(first))
			left--;
	}
	if (left)
		fh_say("%u of %u pageblocks could not be made CMA", left, fh_head.cma_blocks);
	return left ? -EBUSY : 0;
}

static int fh_open_transcript(void)
{
	struct openflags flags = of_trunc(of_create(of_write(OPENFLAGS())));

	fh_transcript = os_open_file(fh_transcript_path, flags, 0644);
	if (fh_transcript < 0)
		fh_say("the transcript cannot be made (error %d)", -fh_transcript);
	return min(fh_transcript, 0);
}

static void fh_run(void)
{
	struct task_struct *players[FH_MOST_CPUS];
	unsigned long cpu;

	for (cpu = 0; cpu < fh_head.cpus; cpu++) {
		init_completion(&fh_done[cpu]);
		players[cpu] = kthread_create_on_cpu(fh_player, (void *)cpu, cpu, "freehold/%u");
		if (IS_ERR(players[cpu])) {
			fh_say("no thread for CPU %lu", cpu);
			return;
		}
	}
	lru_add_drain_all();
	/* The one that waits goes first. */
	for (cpu = fh_head.cpus; cpu-- > 0;)
		wake_up_process(players[cpu]);
	for (cpu = 0; cpu < fh_head.cpus; cpu++)
		wait_for_completion(&fh_done[cpu]);
	if (fh_broken)
		fh_say("stopped at operation %llu: %s", fh_played, fh_broken);
	else
		fh_say("played %llu operations", fh_played);
	os_close_file(fh_transcript);
}

static int __init fh_script_setup(char *path)
{
	fh_script_path = path;
	return 1;
}
__setup("freehold.script=", fh_script_setup);

static int __init fh_transcript_setup(char *path)
{
	fh_transcript_path = path;
	return 1;
}
__setup("freehold.transcript=", fh_transcript_setup);

#include "freehold_oracle_bench.c"

static int __init fh_init(void)
{
	if (fh_bench_wanted) {
		if (!fh_find_zone())
			fh_bench();
		kernel_power_off();
		return 0;
	}
	if (!fh_script_path || !fh_transcript_path)
		return 0;
	if (fh_read_script() || fh_find_zone() || fh_make_slots() || fh_prepare_tidying() ||
	    fh_make_cma())
		goto out;
	if (fh_watch())
		fh_say("the tracepoints cannot be watched");
	else if (!fh_open_transcript())
		fh_run();
out:
	kernel_power_off();
	return 0;
}
late_initcall(fh_init);
