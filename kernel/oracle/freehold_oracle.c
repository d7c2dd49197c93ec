// SPDX-License-Identifier: GPL-2.0-only
/*
 * The oracle: plays a script of page allocator calls on this kernel's own
 * allocator and writes down every answer. docs/oracle-format.md of Freehold
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
	FH_W_FOREIGN = 0x20,
	FH_W_END = 0x3f,
};

#define FH_VALUES	20
#define FH_CPU_VALUES	9
#define FH_FROM_SLOT	1	/* flag of isolate, undo isolate and contig */
#define FH_FOR_CMA	2	/* flag of contig */

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

/* ---- the state ---- */

/* Where the words of the state go: into the transcript, or into a digest. */
struct fh_sink {
	bool digesting;
	u64 digest;
};

static void fh_sink_put(struct fh_sink *sink, enum fh_tag tag, u16 a, u64 b)
{
	u64 mixed;

	if (!sink->digesting) {
		fh_put(tag, a, b);
		return;
	}
	mixed = (sink->digest ^ fh_word(tag, a, b)) * 0x9e3779b97f4a7c15ULL;
	sink->digest = mixed ^ mixed >> 32;
}

static u64 fh_zone_type(void)
{
	switch (zone_idx(fh_zone)) {
#ifdef CONFIG_ZONE_DMA
	case ZONE_DMA:
		return 0;
#endif
#ifdef CONFIG_ZONE_DMA32
	case ZONE_DMA32:
		return 1;
#endif
#ifdef CONFIG_HIGHMEM
	case ZONE_HIGHMEM:
		return 3;
#endif
	case ZONE_MOVABLE:
		return 4;
	default:
		return 2;
	}
}

static u64 fh_flags(void)
{
	u64 flags = 0;

	if (test_bit(ZONE_BOOSTED_WATERMARK, &fh_zone->flags))
		flags |= 1;
	if (test_bit(ZONE_RECLAIM_ACTIVE, &fh_zone->flags))
		flags |= 2;
#if FH_SINCE_6_12
	if (test_bit(ZONE_BELOW_HIGH, &fh_zone->flags))
		flags |= 4;
#endif
	return flags;
}

static u64 fh_value(unsigned int field)
{
	switch (field) {
	case 1: return fh_zone->zone_start_pfn;
	case 2: return fh_zone->spanned_pages;
	case 3: return fh_zone->present_pages;
	case 4: return zone_managed_pages(fh_zone);
	case 5: return pageblock_order;
	case 6: return FH_ORDERS - 1;
	case 7: return fh_zone->_watermark[WMARK_MIN];
	case 8: return fh_zone->_watermark[WMARK_LOW];
	case 9: return fh_zone->_watermark[WMARK_HIGH];
	case 10: return fh_zone->watermark_boost;
	case 11: return fh_zone->nr_reserved_highatomic;
#if FH_SINCE_6_12
	case 12: return fh_zone->nr_free_highatomic;
#endif
	case 13: return zone_page_state(fh_zone, NR_FREE_PAGES);
	case 14: return zone_page_state(fh_zone, NR_FREE_CMA_PAGES);
	case 15: return fh_flags();
	case 16: return watermark_boost_factor;
	case 17: return fh_zone_type();
	case 18: return num_online_cpus();
	case 19: return fh_zone->nr_isolate_pageblock;
	case 20: return fh_zone->lowmem_reserve[zone_idx(fh_zone)];
	default: return 0;
	}
}

static void fh_sink_value(struct fh_sink *sink, unsigned int field)
{
	u64 value = fh_value(field);

	if (!sink->digesting)
		fh_last[field] = value;
	fh_sink_put(sink, FH_W_VALUE, field, value);
}

static struct per_cpu_pages *fh_pcp(unsigned int cpu)
{
	return per_cpu_ptr(fh_zone->per_cpu_pageset, cpu);
}

static void fh_sink_cpu(struct fh_sink *sink, unsigned int cpu)
{
	struct per_cpu_pages *pcp = fh_pcp(cpu);
	u64 values[FH_CPU_VALUES + 1] = { 0, pcp->count, pcp->high };
	unsigned int field;

	values[5] = pcp->batch;
#if FH_SINCE_6_12
	values[3] = pcp->high_min;
	values[4] = pcp->high_max;
	values[6] = pcp->flags;
	values[7] = pcp->alloc_factor;
	values[8] = pcp->free_count;
#else
	values[3] = pcp->high;
	values[4] = pcp->high;
	values[9] = pcp->free_factor;
#endif
	for (field = 1; field <= FH_CPU_VALUES; field++)
		fh_sink_put(sink, FH_W_CPU_VALUE, cpu << 8 | field, values[field]);
}

static u64 fh_recorded_type(struct page *page)
{
#if FH_SINCE_6_12
	return 7;
#else
	return get_pcppage_migratetype(page);
#endif
}

static void fh_sink_percpu_lists(struct fh_sink *sink, unsigned int cpu)
{
	unsigned int order, type;
	struct page *page;

	for (order = 0; order <= PAGE_ALLOC_COSTLY_ORDER; order++)
		for (type = 0; type < MIGRATE_PCPTYPES; type++)
			list_for_each_entry(page, &fh_pcp(cpu)->lists[order_to_pindex(type, order)],
					    pcp_list)
				fh_sink_put(sink, FH_W_PERCPU, cpu << 8 | order << 4 | type,
					    fh_recorded_type(page) << 36 | page_to_pfn(page));
}

static void fh_sink_block_types(struct fh_sink *sink)
{
	unsigned long block = fh_zone->zone_start_pfn >> pageblock_order;
	unsigned long last = (zone_end_pfn(fh_zone) - 1) >> pageblock_order;
	int before = -1;

	for (; block <= last; block++) {
		unsigned long pfn = max(block << pageblock_order, fh_zone->zone_start_pfn);
		int type = get_pageblock_migratetype(pfn_to_page(pfn));

		if (type != before)
			fh_sink_put(sink, FH_W_BLOCK_TYPE, type, block);
		before = type;
	}
}

static void fh_sink_free_lists(struct fh_sink *sink)
{
	unsigned int order, type;
	struct page *page;

	for (order = 0; order < FH_ORDERS; order++)
		for (type = 0; type < MIGRATE_TYPES; type++)
			list_for_each_entry(page, &fh_zone->free_area[order].free_list[type],
					    buddy_list)
				fh_sink_put(sink, FH_W_FREE, order << 8 | type, page_to_pfn(page));
}

static unsigned long *fh_page_flags(struct page *page)
{
#if FH_SINCE_7_3
	return &page->flags.f;
#else
	return &page->flags;
#endif
}

static void fh_put_reserved(void)
{
	unsigned long pfn, first = 0, pages = 0;

	for (pfn = fh_zone->zone_start_pfn; pfn <= zone_end_pfn(fh_zone); pfn++) {
		if (pfn < zone_end_pfn(fh_zone) && PageReserved(pfn_to_page(pfn))) {
			if (!pages++)
				first = pfn;
		} else if (pages) {
			fh_put(FH_W_RESERVED, 0, first);
			fh_put(FH_W_LENGTH, 0, pages);
			pages = 0;
		}
	}
}

/*
 * What the allocator itself takes for movable. Before 7.3 that includes pages
 * whose mapping only happens to look like that of a movable one: a slab that
 * was taken off a list, for example.
 */
static bool fh_looks_movable(struct page *page)
{
#if FH_SINCE_7_3
	return PageLRU(page) || page_has_movable_ops(page);
#else
	return PageLRU(page) || __PageMovable(page);
#endif
}

static void fh_put_movable(void)
{
	unsigned long pfn;

	for (pfn = fh_zone->zone_start_pfn; pfn < zone_end_pfn(fh_zone); pfn++) {
		struct page *page = pfn_to_page(pfn);

		if (fh_looks_movable(page))
			fh_put(FH_W_MOVABLE, 0, pfn);
	}
}

static void fh_put_dump(unsigned int reason)
{
	struct fh_sink sink = { };
	unsigned int i;

	fh_put(FH_W_DUMP, reason, 0);
	for (i = 1; i <= FH_VALUES; i++)
		fh_sink_value(&sink, i);
	for_each_online_cpu(i) {
		fh_sink_cpu(&sink, i);
		fh_sink_percpu_lists(&sink, i);
	}
	fh_sink_block_types(&sink);
	fh_sink_free_lists(&sink);
	fh_put_reserved();
	fh_put_movable();
	fh_put(FH_W_DUMP_END, 0, 0);
}

static void fh_put_digest(void)
{
	struct fh_sink sink = { .digesting = true };
	unsigned int i;

	for (i = 7; i <= 15; i++)
		fh_sink_value(&sink, i);
	fh_sink_value(&sink, 19);
	for_each_online_cpu(i) {
		fh_sink_cpu(&sink, i);
		fh_sink_percpu_lists(&sink, i);
	}
	fh_sink_block_types(&sink);
	fh_sink_free_lists(&sink);
	fh_put_raw((u64)FH_W_DIGEST << 56 | (sink.digest & GENMASK_ULL(55, 0)));
}

/* ---- events ---- */

static bool fh_may_allocate(const struct fh_op *op)
{
	return op && (op->kind == FH_ALLOC || (op->kind == FH_BULK && (u32)op->argument));
}

static bool fh_may_free(const struct fh_op *op)
{
	return op && (op->kind == FH_FREE || op->kind == FH_CONTIG);
}

static void fh_on_alloc(void *data, struct page *page, unsigned int order, gfp_t gfp, int type)
{
	if (!fh_playing || !page)
		return;
	if (!fh_may_allocate(fh_running) || fh_allocs++)
		fh_put(FH_W_FOREIGN, 1, page_to_pfn(page));
}

static void fh_on_free(void *data, struct page *page, unsigned int order)
{
	if (fh_playing && !fh_may_free(fh_running))
		fh_put(FH_W_FOREIGN, 2, page_to_pfn(page));
}

static void fh_on_extfrag(void *data, struct page *page, int alloc_order, int fallback_order,
			  int alloc_type, int fallback_type)
{
	if (fh_playing)
		fh_put(FH_W_EXTFRAG,
		       alloc_order << 12 | fallback_order << 8 | alloc_type << 4 | fallback_type,
		       page_to_pfn(page) << 1 | (alloc_type == get_pageblock_migratetype(page)));
}

static void fh_on_taken(void *data, struct page *page, unsigned int order, int type, int refill)
{
	if (fh_playing)
		fh_put(FH_W_TAKEN, !!refill << 15 | order << 8 | type, page_to_pfn(page));
}

static void fh_on_drain(void *data, struct page *page, unsigned int order, int type)
{
	if (fh_playing)
		fh_put(FH_W_DRAINED, order << 8 | type, page_to_pfn(page));
}

static int fh_watch(void)
{
	return register_trace_mm_page_alloc(fh_on_alloc, NULL) ?:
	       register_trace_mm_page_free(fh_on_free, NULL) ?:
	       register_trace_mm_page_alloc_extfrag(fh_on_extfrag, NULL) ?:
	       register_trace_mm_page_alloc_zone_locked(fh_on_taken, NULL) ?:
	       register_trace_mm_page_pcpu_drain(fh_on_drain, NULL);
}

/* ---- slots ---- */

static u32 *fh_slot(u64 number, u64 count)
{
	if (number + count <= fh_head.slots)
		return fh_slots + number;
	fh_broken = "an operation uses slots that the script does not have";
	return NULL;
}

static void fh_fill(u32 *slot, struct page *page, unsigned int order)
{
	*slot = FH_SLOT_USED | order << FH_SLOT_ORDER | page_to_pfn(page);
}

static unsigned int fh_slot_order(u32 slot)
{
	return slot >> FH_SLOT_ORDER & 0xf;
}

static struct page *fh_slot_page(u32 slot)
{
	return pfn_to_page(slot & FH_SLOT_PFN);
}

static void fh_mark(u32 *slot, bool movable)
{
	struct page *page = fh_slot_page(*slot);
	unsigned long i;

	for (i = 0; i < 1UL << fh_slot_order(*slot); i++)
		if (movable)
			set_bit(PG_lru, fh_page_flags(page + i));
		else
			clear_bit(PG_lru, fh_page_flags(page + i));
	*slot = movable ? *slot | FH_SLOT_MARKED : *slot & ~FH_SLOT_MARKED;
}

/* ---- operations ---- */

static gfp_t fh_gfp(u32 bits)
{
	static const gfp_t names[] = {
		__GFP_DMA, __GFP_HIGHMEM, __GFP_DMA32, __GFP_MOVABLE, __GFP_RECLAIMABLE,
		__GFP_HIGH, __GFP_IO, __GFP_FS, __GFP_ZERO, __GFP_DIRECT_RECLAIM,
		__GFP_KSWAPD_RECLAIM, __GFP_WRITE, __GFP_NOWARN, __GFP_RETRY_MAYFAIL,
		__GFP_NOFAIL, __GFP_NORETRY, __GFP_MEMALLOC, __GFP_COMP, __GFP_NOMEMALLOC,
		__GFP_HARDWALL, __GFP_THISNODE, __GFP_ACCOUNT, __GFP_ZEROTAGS,
#if !FH_SINCE_6_12
		__GFP_ATOMIC,
#endif
	};
	gfp_t gfp = 0;
	unsigned int i;

	/* The allocator takes these for granted, and dies of them: two zones, two types. */
	if (hweight32(bits & GENMASK(2, 0)) > 1 || hweight32(bits & GENMASK(4, 3)) > 1) {
		fh_broken = "gfp flags contradict each other";
		return __GFP_NOWARN;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (bits & BIT(i))
			gfp |= names[i];
	return (gfp | __GFP_NOWARN) & ~__GFP_DIRECT_RECLAIM;
}

static void fh_alloc(const struct fh_op *op, u32 *slot)
{
	struct page *page = alloc_pages_node(0, fh_gfp(op->argument), op->order);

	if (!page) {
		fh_put(FH_W_REFUSED, 0, 0);
		return;
	}
	fh_fill(slot, page, op->order);
	fh_put(FH_W_ANSWER, 0, page_to_pfn(page));
}

static void fh_free(u32 *slot)
{
	u32 held = *slot;

	if (held & FH_SLOT_MARKED)
		fh_mark(slot, false);
	*slot = 0;
	__free_pages(fh_slot_page(held), fh_slot_order(held));
}

static void fh_split(const struct fh_op *op, u32 *slot)
{
	struct page *page = fh_slot_page(*slot);
	unsigned int order = fh_slot_order(*slot);
	u32 marked = *slot & FH_SLOT_MARKED;
	unsigned long i;

	if (PageCompound(page) || !fh_slot(op->slot, 1UL << order))
		return;
	split_page(page, order);
	for (i = 0; i < 1UL << order; i++) {
		fh_fill(slot + i, page + i, 0);
		slot[i] |= marked;
	}
}

static void fh_bulk_alloc(const struct fh_op *op)
{
	u32 most = op->argument, *slots = fh_slot(op->slot, most);
	gfp_t gfp = fh_gfp(op->argument >> 32);
	unsigned long i, pages;

	if (most > FH_MOST_BULK) {
		fh_broken = "a bulk allocation is too large";
		return;
	}
	if (!slots)
		return;
	memset(fh_bulk, 0, sizeof(fh_bulk));
#if FH_SINCE_7_3
	pages = alloc_pages_bulk(gfp, most, fh_bulk);
#else
	pages = alloc_pages_bulk_array(gfp, most, fh_bulk);
#endif
	for (i = 0; i < pages; i++) {
		fh_fill(slots + i, fh_bulk[i], 0);
		fh_put(FH_W_ANSWER, 0, page_to_pfn(fh_bulk[i]));
	}
	fh_put_result(0, pages);
}

/* The first page of the range of an operation; false if it hangs on an empty slot. */
static bool fh_range_start(const struct fh_op *op, unsigned long *pfn)
{
	u32 *slot;

	if (!(op->flags & FH_FROM_SLOT)) {
		*pfn = fh_zone->zone_start_pfn;
		if (op->kind != FH_CONTIG)
			*pfn = pageblock_start_pfn(*pfn);
		return true;
	}
	slot = fh_slot(op->slot, 1);
	if (!slot || !(*slot & FH_SLOT_USED))
		return false;
	*pfn = pageblock_start_pfn(*slot & FH_SLOT_PFN);
	return true;
}

static bool fh_inside(unsigned long pfn, unsigned long pages)
{
	return pages && pfn >= fh_zone->zone_start_pfn && pfn + pages <= zone_end_pfn(fh_zone);
}

static void fh_isolate(const struct fh_op *op)
{
	unsigned long first, end;
	int error = 0;

	if (!fh_range_start(op, &first))
		return;
	first += (u32)op->argument * pageblock_nr_pages;
	end = first + op->order * pageblock_nr_pages;
	if (!fh_inside(first, end - first))
		error = -EINVAL;
#if FH_SINCE_7_3
	else if (op->kind == FH_ISOLATE)
		error = start_isolate_page_range(first, end, PB_ISOLATE_MODE_OTHER);
	else
		undo_isolate_page_range(first, end);
#else
	else if (op->kind == FH_ISOLATE)
		error = start_isolate_page_range(first, end, MIGRATE_MOVABLE, 0, fh_gfp(0));
	else
		undo_isolate_page_range(first, end, MIGRATE_MOVABLE);
#endif
	fh_put_result(error, 0);
}

static int fh_take_range(unsigned long first, unsigned long pages, bool cma, gfp_t gfp)
{
#if FH_SINCE_7_3
	return alloc_contig_range(first, first + pages, cma ? ACR_FLAGS_CMA : ACR_FLAGS_NONE, gfp);
#else
	return alloc_contig_range(first, first + pages, cma ? MIGRATE_CMA : MIGRATE_MOVABLE, gfp);
#endif
}

static void fh_contig(const struct fh_op *op)
{
	unsigned long i, first, pages = op->argument >> 32;
	int error = -EINVAL;
	u32 *slots;

	if (!fh_range_start(op, &first))
		return;
	slots = fh_slot((u64)op->slot + 1, pages);
	if (!slots)
		return;
	first += (u32)op->argument;
	if (fh_inside(first, pages))
		error = fh_take_range(first, pages, op->flags & FH_FOR_CMA, fh_gfp(0));
	for (i = 0; i < pages && !error; i++)
		fh_fill(slots + i, pfn_to_page(first + i), 0);
	fh_put_result(error, 0);
}

/* Writes a tunable as somebody who writes to its file below /proc/sys/vm does. */
static int fh_tune(unsigned int number, u64 value)
{
	static const struct {
		int *data;
		proc_handler *handler;
		void *least, *most;
	} tunables[] = {
		{ &min_free_kbytes, min_free_kbytes_sysctl_handler, SYSCTL_ZERO, NULL },
		{ &watermark_scale_factor, watermark_scale_factor_sysctl_handler, SYSCTL_ONE,
		  SYSCTL_THREE_THOUSAND },
		{ &watermark_boost_factor, proc_dointvec_minmax, SYSCTL_ZERO, NULL },
		{ &percpu_pagelist_high_fraction, percpu_pagelist_high_fraction_sysctl_handler,
		  SYSCTL_ZERO, NULL },
	};
	static struct ctl_table table;
	static char digits[24];
	size_t length;
	loff_t at = 0;

	if (number >= ARRAY_SIZE(tunables))
		return -EINVAL;
	table = (struct ctl_table) {
		.procname = "freehold",
		.data = tunables[number].data,
		.maxlen = sizeof(int),
		.mode = 0644,
		.extra1 = tunables[number].least,
		.extra2 = tunables[number].most,
	};
	length = scnprintf(digits, sizeof(digits), "%llu\n", value);
	return tunables[number].handler(&table, 1, digits, &length, &at);
}

static void fh_set(const struct fh_op *op)
{
	struct fh_sink sink = { };
	unsigned int i;

	fh_put_result(fh_tune(op->flags, op->argument), 0);
	for (i = 1; i <= FH_VALUES; i++)
		fh_sink_value(&sink, i);
	for_each_online_cpu(i)
		fh_sink_cpu(&sink, i);
}

static void fh_relax_boost(u64 pages)
{
	unsigned long flags;

	spin_lock_irqsave(&fh_zone->lock, flags);
	fh_zone->watermark_boost -= min_t(u64, fh_zone->watermark_boost, pages);
	spin_unlock_irqrestore(&fh_zone->lock, flags);
}

static void fh_print(unsigned int which)
{
	static struct seq_file file;
	const struct seq_operations *print = freehold_seq_operations(which);
	loff_t at = 0;
	void *item;
	size_t i;

	memset(fh_text, 0, sizeof(fh_text));
	file.buf = fh_text;
	file.size = sizeof(fh_text);
	file.count = 0;
	for (item = print->start(&file, &at); item; item = print->next(&file, item, &at))
		print->show(&file, item);
	print->stop(&file, NULL);
	if (seq_has_overflowed(&file))
		fh_broken = "a text does not fit the oracle's buffer";
	fh_put(FH_W_TEXT, which, file.count);
	for (i = 0; i < DIV_ROUND_UP(file.count, 8); i++)
		fh_put_raw(((u64 *)fh_text)[i]);
}

/* The operations that hang on a block. */
static void fh_do_slot(const struct fh_op *op)
{
	u32 *slot = fh_slot(op->slot, 1);

	if (!slot)
		return;
	if (op->kind == FH_ALLOC) {
		fh_alloc(op, slot);
		return;
	}
	if (!(*slot & FH_SLOT_USED))
		return;
	if (op->kind == FH_FREE)
		fh_free(slot);
	else if (op->kind == FH_SPLIT)
		fh_split(op, slot);
	else
		fh_mark(slot, op->flags);
}

static void fh_do(const struct fh_op *op)
{
	switch (op->kind) {
	case FH_ALLOC:
	case FH_FREE:
	case FH_SPLIT:
	case FH_MARK:
		fh_do_slot(op);
		break;
	case FH_BULK:
		fh_bulk_alloc(op);
		break;
	case FH_DRAIN:
		drain_pages(op->cpu);
		break;
	case FH_DRAIN_ALL:
		drain_all_pages(NULL);
		break;
	case FH_REFRESH:
#if FH_SINCE_6_12
		decay_pcp_high(fh_zone, fh_pcp(op->cpu));
#endif
		break;
	case FH_ISOLATE:
	case FH_UNDO_ISOLATE:
		fh_isolate(op);
		break;
	case FH_CONTIG:
		fh_contig(op);
		break;
	case FH_SET:
		fh_set(op);
		break;
	case FH_RELAX_BOOST:
		fh_relax_boost(op->argument);
		break;
	case FH_RECLAIM_ACTIVE:
		if (op->flags)
			set_bit(ZONE_RECLAIM_ACTIVE, &fh_zone->flags);
		else
			clear_bit(ZONE_RECLAIM_ACTIVE, &fh_zone->flags);
		break;
	case FH_TEXT:
		fh_print(op->flags);
		break;
	case FH_STATE:
		if (op->flags)
			fh_put_dump(1);
		else
			fh_put_digest();
		break;
	default:
		fh_broken = "the script has an operation that this oracle does not know";
	}
}

static void fh_play_one(const struct fh_op *op)
{
	struct per_cpu_pages *pcp = fh_pcp(op->cpu);
	u64 free_count = 0, factor;
	unsigned int field;

	fh_allocs = 0;
	WRITE_ONCE(fh_running, op);
	fh_do(op);
	WRITE_ONCE(fh_running, NULL);

	for (field = 10; field <= 15; field++) {
		u64 value = fh_value(field);

		if (value != fh_last[field])
			fh_put(FH_W_VALUE, field, value);
		fh_last[field] = value;
	}
#if FH_SINCE_6_12
	free_count = pcp->free_count;
	factor = pcp->alloc_factor;
#else
	factor = pcp->free_factor;
#endif
	fh_put_raw((u64)FH_W_PERCPU_NOW << 56 | (u64)(u16)pcp->count << 40 |
		   (u64)(u16)pcp->high << 24 | (free_count & 0xffff) << 8 | (factor & 0xff));
}

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
 * One CPU's player. Signals of the host that are faults stay open, UML needs
 * them, and so do those with which a person ends the whole thing.
 */
static int fh_player(void *data)
{
	static const unsigned long open = BIT(1) | BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6) |
					  BIT(7) | BIT(8) | BIT(11) | BIT(15);
	unsigned long mask[16], before[16], flags;
	u32 cpu = (unsigned long)data;

	memset(mask, 0xff, sizeof(mask));
	mask[0] &= ~(open >> 1);
	fh_host_sigmask(0, mask, before);
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

static int __init fh_init(void)
{
	if (!fh_script_path || !fh_transcript_path)
		return 0;
	if (fh_read_script() || fh_find_zone() || fh_make_slots() || fh_make_cma())
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
