/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The Linux page allocator as a library, for C. docs/guide/embed.md says how to begin; examples/embed.c is a whole program.
 *
 * Made of crates/capi/src by cbindgen: do not edit.
 */

#ifndef FREEHOLD_H
#define FREEHOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The most zones of a memory.
#define FREEHOLD_MOST_ZONES 16

// The most ranges of a list of frames.
#define FREEHOLD_MOST_RANGES 64

// Addresses below 16 MiB.
#define FREEHOLD_ZONE_DMA 0

// Addresses below 4 GiB.
#define FREEHOLD_ZONE_DMA32 1

// Addresses that every request may have.
#define FREEHOLD_ZONE_NORMAL 2

// Addresses that the kernel does not map.
#define FREEHOLD_ZONE_HIGHMEM 3

// For pages that can be moved, alone.
#define FREEHOLD_ZONE_MOVABLE 4

// As Linux 6.1.
#define FREEHOLD_ERA_LINUX_6_1 0

// As Linux 6.12.
#define FREEHOLD_ERA_LINUX_6_12 1

// As Linux 7.3.
#define FREEHOLD_ERA_LINUX_7_3 2

// As Linux 7.3 with counts per migratetype.
#define FREEHOLD_ERA_LINUX_7_3_COUNTS 3

// Freehold's own rules.
#define FREEHOLD_ERA_FREEHOLD 4

// What a request of the kernel's own may do: wait, reclaim, start I/O.
#define FREEHOLD_GFP_KERNEL 1728

// A caller that cannot wait, an interrupt for instance; half of the min watermark is open.
#define FREEHOLD_GFP_ATOMIC 1056

// A caller that does not wait.
#define FREEHOLD_GFP_NOWAIT 5120

// Pages of a user.
#define FREEHOLD_GFP_USER 526016

// Pages of a user that can be moved and may lie anywhere.
#define FREEHOLD_GFP_HIGHUSER_MOVABLE 526026

// A huge page, with reclaim and compaction.
#define FREEHOLD_GFP_TRANSHUGE 922314

// From zone DMA alone.
#define FREEHOLD_GFP_DMA 1

// From zone DMA32 or below.
#define FREEHOLD_GFP_DMA32 4

// The page can be moved.
#define FREEHOLD_GFP_MOVABLE 8

// The page can be reclaimed.
#define FREEHOLD_GFP_RECLAIMABLE 16

// A last attempt below all watermarks; it may fail.
#define FREEHOLD_GFP_NOFAIL 16384

// Fail rather than try hard.
#define FREEHOLD_GFP_NORETRY 32768

// No watermark counts.
#define FREEHOLD_GFP_MEMALLOC 65536

// No other node than the request's.
#define FREEHOLD_GFP_THISNODE 1048576

// How a call ended. After anything but OK nothing has changed, unless the call says otherwise.
enum freehold_status {
    // The call did what it is for.
    FREEHOLD_STATUS_OK = 0,
    // A pointer is null that must not be.
    FREEHOLD_STATUS_NULL_POINTER = 1,
    // A number names no zone, type, era or flag.
    FREEHOLD_STATUS_NO_SUCH_NUMBER = 2,
    // No zone that the flags allow has a free block above its watermark.
    FREEHOLD_STATUS_NO_MEMORY = 3,
    // The order exceeds the largest that the memory was set up for.
    FREEHOLD_STATUS_ORDER_TOO_LARGE = 4,
    // The CPU number is not below the number that the memory was set up for.
    FREEHOLD_STATUS_NO_SUCH_CPU = 5,
    // There is no such node.
    FREEHOLD_STATUS_NO_SUCH_NODE = 6,
    // A frame is outside the zones, or in a hole.
    FREEHOLD_STATUS_OUTSIDE_ZONES = 7,
    // The block is free already.
    FREEHOLD_STATUS_ALREADY_FREE = 8,
    // The frame is not the first of an allocated block.
    FREEHOLD_STATUS_NOT_ALLOCATED = 9,
    // The block was allocated with another order.
    FREEHOLD_STATUS_WRONG_ORDER = 10,
    // The frame or the range is not aligned as it must be.
    FREEHOLD_STATUS_UNALIGNED = 11,
    // Part of the block is in use, or reserved.
    FREEHOLD_STATUS_IN_USE = 12,
    // Part of the block is in an isolated pageblock.
    FREEHOLD_STATUS_ISOLATED = 13,
    // Part of the block is in a CMA pageblock.
    FREEHOLD_STATUS_CMA = 14,
    // A page is on its way to or from its owner. Another try may succeed.
    FREEHOLD_STATUS_BUSY = 15,
    // A pageblock reaches outside the zone.
    FREEHOLD_STATUS_STRADDLES_ZONE = 16,
    // A pageblock is isolated already, or not isolated when it should be.
    FREEHOLD_STATUS_WRONG_STATE = 17,
    // The range has pages that cannot be moved, or holes.
    FREEHOLD_STATUS_UNMOVABLE = 18,
    // The range is not of the type asked for.
    FREEHOLD_STATUS_WRONG_TYPE = 19,
    // The memory has no room elsewhere for the pages of the range.
    FREEHOLD_STATUS_NO_ROOM = 20,
    // Fewer bytes than `freehold_required_bytes` says.
    FREEHOLD_STATUS_METADATA_TOO_SMALL = 21,
    // A memory is set up already.
    FREEHOLD_STATUS_ALREADY_SET_UP = 22,
    // No zone was given, one without pages, or frames that lie in none.
    FREEHOLD_STATUS_EMPTY_ZONE = 23,
    // Two zones share frames, or a frame is in service already.
    FREEHOLD_STATUS_OVERLAP = 24,
    // More than 2^31 pages of a zone have metadata.
    FREEHOLD_STATUS_ZONE_TOO_LARGE = 25,
    // The pageblock order is larger than the largest order, or an order is above 18.
    FREEHOLD_STATUS_BAD_PAGEBLOCK_ORDER = 26,
    // No CPU was given.
    FREEHOLD_STATUS_NO_CPU = 27,
    // The settings of CPUs' lists contradict each other.
    FREEHOLD_STATUS_BAD_PER_CPU_SETTINGS = 28,
    // A block is misaligned, too large, or on a list that it cannot be on.
    FREEHOLD_STATUS_BAD_BLOCK = 29,
    // An invariant is broken: `freehold_check` says which, and where.
    FREEHOLD_STATUS_BROKEN = 30,
    // An error that this version has no number for.
    FREEHOLD_STATUS_OTHER = 31,
    // No metadata was set aside for part of the range.
    FREEHOLD_STATUS_NO_SECTION = 32,
};

// All of a machine's memory: the whole allocator.
struct freehold_memory;

// One zone. Its watermarks and the settings of its CPUs' lists are what Linux computes from its size.
struct freehold_zone {
    // The first frame; need not be aligned.
    uint64_t start;
    // Pages from the first to the last, holes included.
    uint64_t spanned;
    // Pages without the holes; 0 stands for all.
    uint64_t managed;
    // The NUMA node.
    uint16_t node;
    // One of `FREEHOLD_ZONE_DMA` to `FREEHOLD_ZONE_MOVABLE`.
    uint8_t kind;
};

// Frames side by side.
struct freehold_range {
    // The first frame.
    uint64_t start;
    // The number of frames.
    uint64_t pages;
};

// How a memory is set up. `freehold_config_linux` fills it in.
struct freehold_config {
    // The zones, in any order; not needed after set-up.
    const struct freehold_zone *zones;
    // The number of zones, at most `FREEHOLD_MOST_ZONES`.
    size_t zone_count;
    // The frames that are memory, in any order; not needed after set-up. Sections of the zones in which neither these
    // nor `hotplug` have a frame cost no metadata, and get no memory later. Null if all sections get metadata.
    const struct freehold_range *present;
    // The number of ranges in `present`, at most `FREEHOLD_MOST_RANGES`.
    size_t present_count;
    // The frames that may become memory later, by `freehold_online`. Null if none do.
    const struct freehold_range *hotplug;
    // The number of ranges in `hotplug`, at most `FREEHOLD_MOST_RANGES`.
    size_t hotplug_count;
    // Bytes of a page.
    uint64_t page_bytes;
    // The number of CPUs, which are numbered from 0.
    uint16_t cpus;
    // The largest order, 0 to 18.
    uint8_t max_order;
    // The order of a pageblock, up to the largest.
    uint8_t pageblock_order;
    // One of `FREEHOLD_ERA_LINUX_6_1` to `FREEHOLD_ERA_FREEHOLD`.
    uint8_t era;
    // The order of a section; below the largest order it counts as that.
    uint8_t section_order;
    // True if a pageblock is a huge page, and has CPUs' lists.
    bool huge_pages;
};

// The result of reclaim.
struct freehold_reclaimed {
    // Pages looked at.
    uint64_t scanned;
    // Pages freed.
    uint64_t reclaimed;
};

// What is to be reclaimed.
struct freehold_shrink {
    // The number of pages wanted.
    uint64_t wanted;
    // The flags of the request.
    uint32_t gfp;
    // The node to reclaim from.
    uint16_t node;
    // The CPU that reclaims and frees.
    uint16_t cpu;
    // The highest zone of the node to reclaim from.
    uint8_t highest_zone;
    // The order of the block that is wanted in the end.
    uint8_t order;
    // The part of the pages to look at: all of them divided by two to this power, 12 to 0.
    uint8_t priority;
    // True to free only pages that need not be written first.
    bool clean_only;
};

// What moves and reclaims pages. A function that is null does nothing.
struct freehold_embedder {
    // Given to every function.
    void *context;
    // Returns true if the block in use at `pfn` may be moved. It stays allocated until `relocate` is called for it
    // or the call into the library returns.
    bool (*is_movable)(void *context, uint64_t pfn, uint8_t order);
    // Moves the contents of the block at `from` to the one at `to`. After true the caller owns `to`, and the library
    // frees `from`; after false nothing has changed. It must not allocate.
    bool (*relocate)(void *context, uint64_t from, uint64_t to, uint8_t order);
    // Frees pages by `freehold_free` before it returns, about as many as wanted.
    struct freehold_reclaimed (*shrink)(void *context, const struct freehold_shrink *wanted);
    // Returns the number of pages of one zone that could be reclaimed at best.
    uint64_t (*reclaimable_pages)(void *context, uint16_t node, uint8_t kind);
};

// The room of one lock. All words are 0 at first, which must mean unlocked; the address stays the same.
struct freehold_lock {
    // The caller's, from the first call of one of its functions on.
    size_t words[4];
};

// A caller's own lock, by its functions. None may be null.
//
// Locks are released in the reverse of the order in which they were taken, by whoever took them.
struct freehold_lock_functions {
    // Takes a lock, and waits for it.
    void (*lock)(struct freehold_lock *lock);
    // Takes a lock if nobody holds it. Returns true if it did.
    bool (*try_lock)(struct freehold_lock *lock);
    // Releases a lock.
    void (*unlock)(struct freehold_lock *lock);
};

// One zone, now.
struct freehold_zone_info {
    // The first frame.
    uint64_t start;
    // The frame behind the last.
    uint64_t end;
    // Frames in service.
    uint64_t present;
    // Pages that the allocator manages.
    uint64_t managed;
    // Free pages, without isolated ones and those on CPUs' lists.
    uint64_t free;
    // Pages on the lists of all CPUs.
    uint64_t percpu;
    // The node.
    uint16_t node;
    // One of `FREEHOLD_ZONE_DMA` to `FREEHOLD_ZONE_MOVABLE`.
    uint8_t kind;
};

// One request for a block.
struct freehold_request {
    // The flags, `FREEHOLD_GFP_KERNEL` and its like.
    uint32_t gfp;
    // The CPU that asks.
    uint16_t cpu;
    // The node whose zones are tried first.
    uint16_t node;
    // The order of the block.
    uint8_t order;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the set-up of zones with pages of 4 KiB, blocks up to order 10, pageblocks of order 9 and Freehold's own
// rules. Every field may be changed afterwards.
struct freehold_config freehold_config_linux(const struct freehold_zone *zones,
                                             size_t zone_count,
                                             uint16_t cpus);

// Shortens a CPU's lists as Linux does once a second. Returns true if it had, or will have, something to do.
//
// # Safety
// `memory` is null or one of `freehold_new`'s.
bool freehold_refresh(const struct freehold_memory *memory,
                      uint16_t cpu);

// Gives back all blocks on the lists of every CPU.
//
// # Safety
// As for `freehold_refresh`.
void freehold_drain(const struct freehold_memory *memory);

// Returns true if a node's kswapd should run.
//
// # Safety
// As for `freehold_refresh`.
bool freehold_is_kswapd_wanted(const struct freehold_memory *memory, uint16_t node);

// Runs a node's kswapd once. Returns true if the node is balanced afterwards.
//
// # Safety
// As for `freehold_refresh`; the embedder's functions may be called with its context.
bool freehold_kswapd(const struct freehold_memory *memory,
                     uint16_t node,
                     uint16_t cpu,
                     const struct freehold_embedder *embedder);

// Returns true if a node's kcompactd should run.
//
// # Safety
// As for `freehold_refresh`.
bool freehold_is_kcompactd_wanted(const struct freehold_memory *memory, uint16_t node);

// Runs a node's kcompactd once. Returns true if a block of the wanted order can be had afterwards.
//
// # Safety
// As for `freehold_kswapd`.
bool freehold_kcompactd(const struct freehold_memory *memory,
                        uint16_t node,
                        uint16_t cpu,
                        const struct freehold_embedder *embedder);

// Compacts a node if it is fragmented, though nobody asked. Returns true if it is less fragmented afterwards.
//
// # Safety
// As for `freehold_kswapd`.
bool freehold_compact_proactively(const struct freehold_memory *memory,
                                  uint16_t node,
                                  uint16_t cpu,
                                  const struct freehold_embedder *embedder);

// Has all memories of the program use the caller's locks: `zone` for zones' free lists, `percpu` for CPUs' lists; null
// for spin locks that leave interrupts alone, as both are at first. It is called once, before any other thread uses
// the library and before the first `freehold_new`; `FREEHOLD_STATUS_ALREADY_SET_UP` afterwards.
//
// Where interrupts use the memory, the zone lock turns them off while it is held. The lock of CPUs' lists need not: what
// an interrupt may call only tries it.
//
// # Safety
// Both point to functions that keep two callers apart, and live as long as the program.
enum freehold_status freehold_use_locks(const struct freehold_lock_functions *zone,
                                        const struct freehold_lock_functions *percpu);

// Returns the bytes that `freehold_new` needs; 0 if the configuration is not a valid one.
//
// # Safety
// `config` is null, or each of its lists is null or has as many entries as it says.
size_t freehold_required_bytes(const struct freehold_config *config);

// Makes a memory of which all frames are absent, in `bytes` bytes at `metadata`, and writes its address to `memory`.
// The address is good as long as the bytes are: there is nothing to be closed.
//
// # Safety
// `config` as for `freehold_required_bytes`. The bytes are nobody else's for as long as the memory is used; `memory` can
// be written.
enum freehold_status freehold_new(const struct freehold_config *config,
                                  void *metadata,
                                  size_t bytes,
                                  struct freehold_memory **memory);

// Brings absent frames into service as free pages.
//
// # Safety
// `memory` is null or one of `freehold_new`'s.
enum freehold_status freehold_add_free(const struct freehold_memory *memory,
                                       uint64_t start,
                                       uint64_t pages);

// Brings absent frames into service as pages in use that are never freed.
//
// # Safety
// As for `freehold_add_free`.
enum freehold_status freehold_add_reserved(const struct freehold_memory *memory,
                                           uint64_t start,
                                           uint64_t pages);

// Returns the number of zones; they are numbered from 0, nodes ascending, within a node from low to high addresses.
//
// # Safety
// `memory` is null or one of `freehold_new`'s.
size_t freehold_zones(const struct freehold_memory *memory);

// Writes what a zone looks like to `info`.
//
// # Safety
// As for `freehold_zones`; `info` is null or can be written.
enum freehold_status freehold_zone_info(const struct freehold_memory *memory,
                                        size_t zone,
                                        struct freehold_zone_info *info);

// Returns the number of free blocks of exactly this order in all zones.
//
// # Safety
// As for `freehold_zones`.
uint64_t freehold_free_blocks(const struct freehold_memory *memory, uint8_t block_order);

// Writes the contents of `/proc/buddyinfo` to `text`, as many bytes as there is room for and a 0 behind. Returns the
// number of bytes of the whole, without the 0.
//
// # Safety
// As for `freehold_zones`; `text` is null or `room` bytes can be written there.
size_t freehold_buddyinfo(const struct freehold_memory *memory,
                          char *text,
                          size_t room);

// Writes the contents of `/proc/pagetypeinfo` as `freehold_buddyinfo` does.
//
// # Safety
// As for `freehold_buddyinfo`.
size_t freehold_pagetypeinfo(const struct freehold_memory *memory, char *text, size_t room);

// Verifies every invariant while nobody else uses the memory: OK, or BROKEN. A sentence about the first that is broken
// goes to `text`, with a 0 behind; an empty one if all hold.
//
// # Safety
// As for `freehold_buddyinfo`.
enum freehold_status freehold_check(const struct freehold_memory *memory,
                                    char *text,
                                    size_t room);

// Isolates the pageblocks that a range touches, and drains all CPUs' lists: no request that begins later gets a page of
// them.
//
// # Safety
// `memory` is null or one of `freehold_new`'s.
enum freehold_status freehold_isolate(const struct freehold_memory *memory,
                                      uint64_t start,
                                      uint64_t pages);

// Ends the isolation of the pageblocks that a range touches.
//
// # Safety
// As for `freehold_isolate`.
enum freehold_status freehold_unisolate(const struct freehold_memory *memory,
                                        uint64_t start,
                                        uint64_t pages);

// Takes whole pageblocks out of service, and moves what is in use there away through the embedder. If `isolated`, the
// caller has isolated them, and they stay isolated after a failure. Pages that have moved stay where they are then.
//
// # Safety
// As for `freehold_isolate`; the embedder's functions may be called with its context.
enum freehold_status freehold_offline(const struct freehold_memory *memory,
                                      uint64_t start,
                                      uint64_t pages,
                                      bool isolated,
                                      uint16_t cpu,
                                      const struct freehold_embedder *embedder);

// Brings absent frames into service as free pages, and counts them among the managed ones.
//
// # Safety
// As for `freehold_isolate`.
enum freehold_status freehold_online(const struct freehold_memory *memory,
                                     uint64_t start,
                                     uint64_t pages);

// Allocates exactly the frames of a range, each as a page of its own, and moves what is in use there away through the
// embedder. Pages that have moved before a failure stay where they are.
//
// # Safety
// As for `freehold_offline`.
enum freehold_status freehold_alloc_contig(const struct freehold_memory *memory,
                                           uint64_t start,
                                           uint64_t pages,
                                           uint16_t cpu,
                                           const struct freehold_embedder *embedder);

// Frees single pages side by side. After an error the first `*freed` of them are free; `freed` may be null.
//
// # Safety
// As for `freehold_isolate`; `freed` is null or can be written.
enum freehold_status freehold_free_contig(const struct freehold_memory *memory,
                                          uint16_t cpu,
                                          uint64_t start,
                                          uint64_t pages,
                                          uint64_t *freed);

// Sets whether an allocated block can be moved, where its flags do not tell.
//
// # Safety
// As for `freehold_isolate`.
enum freehold_status freehold_set_movable(const struct freehold_memory *memory,
                                          uint64_t pfn,
                                          bool movable);

// Answers a request: the first frame of the block goes to `pfn`.
//
// # Safety
// `memory` is null or one of `freehold_new`'s; `pfn` is null or can be written.
enum freehold_status freehold_alloc(const struct freehold_memory *memory,
                                    struct freehold_request request,
                                    uint64_t *pfn);

// Answers a request as `freehold_alloc` does, but one that may wait reclaims and compacts through the embedder before
// it fails.
//
// # Safety
// As for `freehold_alloc`; the embedder's functions may be called with its context.
enum freehold_status freehold_alloc_with(const struct freehold_memory *memory,
                                         struct freehold_request request,
                                         const struct freehold_embedder *embedder,
                                         uint64_t *pfn);

// Allocates exactly the block at a frame, if all of it is free. It counts as unmovable.
//
// # Safety
// `memory` is null or one of `freehold_new`'s.
enum freehold_status freehold_alloc_at(const struct freehold_memory *memory,
                                       uint64_t pfn,
                                       uint8_t block_order);

// Frees a block on a CPU.
//
// # Safety
// As for `freehold_alloc_at`.
enum freehold_status freehold_free(const struct freehold_memory *memory,
                                   uint16_t cpu,
                                   uint64_t pfn,
                                   uint8_t block_order);

// Splits an allocated block of order `from` into blocks of order `to`, each freed by itself.
//
// # Safety
// As for `freehold_alloc_at`.
enum freehold_status freehold_split(const struct freehold_memory *memory,
                                    uint64_t pfn,
                                    uint8_t from,
                                    uint8_t to);

// Returns a sentence about a status; one that says so for a number that is none. It lives for ever.
const char *freehold_strerror(int32_t status);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FREEHOLD_H */
