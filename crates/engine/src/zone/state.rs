//! One zone: a range of frames with its free lists, counts, watermarks and per-CPU lists.

use core::ops::Range;

use lock_api::Mutex;

use super::compaction_state::CompactionState;
use super::config::ZoneConfig;
use super::counts::{Counts, FreeCounts};
use super::free_lists::FreeLists;
use super::unmixed::Unmixed;
use super::watermark_levels::{MOST_PAGES, WatermarkCells, Watermarks};
use crate::percpu::{PerCpuLists, listed_up_to};
use crate::table::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::table::{FrameIndex, FrameKind, FrameTable, FrameWord, OwnLines, PageblockTable};
use crate::types::{
    FreeError, MIGRATETYPES, Migratetype, Order, PerCpuStats, Pfn, Platform, Switches, ZONE_TYPES, ZoneStats,
    ZoneType,
};

/// Numbers that change under the zone lock and are read without it.
///
/// Each is exact at the end of a lock hold.
#[derive(Debug)]
pub(crate) struct Shared {
    /// For each migratetype, one bit for each order whose list is not empty.
    pub(super) occupied: [AtomicU32; MIGRATETYPES],
    /// Requests of orders below this number pass the check of the high watermark with any flags, and no boost, active
    /// reclaim or below-high flag is pending. The fast path reads only this number. It is 0 if any of that is
    /// uncertain, and while requests bypass the per-CPU lists.
    pub(crate) plenty: OwnLines<AtomicU32>,
    pub(super) free_pages: AtomicU64,
    pub(crate) free_cma: AtomicU64,
    pub(crate) free_highatomic: AtomicU64,
    pub(crate) reserved_highatomic: AtomicU64,
    /// Pages that the allocator manages.
    pub(super) managed: AtomicU64,
    /// Frames that are not absent.
    pub(super) present: AtomicU64,
    pub(crate) watermarks: WatermarkCells,
    pub(crate) boost_factor: AtomicU64,
    pub(crate) boost: AtomicU64,
    /// True if kswapd is to reclaim because of a boost. Linux counterpart: `ZONE_BOOSTED_WATERMARK`.
    pub(crate) boosted: AtomicBool,
    /// True if a request that may wake kswapd found the zone below its low watermark.
    pub(crate) kswapd_wanted: AtomicBool,
    /// True if the zone fell below its high watermark. Linux counterpart: `ZONE_BELOW_HIGH`.
    pub(crate) below_high: AtomicBool,
    /// True while reclaim works on the zone. Linux counterpart: `ZONE_RECLAIM_ACTIVE`.
    pub(crate) reclaim_active: AtomicBool,
    /// True while requests and frees bypass the per-CPU lists; see [`Switches::bypasses_lists_when_short`].
    pub(crate) bypasses_lists: AtomicBool,
}

impl Shared {
    fn new(watermarks: Watermarks, boost_factor: u64, managed: u64) -> Self {
        Self {
            occupied: core::array::from_fn(|_| AtomicU32::new(0)),
            plenty: OwnLines(AtomicU32::new(0)),
            free_pages: AtomicU64::new(0),
            free_cma: AtomicU64::new(0),
            free_highatomic: AtomicU64::new(0),
            reserved_highatomic: AtomicU64::new(0),
            managed: AtomicU64::new(managed),
            present: AtomicU64::new(0),
            watermarks: WatermarkCells::new(watermarks),
            boost_factor: AtomicU64::new(boost_factor),
            boost: AtomicU64::new(0),
            boosted: AtomicBool::new(false),
            kswapd_wanted: AtomicBool::new(false),
            below_high: AtomicBool::new(false),
            reclaim_active: AtomicBool::new(false),
            bypasses_lists: AtomicBool::new(false),
        }
    }

    /// Returns three numbers of pages: free pages of CMA pageblocks, free pages reserved for atomic requests, and all
    /// pages reserved for them.
    #[inline]
    pub(super) fn kept(&self) -> (u64, u64, u64) {
        let read = |pages: &AtomicU64| pages.load(Ordering::Relaxed);
        (read(&self.free_cma), read(&self.free_highatomic), read(&self.reserved_highatomic))
    }
}

/// The state that only the holder of the zone lock reads and writes.
#[derive(Debug, Default)]
pub(crate) struct LockedState {
    pub(crate) lists: FreeLists,
    pub(crate) stats: ZoneStats,
    /// Free pages, not counting isolated ones. Linux counterpart: `NR_FREE_PAGES`.
    pub(crate) free_pages: u64,
    /// Free pages of CMA blocks. Linux counterpart: `NR_FREE_CMA_PAGES`.
    pub(crate) free_cma: u64,
    /// Free pages of blocks reserved for atomic requests. Linux counterpart: `nr_free_highatomic`.
    pub(crate) free_highatomic: u64,
    /// Pages of blocks reserved for atomic requests. Linux counterpart: `nr_reserved_highatomic`.
    pub(crate) reserved_highatomic: u64,
    /// Isolated pageblocks. Linux counterpart: `nr_isolate_pageblock`.
    pub(crate) isolated_blocks: u64,
    pub(crate) ever_isolated: bool,
    pub(crate) compaction: CompactionState,
    /// The number of the pageblock at which tidying continues.
    pub(crate) tidied_to: u32,
}

/// One zone. Linux counterpart: `struct zone`.
///
/// Invariants, numbered as [`Zone::check`] verifies them:
///
/// 1. A frame is the first of a free block if and only if it is on exactly one free list: that of the order and type
///    in its word.
/// 2. Each list has the same links forwards and backwards.
/// 3. Blocks are aligned to their size, lie inside the zone and do not overlap.
/// 4. Two buddies smaller than a pageblock are never both free.
/// 5. The total per order, kept or derived, is the number of blocks on its lists.
/// 6. With [`Switches::counts`], the count per order and type is the length of its list. In every era, the bit
///    of a list is set if the list has a block.
/// 7. With hygiene, a free block is on the list of its pageblock's type, and none has been on another.
/// 8. The numbers of free, CMA and reserved pages are the sums over the lists. Without hygiene this does not hold for
///    free and CMA pages after a pageblock was isolated.
/// 9. The page count of a CPU's lists is the number of pages on them.
/// 10. Every frame of a block other than its first is a tail.
/// 11. With [`Switches::claims_by_counts`], a pageblock's first count is the number of its pages in free blocks smaller
///     than itself. The sum of its two counts does not exceed its pages.
/// 12. A frame with metadata is found by its number, and the frames of a block are contiguous in the tables.
///
/// The fields that never change come first. Three groups follow, each on its own cache lines: fields that holders of
/// the zone lock publish, the counts of free blocks, and fields that only the holder reads.
#[repr(C)]
pub struct Zone<'m, P: Platform> {
    pub(crate) frames: FrameTable<'m>,
    pub(crate) blocks: PageblockTable<'m>,
    pub(crate) percpu: &'m [CpuLists<'m, P>],
    /// The zone's first frame and, in `end`, the frame behind its last, including holes.
    start: Pfn,
    end: Pfn,
    pub(crate) switches: Switches,
    pub(crate) max_order: Order,
    pub(super) has_huge_lists: bool,
    /// All orders up to this one have per-CPU lists.
    pub(crate) listed: Order,
    pub(crate) kind: ZoneType,
    pub(crate) node: u16,
    /// The reasons not to mix pageblock types.
    pub(crate) unmixed: Unmixed,
    pub(super) lowmem_reserve: [u64; ZONE_TYPES],
    pub(super) largest_lowmem_reserve: u64,
    pub(super) tracepoints: &'m P::Tracepoints,
    pub(crate) rule: &'m P::Rule,
    /// The number of refused choices of the rule and, in `last_refused`, the last of them. A correct rule never writes
    /// them.
    pub(crate) refused: AtomicU64,
    pub(crate) last_refused: AtomicU64,
    pub(crate) shared: OwnLines<Shared>,
    pub(crate) counts: OwnLines<Counts>,
    pub(super) state: OwnLines<Mutex<P::ZoneLock, LockedState>>,
}

/// One CPU's lists of a zone with their lock, on their own cache lines.
pub(crate) type CpuLists<'m, P> = OwnLines<Mutex<<P as Platform>::PerCpuLock, PerCpuLists<'m>>>;

/// The parts of a zone in the caller's memory, and the settings that all zones share.
pub(crate) struct ZoneParts<'m, P: Platform> {
    pub(crate) frames: FrameTable<'m>,
    pub(crate) blocks: PageblockTable<'m>,
    pub(crate) percpu: &'m [CpuLists<'m, P>],
    pub(crate) max_order: Order,
    pub(crate) switches: Switches,
    pub(crate) boost_factor: u64,
    pub(crate) has_huge_lists: bool,
    pub(crate) avoids_mixing: bool,
    pub(crate) tracepoints: &'m P::Tracepoints,
    pub(crate) rule: &'m P::Rule,
}

impl<'m, P: Platform> Zone<'m, P> {
    pub(crate) fn new(config: &ZoneConfig, parts: ZoneParts<'m, P>) -> Self {
        let lowmem_reserve = config.lowmem_reserve.map(|pages| pages.min(MOST_PAGES));
        Self {
            start: config.start,
            end: config.start.add(config.spanned),
            node: config.node,
            kind: config.kind,
            max_order: parts.max_order,
            switches: parts.switches,
            has_huge_lists: parts.has_huge_lists,
            listed: listed_up_to(&parts.switches, parts.blocks.order()),
            unmixed: Unmixed::new(parts.avoids_mixing),
            lowmem_reserve,
            largest_lowmem_reserve: lowmem_reserve.into_iter().max().unwrap_or(0),
            frames: parts.frames,
            blocks: parts.blocks,
            shared: OwnLines(Shared::new(
                config.watermarks,
                parts.boost_factor,
                config.managed.min(MOST_PAGES),
            )),
            counts: OwnLines(Counts::new(parts.switches)),
            state: OwnLines(Mutex::new(LockedState::default())),
            percpu: parts.percpu,
            tracepoints: parts.tracepoints,
            rule: parts.rule,
            refused: AtomicU64::new(0),
            last_refused: AtomicU64::new(0),
        }
    }

    /// Returns the zone's node.
    pub fn node(&self) -> u16 {
        self.node
    }

    /// Returns the type of the zone.
    pub fn kind(&self) -> ZoneType {
        self.kind
    }

    /// Returns the zone's first frame.
    pub fn start(&self) -> Pfn {
        self.start
    }

    /// Returns the frame behind the zone's last.
    pub fn end(&self) -> Pfn {
        self.end
    }

    /// Returns the ranges of frames that have metadata, from low to high. There is one range, unless
    /// [`crate::MemoryConfig::sections`] leaves sections out. All other frames of the zone are permanent holes.
    pub fn section_runs(&self) -> impl Iterator<Item = Range<Pfn>> {
        self.frames.runs()
    }

    /// Returns the order of a pageblock.
    pub fn pageblock_order(&self) -> Order {
        self.blocks.order()
    }

    /// Returns the largest order.
    pub fn max_order(&self) -> Order {
        self.max_order
    }

    /// Returns true if a frame lies between the zone's start and end. The frame may be a hole.
    pub fn contains(&self, pfn: Pfn) -> bool {
        self.start <= pfn && pfn < self.end
    }

    /// Returns the number of free pages without isolated ones, as of the end of the last lock hold.
    ///
    /// Units: pages. Linux counterpart: `NR_FREE_PAGES`.
    pub fn free_pages(&self) -> u64 {
        self.shared.free_pages.load(Ordering::Relaxed)
    }

    /// Returns the type of the pageblock around a frame. Returns `None` outside the zone, and in a section without
    /// metadata.
    pub fn block_type(&self, pfn: Pfn) -> Option<Migratetype> {
        self.frames.index(pfn).map(|index| self.blocks.get(index))
    }

    /// Returns true if a list has a block. Exact for the lock holder, approximate for other callers.
    pub(crate) fn list_has_block(&self, order: Order, migratetype: Migratetype) -> bool {
        self.occupied(migratetype) & 1 << order.get() != 0
    }

    /// Returns one bit for each order whose list of this type is not empty.
    pub(super) fn occupied(&self, migratetype: Migratetype) -> u32 {
        self.shared.occupied[migratetype.index()].load(Ordering::Relaxed)
    }

    /// Returns the numbers of free blocks. Each count is exact at some moment during the call. Takes no lock.
    ///
    /// Without [`Switches::counts`] only the totals are known, and `by_type` is 0.
    pub fn counts_relaxed(&self) -> FreeCounts {
        self.counts.relaxed()
    }

    /// Returns the numbers of free blocks, all at the same moment. Returns `None` if a lock hold was in progress at
    /// each of `attempts` tries. Takes no lock.
    ///
    /// Without [`Switches::counts`] the result is always `None`.
    pub fn counts_consistent(&self, attempts: u32) -> Option<FreeCounts> {
        if self.switches.counts { self.counts.consistent(attempts) } else { None }
    }

    /// Returns the numbers of free blocks, counted by a walk over every list under the lock, and the number of list
    /// nodes visited.
    ///
    /// `cap` limits the walk over one list; Linux stops at 100 000. Linux counterpart: `pagetypeinfo_showfree_print`.
    pub fn counts_by_walk(&self, cap: u64) -> (FreeCounts, u64) {
        let mut guard = self.lock();
        let mut counts = FreeCounts::default();
        let mut visited = 0;
        for order in Order::ZERO.up_to(self.max_order) {
            for kind in Migratetype::ALL {
                let list = guard.state.lists.get(order, kind);
                let blocks =
                    list.iter(&self.frames).take(cap.try_into().unwrap_or(usize::MAX)).count() as u64;
                counts.by_type[order.index()][kind.index()] = blocks;
                visited += blocks;
            }
            counts.total[order.index()] = self.counts.total(order);
        }
        guard.state.stats.nodes_walked += visited;
        guard.touch(visited);
        (counts, visited)
    }

    /// Returns the numbers of free blocks on all lists, for tests and reports. The call walks each list to its end
    /// under the lock, and does not change the statistics.
    #[cfg(feature = "introspect")]
    pub fn list_lengths(&self) -> FreeCounts {
        let state = self.state.lock();
        let mut counts = FreeCounts::default();
        for order in Order::ZERO.up_to(self.max_order) {
            for kind in Migratetype::ALL {
                let blocks = state.lists.get(order, kind).iter(&self.frames).count() as u64;
                counts.by_type[order.index()][kind.index()] = blocks;
                counts.total[order.index()] += blocks;
            }
        }
        counts
    }

    /// Sets the statistics of the zone lock to 0, for example after frames were brought into service.
    #[cfg(feature = "introspect")]
    pub fn reset_stats(&self) {
        self.state.lock().stats = ZoneStats::default();
    }

    /// Returns the statistics of the zone lock.
    pub fn stats(&self) -> ZoneStats {
        self.state.lock().stats
    }

    /// Returns the statistics of one CPU's lists, or `None` for an absent CPU.
    pub fn percpu_stats(&self, cpu: u16) -> Option<PerCpuStats> {
        self.lock_lists(cpu).map(|lists| lists.stats())
    }

    /// Sets whether an allocated block can be migrated. At first that depends on the flags of the request.
    ///
    /// Linux counterpart: being on the LRU.
    ///
    /// # Errors
    /// As for [`crate::Memory::free`].
    pub fn set_movable(&self, pfn: Pfn, movable: bool) -> Result<(), FreeError> {
        let index = self.frames.index(pfn).ok_or(FreeError::OutsideZones)?;
        let word = self.frames.word(index);
        let exchange = || self.frames.frame(index).exchange_word(word, word.with_movable(movable));
        match word.kind() {
            FrameKind::Allocated if exchange() => Ok(()),
            FrameKind::Free | FrameKind::PerCpu => Err(FreeError::AlreadyFree),
            _ => Err(FreeError::NotAllocated),
        }
    }

    /// Takes a block from the owner that frees it. Returns its former word, or an error if the caller does not own a
    /// block of `order` there.
    #[inline]
    pub(crate) fn reclaim_ownership(&self, index: FrameIndex, order: Order) -> Result<FrameWord, FreeError> {
        let word = self.frames.word(index);
        if !word.is_owned_of(order) {
            return Err(self.why_not_owned(index, word));
        }
        let transit = FrameWord::head(FrameKind::InTransit, order, word.migratetype());
        // Of two callers that come this way one succeeds, whatever the embedder has promised.
        if self.frames.frame(index).exchange_word(word, transit) {
            Ok(word)
        } else {
            Err(FreeError::AlreadyFree)
        }
    }

    #[cold]
    fn why_not_owned(&self, index: FrameIndex, word: FrameWord) -> FreeError {
        match word.kind() {
            FrameKind::Allocated => FreeError::WrongOrder { allocated: word.order() },
            FrameKind::Free | FrameKind::PerCpu | FrameKind::InTransit => FreeError::AlreadyFree,
            FrameKind::Absent => FreeError::OutsideZones,
            FrameKind::Tail => {
                let head = self.frames.word(self.frames.block_head(index));
                let free = matches!(head.kind(), FrameKind::Free | FrameKind::PerCpu | FrameKind::InTransit);
                if free { FreeError::AlreadyFree } else { FreeError::NotAllocated }
            }
            FrameKind::Reserved => FreeError::NotAllocated,
        }
    }
}
