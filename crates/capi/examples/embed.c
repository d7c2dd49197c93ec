/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A program in C that embeds the engine: it describes memory, sets it up, allocates, frees, isolates, takes memory
 * out of service and brings it back, reclaims, and checks every invariant. With the argument "own" the engine takes
 * this program's own locks. It ends with 0 if everything went as it says.
 *
 * docs/guide/embed.md has the commands that build it.
 */

#include <freehold.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames of the zones: 16 MiB below 4 GiB, with a hole, and 64 MiB above. */
#define LOW_START 0x400
#define LOW_PAGES 0x1000
#define HOLE_START 0x800
#define HOLE_PAGES 0x200
#define HIGH_START 0x100000
#define HIGH_PAGES 0x4000
#define PAGEBLOCK 0x200
#define SPAN_END (UINT64_C(1) << 34)
#define ALL_PAGES (LOW_PAGES - HOLE_PAGES + HIGH_PAGES)

/* Ends the program unless a call ended as it should. */
static void expect(enum freehold_status wanted, enum freehold_status status, const char *what)
{
    if (status != wanted) {
        printf("FAILED: %s: %s\n", what, freehold_strerror(status));
        exit(1);
    }
}

static void must(bool held, const char *what)
{
    if (!held) {
        printf("FAILED: %s\n", what);
        exit(1);
    }
}

/* The program's own locks. A kernel has its spin lock here, and turns interrupts off in the first kind. */

static unsigned long lock_holds;

static void own_lock(struct freehold_lock *lock)
{
    must(lock->words[0] == 0, "one thread never waits for itself");
    lock->words[0] = 1;
    lock_holds++;
}

static bool own_try_lock(struct freehold_lock *lock)
{
    if (lock->words[0] != 0)
        return false;
    own_lock(lock);
    return true;
}

static void own_unlock(struct freehold_lock *lock)
{
    must(lock->words[0] == 1, "a lock is released by its holder");
    lock->words[0] = 0;
}

static const struct freehold_lock_functions own_locks = {own_lock, own_try_lock, own_unlock};

/* The pages in use that can be moved or given up, each by its first frame. */

struct cache {
    struct freehold_memory *memory;
    uint64_t pages[ALL_PAGES];
    size_t used;
};

static bool is_movable(void *context, uint64_t pfn, uint8_t order)
{
    const struct cache *cache = context;
    size_t i;

    for (i = 0; i < cache->used; i++)
        if (cache->pages[i] == pfn)
            return order == 0;
    return false;
}

static bool relocate(void *context, uint64_t from, uint64_t to, uint8_t order)
{
    struct cache *cache = context;
    size_t i;

    (void)order;
    for (i = 0; i < cache->used; i++) {
        if (cache->pages[i] == from) {
            /* A kernel copies the page and changes who refers to it. */
            cache->pages[i] = to;
            return true;
        }
    }
    return false;
}

static struct freehold_reclaimed shrink(void *context, const struct freehold_shrink *wanted)
{
    struct cache *cache = context;
    struct freehold_reclaimed done = {0, 0};

    while (cache->used > 0 && done.reclaimed < wanted->wanted) {
        expect(FREEHOLD_STATUS_OK, freehold_free(cache->memory, wanted->cpu, cache->pages[--cache->used], 0),
               "free a page of the cache");
        done.scanned++;
        done.reclaimed++;
    }
    return done;
}

static uint64_t reclaimable_pages(void *context, uint16_t node, uint8_t kind)
{
    const struct cache *cache = context;

    (void)node;
    (void)kind;
    return cache->used;
}

static uint64_t free_pages(const struct freehold_memory *memory)
{
    struct freehold_zone_info zone;
    uint64_t pages = 0;
    size_t i;

    for (i = 0; i < freehold_zones(memory); i++) {
        expect(FREEHOLD_STATUS_OK, freehold_zone_info(memory, i, &zone), "look at a zone");
        pages += zone.free + zone.percpu;
    }
    return pages;
}

static struct freehold_memory *set_up(void)
{
    const struct freehold_zone zones[] = {
        {.start = LOW_START, .spanned = LOW_PAGES, .managed = LOW_PAGES - HOLE_PAGES, .kind = FREEHOLD_ZONE_DMA32},
        {.start = HIGH_START, .spanned = SPAN_END - HIGH_START, .managed = HIGH_PAGES, .kind = FREEHOLD_ZONE_NORMAL},
    };
    /* The second zone spans 64 TiB: metadata is for what is there, and for a pageblock that may come at its end. */
    const struct freehold_range present[] = {{LOW_START, LOW_PAGES}, {HIGH_START, HIGH_PAGES}};
    const struct freehold_range hotplug[] = {{SPAN_END - PAGEBLOCK, PAGEBLOCK}};
    struct freehold_config config = freehold_config_linux(zones, 2, 2);
    size_t bytes;
    struct freehold_memory *memory;
    void *metadata;

    must(freehold_required_bytes(&config) / 10 >= SPAN_END - HIGH_START, "metadata for 64 TiB");
    config.present = present;
    config.present_count = FREEHOLD_MOST_RANGES + 1;
    must(freehold_required_bytes(&config) == 0, "more ranges than a list has");
    config.present_count = 2;
    config.hotplug = hotplug;
    config.hotplug_count = 1;
    bytes = freehold_required_bytes(&config);
    must(bytes < 8u << 20, "the hole costs little");
    metadata = malloc(bytes);
    must(bytes > 0 && metadata, "room for the metadata");
    expect(FREEHOLD_STATUS_METADATA_TOO_SMALL, freehold_new(&config, metadata, bytes / 2, &memory), "half the room");
    expect(FREEHOLD_STATUS_OK, freehold_new(&config, metadata, bytes, &memory), "set up");
    expect(FREEHOLD_STATUS_OK, freehold_add_free(memory, LOW_START, HOLE_START - LOW_START), "add memory");
    expect(FREEHOLD_STATUS_OK,
           freehold_add_free(memory, HOLE_START + HOLE_PAGES, LOW_START + LOW_PAGES - HOLE_START - HOLE_PAGES),
           "add memory behind the hole");
    expect(FREEHOLD_STATUS_OK, freehold_add_free(memory, HIGH_START, HIGH_PAGES), "add memory above");
    expect(FREEHOLD_STATUS_OVERLAP, freehold_add_free(memory, HIGH_START, 1), "add memory twice");
    expect(FREEHOLD_STATUS_ALREADY_SET_UP, freehold_use_locks(NULL, NULL), "other locks, too late");
    must(free_pages(memory) == ALL_PAGES, "all of it is free");
    return memory;
}

static void allocate(struct freehold_memory *memory)
{
    struct freehold_request request = {.gfp = FREEHOLD_GFP_KERNEL};
    uint64_t pfn = 0;

    for (request.order = 0; request.order <= 10; request.order++) {
        expect(FREEHOLD_STATUS_OK, freehold_alloc(memory, request, NULL, &pfn), "allocate");
        must(pfn % (1u << request.order) == 0, "a block is aligned to its size");
        expect(FREEHOLD_STATUS_OK, freehold_free(memory, 1, pfn, request.order), "free");
        expect(FREEHOLD_STATUS_ALREADY_FREE, freehold_free(memory, 1, pfn, request.order), "free twice");
    }
    printf("orders: 11 taken and freed\n");

    expect(FREEHOLD_STATUS_OK, freehold_alloc_at(memory, HIGH_START + 0x123, 0), "one page by its address");
    expect(FREEHOLD_STATUS_IN_USE, freehold_alloc_at(memory, HIGH_START, 9), "a block around it");
    expect(FREEHOLD_STATUS_OUTSIDE_ZONES, freehold_alloc_at(memory, HOLE_START, 0), "a page of the hole");
    expect(FREEHOLD_STATUS_OK, freehold_free(memory, 0, HIGH_START + 0x123, 0), "free it");
    printf("by address: one page taken and freed\n");

    request.order = 19;
    expect(FREEHOLD_STATUS_ORDER_TOO_LARGE, freehold_alloc(memory, request, NULL, &pfn), "an order that is none");
    request.order = 0;
    request.cpu = 2;
    expect(FREEHOLD_STATUS_NO_SUCH_CPU, freehold_alloc(memory, request, NULL, &pfn), "a CPU that is none");
    request.cpu = 0;
    request.gfp = 0x40000000;
    expect(FREEHOLD_STATUS_NO_SUCH_NUMBER, freehold_alloc(memory, request, NULL, &pfn), "flags that are none");
    expect(FREEHOLD_STATUS_NULL_POINTER, freehold_alloc(NULL, request, NULL, &pfn), "no memory");
}

/* Takes pageblocks with pages in use out of service and brings them back. */
static void plug(struct freehold_memory *memory, struct cache *cache, const struct freehold_embedder *embedder)
{
    struct freehold_request request = {.gfp = FREEHOLD_GFP_HIGHUSER_MOVABLE, .cpu = 1};
    uint64_t block, moved = 0;
    uint64_t before[1000];
    size_t i;

    for (i = 0; i < 1000; i++)
        expect(FREEHOLD_STATUS_OK, freehold_alloc(memory, request, NULL, &cache->pages[cache->used++]), "a page of the cache");
    block = cache->pages[0] & ~(uint64_t)(PAGEBLOCK - 1);
    memcpy(before, cache->pages, sizeof(before));

    expect(FREEHOLD_STATUS_OK, freehold_isolate(memory, block, PAGEBLOCK), "isolate");
    expect(FREEHOLD_STATUS_WRONG_STATE, freehold_isolate(memory, block, PAGEBLOCK), "isolate twice");
    expect(FREEHOLD_STATUS_UNMOVABLE, freehold_offline(memory, block, PAGEBLOCK, true, 0, NULL), "nobody moves pages");
    expect(FREEHOLD_STATUS_OK, freehold_offline(memory, block, PAGEBLOCK, true, 0, embedder), "out of service");
    for (i = 0; i < 1000; i++) {
        moved += before[i] != cache->pages[i];
        must((cache->pages[i] & ~(uint64_t)(PAGEBLOCK - 1)) != block, "no page is left there");
    }
    must(moved > 0, "pages moved");
    must(free_pages(memory) == ALL_PAGES - PAGEBLOCK - 1000, "the pageblock is gone");
    printf("offline: pageblock %#llx left, %llu pages moved\n", (unsigned long long)block, (unsigned long long)moved);
    expect(FREEHOLD_STATUS_OK, freehold_online(memory, block, PAGEBLOCK), "back in service");

    expect(FREEHOLD_STATUS_NO_SECTION, freehold_online(memory, SPAN_END / 2, PAGEBLOCK), "no room for memory there");
    expect(FREEHOLD_STATUS_OUTSIDE_ZONES, freehold_free(memory, 0, SPAN_END / 2, 0), "nothing to free there");
    expect(FREEHOLD_STATUS_OK, freehold_online(memory, SPAN_END - PAGEBLOCK, PAGEBLOCK), "memory that comes");
    must(free_pages(memory) == ALL_PAGES + PAGEBLOCK - 1000, "it is there");
    expect(FREEHOLD_STATUS_OK, freehold_offline(memory, SPAN_END - PAGEBLOCK, PAGEBLOCK, false, 0, embedder), "and goes");
    printf("sections: a pageblock came and went\n");

    expect(FREEHOLD_STATUS_OK, freehold_isolate(memory, HIGH_START, PAGEBLOCK), "isolate another");
    expect(FREEHOLD_STATUS_OK, freehold_unisolate(memory, HIGH_START, PAGEBLOCK), "and give up");
    must(free_pages(memory) == ALL_PAGES - 1000, "it is back");

    expect(FREEHOLD_STATUS_OK, freehold_alloc_contig(memory, HIGH_START + 0x400, 0x300, 0, embedder), "contiguous pages");
    expect(FREEHOLD_STATUS_OK, freehold_free_contig(memory, 0, HIGH_START + 0x400, 0x300, NULL), "free them");
    printf("contiguous: 768 pages taken and freed\n");
}

/* Fills memory with pages of the cache, which requests that may wait get back. */
static void reclaim(struct freehold_memory *memory, struct cache *cache, const struct freehold_embedder *embedder)
{
    struct freehold_request request = {.gfp = FREEHOLD_GFP_HIGHUSER_MOVABLE};
    uint64_t pfn;
    size_t full;

    while (freehold_alloc(memory, request, NULL, &pfn) == FREEHOLD_STATUS_OK)
        cache->pages[cache->used++] = pfn;
    full = cache->used;
    must(freehold_is_kswapd_wanted(memory, 0), "kswapd is wanted");
    must(freehold_kswapd(memory, 0, 0, embedder), "kswapd balances the node");
    must(cache->used < full, "kswapd reclaims");
    printf("kswapd: %llu pages reclaimed\n", (unsigned long long)(full - cache->used));

    request.order = 9;
    expect(FREEHOLD_STATUS_OK, freehold_alloc(memory, request, embedder, &pfn), "a huge page, by the embedder's help");
    expect(FREEHOLD_STATUS_OK, freehold_free(memory, 0, pfn, 9), "free it");
    while (cache->used > 0)
        expect(FREEHOLD_STATUS_OK, freehold_free(memory, 0, cache->pages[--cache->used], 0), "free the cache");
}

int main(int argc, char **argv)
{
    static struct cache cache;
    struct freehold_embedder embedder = {&cache, is_movable, relocate, shrink, reclaimable_pages};
    struct freehold_memory *memory;
    char text[512];
    size_t length;
    bool own = argc > 1 && strcmp(argv[1], "own") == 0;

    if (own)
        expect(FREEHOLD_STATUS_OK, freehold_use_locks(&own_locks, &own_locks), "own locks");
    memory = set_up();
    cache.memory = memory;
    allocate(memory);
    plug(memory, &cache, &embedder);
    reclaim(memory, &cache, &embedder);

    freehold_refresh(memory, 0);
    freehold_drain(memory);
    must(free_pages(memory) == ALL_PAGES, "all pages are free at the end");
    length = freehold_buddyinfo(memory, text, sizeof(text));
    must(length == strlen(text), "the text has room");
    must(freehold_buddyinfo(memory, text, 5) == length && strcmp(text, "Node") == 0, "a text is cut");
    must(freehold_pagetypeinfo(memory, NULL, 0) > length, "a text is measured");
    freehold_buddyinfo(memory, text, sizeof(text));
    printf("%s", text);
    must(freehold_free_blocks(memory, 10) >= HIGH_PAGES / 1024, "the largest blocks are back");
    expect(FREEHOLD_STATUS_OK, freehold_check(memory, text, sizeof(text)), text);
    must(own == (lock_holds > 0), "whose locks are taken");
    printf("check: clean\nevery check held\n");
    return 0;
}
