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

// The most ranges in a list of ranges.
#define FREEHOLD_MOST_RANGES 64

// Addresses below 16 MiB.
#define FREEHOLD_ZONE_DMA 0

// Addresses below 4 GiB.
#define FREEHOLD_ZONE_DMA32 1

// Addresses that every request may use.
#define FREEHOLD_ZONE_NORMAL 2

// Addresses that the kernel does not map.
#define FREEHOLD_ZONE_HIGHMEM 3

// Addresses for movable pages only.
#define FREEHOLD_ZONE_MOVABLE 4

// The allocator of Linux 6.1.
#define FREEHOLD_ERA_LINUX_6_1 0

// The allocator of Linux 6.12.
#define FREEHOLD_ERA_LINUX_6_12 1

// The allocator of Linux 7.3.
#define FREEHOLD_ERA_LINUX_7_3 2

// The allocator of Linux 7.3 with counts per migratetype.
#define FREEHOLD_ERA_LINUX_7_3_COUNTS 3

// The allocator of Linux 7.3 with all changes of Freehold.
#define FREEHOLD_ERA_FREEHOLD 4

// A request of the kernel that may wait, reclaim and start I/O.
#define FREEHOLD_GFP_KERNEL 1728

// A caller that cannot wait, such as an interrupt. It may use half of the min watermark.
#define FREEHOLD_GFP_ATOMIC 1056

// A caller that does not wait.
#define FREEHOLD_GFP_NOWAIT 5120

// Pages of a user process.
#define FREEHOLD_GFP_USER 526016

// Pages of a user process that can be moved, in any zone.
#define FREEHOLD_GFP_HIGHUSER_MOVABLE 526026

// A huge page, with reclaim and compaction.
#define FREEHOLD_GFP_TRANSHUGE 922314

// Only zone DMA.
#define FREEHOLD_GFP_DMA 1

// Zone DMA32 or below.
#define FREEHOLD_GFP_DMA32 4

// The page can be moved.
#define FREEHOLD_GFP_MOVABLE 8

// The page can be reclaimed.
#define FREEHOLD_GFP_RECLAIMABLE 16

// A last attempt below all watermarks. It may fail.
#define FREEHOLD_GFP_NOFAIL 16384

// Fail instead of trying hard.
#define FREEHOLD_GFP_NORETRY 32768

// No watermark applies.
#define FREEHOLD_GFP_MEMALLOC 65536

// Only the node of the request.
#define FREEHOLD_GFP_THISNODE 1048576

// The result of a call. After any result other than OK nothing has changed, unless the function says otherwise.
enum freehold_status {
    // The call succeeded.
    FREEHOLD_STATUS_OK = 0,
    // A required pointer is null.
    FREEHOLD_STATUS_NULL_POINTER = 1,
    // A number is not that of a zone, type, era or flag.
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
    // The frame or the range is not aligned.
    FREEHOLD_STATUS_UNALIGNED = 11,
    // Part of the block is in use, or reserved.
    FREEHOLD_STATUS_IN_USE = 12,
    // Part of the block is in an isolated pageblock.
    FREEHOLD_STATUS_ISOLATED = 13,
    // Part of the block is in a CMA pageblock.
    FREEHOLD_STATUS_CMA = 14,
    // A page is in transit to or from its owner. Another try may succeed.
    FREEHOLD_STATUS_BUSY = 15,
    // A pageblock reaches outside the zone.
    FREEHOLD_STATUS_STRADDLES_ZONE = 16,
    // A pageblock is isolated already, or not isolated when it should be.
    FREEHOLD_STATUS_WRONG_STATE = 17,
    // The range has pages that cannot be moved, or holes.
    FREEHOLD_STATUS_UNMOVABLE = 18,
    // The range does not have the requested type.
    FREEHOLD_STATUS_WRONG_TYPE = 19,
    // The memory has no room outside the range for its pages.
    FREEHOLD_STATUS_NO_ROOM = 20,
    // There are fewer bytes than `freehold_required_bytes` returns.
    FREEHOLD_STATUS_METADATA_TOO_SMALL = 21,
    // A memory is already set up.
    FREEHOLD_STATUS_ALREADY_SET_UP = 22,
    // No zone was given, a zone has no pages, or a frame is in no zone.
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
    // A block is misaligned, too large, or on a list that cannot have it.
    FREEHOLD_STATUS_BAD_BLOCK = 29,
    // An invariant is violated. The text of `freehold_check` names the invariant and a frame.
    FREEHOLD_STATUS_BROKEN = 30,
    // An error without a number in this version.
    FREEHOLD_STATUS_OTHER = 31,
    // Part of the range lies in a section without metadata.
    FREEHOLD_STATUS_NO_SECTION = 32,
};

// The page allocator: all nodes and zones of a machine.
struct freehold_memory;

// One zone. The library computes its watermarks and the settings of CPUs' lists from its size, as Linux does.
struct freehold_zone {
    // The first frame, with any alignment.
    uint64_t start;
    // The number of pages from the first to the last, including holes.
    uint64_t spanned;
    // The number of pages without holes; 0 for all pages.
    uint64_t managed;
    // The number of the NUMA node.
    uint16_t node;
    // The type of the zone: one of `FREEHOLD_ZONE_DMA` to `FREEHOLD_ZONE_MOVABLE`.
    uint8_t kind;
};

// A range of frames.
struct freehold_range {
    // The first frame.
    uint64_t start;
    // The number of frames.
    uint64_t pages;
};

// The configuration of a memory. `freehold_config_linux` fills it in.
struct freehold_config {
    // The zones, in any order. They are not needed after `freehold_new`.
    const struct freehold_zone *zones;
    // The number of zones, at most `FREEHOLD_MOST_ZONES`.
    size_t zone_count;
    // The ranges with memory, in any order. They are not needed after `freehold_new`. A section without any frame of
    // `present` or `hotplug` costs no metadata, and can get no memory later. Null if all sections have metadata.
    const struct freehold_range *present;
    // The number of ranges in `present`, at most `FREEHOLD_MOST_RANGES`.
    size_t present_count;
    // The ranges to which `freehold_online` may add memory later. Null for none.
    const struct freehold_range *hotplug;
    // The number of ranges in `hotplug`, at most `FREEHOLD_MOST_RANGES`.
    size_t hotplug_count;
    // The page size. Units: bytes.
    uint64_t page_bytes;
    // The number of CPUs, which are numbered from 0.
    uint16_t cpus;
    // The largest order, 0 to 18.
    uint8_t max_order;
    // The order of a pageblock, at most the largest order.
    uint8_t pageblock_order;
    // The generation of the allocator: one of `FREEHOLD_ERA_LINUX_6_1` to `FREEHOLD_ERA_FREEHOLD`.
    uint8_t era;
    // The order of a section. An order below the largest order counts as the latter.
    uint8_t section_order;
    // True if a pageblock is a huge page, and has lists of CPUs.
    bool huge_pages;
};

// The result of reclaim.
struct freehold_reclaimed {
    // Pages scanned.
    uint64_t scanned;
    // Pages freed.
    uint64_t reclaimed;
};

// The parameters of one round of reclaim.
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
    // The order of the block for which memory is reclaimed.
    uint8_t order;
    // The priority of the scan, from 12 down to 0: the number of pages to scan is all pages divided by 2^priority.
    uint8_t priority;
    // True to free only pages that need not be written first.
    bool clean_only;
};

// The functions that move and reclaim pages. A function that is null does nothing.
struct freehold_embedder {
    // The first argument of every function.
    void *context;
    // Returns true if the allocated block at `pfn` may be moved. The caller then keeps the block allocated until
    // `relocate` is called for it, or the call into the library returns.
    bool (*is_movable)(void *context, uint64_t pfn, uint8_t order);
    // Moves the contents of the block at `from` to the block at `to`. If it returns true, the caller owns `to`, and
    // the library frees `from`. If it returns false, nothing has changed. It must not allocate.
    bool (*relocate)(void *context, uint64_t from, uint64_t to, uint8_t order);
    // Frees pages by `freehold_free` before it returns, about as many as wanted.
    struct freehold_reclaimed (*shrink)(void *context, const struct freehold_shrink *wanted);
    // Returns the largest number of pages of one zone that could be reclaimed.
    uint64_t (*reclaimable_pages)(void *context, uint16_t node, uint8_t kind);
};

// The memory of one lock. All words are 0 at first, which must mean unlocked. The address does not change.
struct freehold_lock {
    // The words belong to the caller from the first call of one of its functions on.
    size_t words[4];
};

// The functions of the caller's own locks. None may be null.
//
// The thread that took locks releases them, in the reverse order.
struct freehold_lock_functions {
    // Takes a lock, and waits for it.
    void (*lock)(struct freehold_lock *lock);
    // Takes a lock if it is free. Returns true if it took the lock.
    bool (*try_lock)(struct freehold_lock *lock);
    // Releases a lock.
    void (*unlock)(struct freehold_lock *lock);
};

// The current state of one zone.
struct freehold_zone_info {
    // The first frame.
    uint64_t start;
    // The frame behind the last.
    uint64_t end;
    // The number of frames in service.
    uint64_t present;
    // The number of pages that the allocator manages.
    uint64_t managed;
    // The number of free pages, without isolated pages and pages on CPUs' lists.
    uint64_t free;
    // The number of pages on the lists of all CPUs.
    uint64_t percpu;
    // The number of the node.
    uint16_t node;
    // The type of the zone: one of `FREEHOLD_ZONE_DMA` to `FREEHOLD_ZONE_MOVABLE`.
    uint8_t kind;
};

// A request for one block.
struct freehold_request {
    // The flags, for example `FREEHOLD_GFP_KERNEL`.
    uint32_t gfp;
    // The CPU of the caller.
    uint16_t cpu;
    // The node whose zones are tried first.
    uint16_t node;
    // The order of the block.
    uint8_t order;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the configuration of zones with pages of 4 KiB, blocks up to order 10, pageblocks of order 9 and the era
// `FREEHOLD_ERA_FREEHOLD`. The caller may change every field afterwards.
struct freehold_config freehold_config_linux(const struct freehold_zone *zones,
                                             size_t zone_count,
                                             uint16_t cpus);

// Shortens a CPU's lists, as Linux does once a second. Returns true if there was work, or a later call will have work.
//
// # Safety
// `memory` is null, or comes from `freehold_new`.
bool freehold_refresh(const struct freehold_memory *memory,
                      uint16_t cpu);

// Drains the lists of every CPU.
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

// Runs a node's kcompactd once. Returns true if a block of the requested order is free afterwards.
//
// # Safety
// As for `freehold_kswapd`.
bool freehold_kcompactd(const struct freehold_memory *memory,
                        uint16_t node,
                        uint16_t cpu,
                        const struct freehold_embedder *embedder);

// Compacts a node proactively if it is fragmented. Returns true if the node is less fragmented afterwards.
//
// # Safety
// As for `freehold_kswapd`.
bool freehold_compact_proactively(const struct freehold_memory *memory,
                                  uint16_t node,
                                  uint16_t cpu,
                                  const struct freehold_embedder *embedder);

// Makes all memories of the program use the caller's locks: `zone` for zones' free lists, `percpu` for CPUs' lists.
// Null stands for spin locks that leave interrupts on, which is the default for both. The function must be called
// before any other thread uses the library, and before the first `freehold_new`. Later it returns
// `FREEHOLD_STATUS_ALREADY_SET_UP`.
//
// If interrupts use the memory, the zone lock must turn them off while it is held. The lock of CPUs' lists need not:
// functions that an interrupt may call only try it.
//
// # Safety
// Both pointers refer to functions that exclude two callers from each other, and live as long as the program.
enum freehold_status freehold_use_locks(const struct freehold_lock_functions *zone,
                                        const struct freehold_lock_functions *percpu);

// Returns the number of bytes that `freehold_new` needs; 0 if the configuration is not valid.
//
// # Safety
// `config` is null, or each of its lists is null or has as many entries as its count.
size_t freehold_required_bytes(const struct freehold_config *config);

// Makes a memory whose frames are all absent, in `bytes` bytes at `metadata`, and writes its address to `memory`. The
// address is valid as long as the bytes are. A memory need not be closed.
//
// # Safety
// `config` as for `freehold_required_bytes`. No other code uses the bytes as long as the memory is used. `memory` can
// be written.
enum freehold_status freehold_new(const struct freehold_config *config,
                                  void *metadata,
                                  size_t bytes,
                                  struct freehold_memory **memory);

// Brings absent frames into service as free pages.
//
// # Safety
// `memory` is null, or comes from `freehold_new`.
enum freehold_status freehold_add_free(const struct freehold_memory *memory,
                                       uint64_t start,
                                       uint64_t pages);

// Brings absent frames into service as reserved pages, which are never freed.
//
// # Safety
// As for `freehold_add_free`.
enum freehold_status freehold_add_reserved(const struct freehold_memory *memory,
                                           uint64_t start,
                                           uint64_t pages);

// Returns the number of zones. Zones are numbered from 0: by ascending node, and within a node from low to high
// addresses.
//
// # Safety
// `memory` is null, or comes from `freehold_new`.
size_t freehold_zones(const struct freehold_memory *memory);

// Writes the current state of a zone to `info`.
//
// # Safety
// As for `freehold_zones`; `info` is null, or can be written.
enum freehold_status freehold_zone_info(const struct freehold_memory *memory,
                                        size_t zone,
                                        struct freehold_zone_info *info);

// Returns the number of free blocks of exactly this order in all zones.
//
// # Safety
// As for `freehold_zones`.
uint64_t freehold_free_blocks(const struct freehold_memory *memory, uint8_t block_order);

// Writes the contents of `/proc/buddyinfo` to `text`, followed by a 0 byte. Text that does not fit into `room` bytes
// is cut off. Returns the number of bytes of the complete text, without the 0 byte.
//
// # Safety
// As for `freehold_zones`; `text` is null, or `room` bytes can be written there.
size_t freehold_buddyinfo(const struct freehold_memory *memory,
                          char *text,
                          size_t room);

// Writes the contents of `/proc/pagetypeinfo` as `freehold_buddyinfo` does.
//
// # Safety
// As for `freehold_buddyinfo`.
size_t freehold_pagetypeinfo(const struct freehold_memory *memory, char *text, size_t room);

// Verifies every invariant. No other thread may use the memory meanwhile. Returns OK or BROKEN. Writes a sentence
// about the first violated invariant to `text`, followed by a 0 byte. The sentence is empty if there is none.
//
// # Safety
// As for `freehold_buddyinfo`.
enum freehold_status freehold_check(const struct freehold_memory *memory,
                                    char *text,
                                    size_t room);

// Isolates the pageblocks that a range touches, and drains all CPUs' lists. No later request gets a page of these
// pageblocks.
//
// # Safety
// `memory` is null, or comes from `freehold_new`.
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

// Takes whole pageblocks out of service. The embedder moves their pages in use away. If `isolated` is true, the caller
// has isolated the pageblocks before, and they stay isolated after a failure. After a failure, pages that have moved
// do not move back.
//
// # Safety
// As for `freehold_isolate`; the embedder's functions may be called with its context.
enum freehold_status freehold_offline(const struct freehold_memory *memory,
                                      uint64_t start,
                                      uint64_t pages,
                                      bool isolated,
                                      uint16_t cpu,
                                      const struct freehold_embedder *embedder);

// Brings absent frames into service as free pages, and counts them as managed.
//
// # Safety
// As for `freehold_isolate`.
enum freehold_status freehold_online(const struct freehold_memory *memory,
                                     uint64_t start,
                                     uint64_t pages);

// Allocates exactly the frames of a range as single pages. The embedder moves the pages in use there away. After a
// failure, pages that have moved do not move back.
//
// # Safety
// As for `freehold_offline`.
enum freehold_status freehold_alloc_contig(const struct freehold_memory *memory,
                                           uint64_t start,
                                           uint64_t pages,
                                           uint16_t cpu,
                                           const struct freehold_embedder *embedder);

// Frees contiguous single pages. After an error the first `*freed` of them are free; `freed` may be null.
//
// # Safety
// As for `freehold_isolate`; `freed` is null, or can be written.
enum freehold_status freehold_free_contig(const struct freehold_memory *memory,
                                          uint16_t cpu,
                                          uint64_t start,
                                          uint64_t pages,
                                          uint64_t *freed);

// Sets whether an allocated block can be moved. At first that depends on the flags of the request.
//
// # Safety
// As for `freehold_isolate`.
enum freehold_status freehold_set_movable(const struct freehold_memory *memory,
                                          uint64_t pfn,
                                          bool movable);

// Allocates a block, and writes its first frame to `pfn`. A request that may wait reclaims and compacts through the
// embedder before it fails. Without an embedder it drains the per-CPU lists and the reserve for atomic requests.
//
// # Safety
// `memory` is null, or comes from `freehold_new`; `pfn` is null, or can be written; `embedder` is null, or its functions
// may be called with its context.
enum freehold_status freehold_alloc(const struct freehold_memory *memory,
                                    struct freehold_request request,
                                    const struct freehold_embedder *embedder,
                                    uint64_t *pfn);

// Allocates exactly the block at a frame, if all of it is free. The block counts as unmovable.
//
// # Safety
// `memory` is null, or comes from `freehold_new`.
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

// Splits an allocated block of order `from` into blocks of order `to`, which are freed one by one.
//
// # Safety
// As for `freehold_alloc_at`.
enum freehold_status freehold_split(const struct freehold_memory *memory,
                                    uint64_t pfn,
                                    uint8_t from,
                                    uint8_t to);

// Returns a sentence about a status, which is valid for ever. A number without a status has a sentence as well.
const char *freehold_strerror(int32_t status);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FREEHOLD_H */
