//! Predicts the outcome of a full compaction of a zone.
//!
//! Linux counterpart: `compact_zone` as `/proc/sys/vm/compact_memory` starts it. The migrate scanner
//! walks up from the zone's first pageblock and isolates every LRU page that it can. The free scanner
//! walks down from the last pageblock and takes free pages out of suitable pageblocks. Compaction ends
//! where the scanners meet.
//!
//! Suitable are pageblocks of the types Movable and CMA that are not one free block already
//! (`suitable_migration_target`). A page that cannot be isolated stays, and its pageblock does not become
//! free.

use freehold::Migratetype;
use freehold_linux::pageblocks::{Pageblock, STRIDES, UnmovableKind};

use super::cpu_lists::{self, CpuLists};

/// What compaction may move on this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mobility {
    /// True if the kernel has compaction (`CONFIG_COMPACTION`).
    pub compaction: bool,
    /// True if unevictable pages are moved: `vm.compact_unevictable_allowed`.
    pub unevictable: bool,
}

impl Default for Mobility {
    fn default() -> Self {
        Self { compaction: true, unevictable: true }
    }
}

/// A zone's numbers that limit compaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// True if the zone has enough free pages for the kernel to isolate any (`__isolate_free_page`).
    pub room: bool,
    /// The lists of the compacting CPU.
    pub lists: CpuLists,
    /// Pages on the lists of all CPUs before compaction.
    ///
    /// Units: pages.
    pub per_cpu_count: u64,
}

/// The bound that is predicted. The outcome is not certain: the CPU that compacts and the work of other
/// tasks are unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The lower bound: everything that may go wrong does.
    Lower,
    /// The upper bound: compaction never gives up, and every page on a per-CPU list goes back.
    Upper,
    /// No bound, but what the first attempts of requests do: they are asynchronous, move pages only out of pageblocks that can
    /// become free, and look at one page in 32 where they search for free ones.
    Direct,
}

/// What compaction did to a pageblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Neither scanner changed the pageblock.
    Untouched,
    /// All movable pages were moved away.
    Drained,
    /// Some movable pages were moved away.
    Opened,
    /// Pages were moved into the pageblock.
    Filled,
}

/// A pageblock after a compaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PredictedBlock {
    /// Free pages.
    pub free: u32,
    /// Pages that were moved away.
    pub moved: u32,
    /// What compaction did.
    pub fate: Fate,
}

impl PredictedBlock {
    /// Returns the pageblock unchanged.
    pub fn untouched(read: &Pageblock) -> Self {
        Self { free: u32::from(read.free), moved: 0, fate: Fate::Untouched }
    }
}

/// Pages that the migrate scanner isolates before it moves them, the first time in each pageblock. The
/// second time it isolates the rest.
///
/// Linux counterpart: `COMPACT_CLUSTER_MAX`, `finish_pageblock`.
const FIRST_BATCH: u32 = 32;

/// The state of the free scanner.
struct Scan<'a> {
    read: &'a [Pageblock],
    targets: Vec<bool>,
    blocks: Vec<PredictedBlock>,
    /// The index of the pageblock that the scanner is at.
    to: usize,
    bound: Bound,
}

/// A zone after a compaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compacted {
    /// The pageblocks after compaction.
    pub blocks: Vec<PredictedBlock>,
    /// Index of the pageblock at which compaction may give up: the first that the migrate scanner comes to with a dirty compound
    /// page, which the kernel cannot split and may not find a place for.
    pub gives_up_at: Option<usize>,
}

/// Predicts the outcome of a full compaction of one zone.
///
/// `types` are the pageblocks' migratetypes, where known. A pageblock of unknown type counts as a
/// suitable target if its pages suggest the type Movable.
pub fn compact(
    read: &[Pageblock],
    types: &[Option<Migratetype>],
    mobility: Mobility,
    limits: Limits,
    bound: Bound,
) -> Compacted {
    let blocks: Vec<_> = read.iter().map(PredictedBlock::untouched).collect();
    if !limits.room || !mobility.compaction || read.is_empty() {
        return Compacted { blocks, gives_up_at: None };
    }
    let targets = read
        .iter()
        .enumerate()
        .map(|(at, block)| is_target(block, types.get(at).copied().flatten()))
        .collect();
    let mut scan = Scan { read, targets, blocks, to: read.len() - 1, bound };
    let mut gives_up_at = None;
    for (from, source) in read.iter().enumerate() {
        let mut left = isolated(source, mobility);
        if from >= scan.to {
            break;
        }
        if bound == Bound::Direct && source.stuck() > 0 {
            left = 0;
        }
        if bound == Bound::Lower && left > 0 && source.dirty_order > 0 {
            gives_up_at = Some(from);
            break;
        }
        while left > 0 && scan.to > from {
            let batch = if scan.blocks[from].moved == 0 { left.min(FIRST_BATCH) } else { left };
            let moved = take(&mut scan, from, batch);
            let block = &mut scan.blocks[from];
            block.free += moved;
            block.moved += moved;
            left -= moved;
            if block.moved > 0 {
                block.fate = if left == 0 { Fate::Drained } else { Fate::Opened };
            }
        }
    }
    let mut zone = Compacted { blocks: scan.blocks, gives_up_at };
    match bound {
        Bound::Lower => keep_on_lists(read, &mut zone.blocks, limits.lists),
        Bound::Direct => {}
        Bound::Upper => drive_out_of_lists(read, &mut zone.blocks, limits.per_cpu_count),
    }
    zone
}

/// Takes `wanted` free pages, from pageblock `scan.to` downwards but only above pageblock `from`. Returns
/// how many it took.
///
/// The scanner doubles its step with each pageblock in which it finds nothing, and so misses free pages
/// in the following pageblocks.
///
/// Linux counterpart: `isolate_freepages`.
fn take(scan: &mut Scan<'_>, from: usize, wanted: u32) -> u32 {
    let mut taken = 0;
    let mut strides = if scan.bound == Bound::Direct { STRIDES.len() } else { 0 };
    while taken < wanted && scan.to > from {
        let block = &mut scan.blocks[scan.to];
        if !scan.targets[scan.to] {
            scan.to -= 1;
            continue;
        }
        let at_stride = |nth: usize| u32::from(scan.read[scan.to].free_strided[nth]);
        let found = match strides {
            0 => block.free,
            _ if scan.bound == Bound::Upper => block.free,
            strides => block.free.min(at_stride(STRIDES.len().min(strides) - 1)),
        };
        let now = found.min(wanted - taken);
        if now > 0 {
            block.free -= now;
            block.fate = Fate::Filled;
            taken += now;
        }
        strides = if now == 0 { strides + 1 } else { 0 };
        if taken < wanted {
            scan.to -= 1;
        }
    }
    taken
}

/// Frees pageblocks in which only pages without a flag are unmovable, those with the fewest such pages
/// first.
///
/// Where the frames on per-CPU lists are not known, such pages look like the kernel's own, so no pageblock is certain to
/// become free in this way; but the pages that compaction frees push older ones off the lists.
fn drive_out_of_lists(read: &[Pageblock], blocks: &mut [PredictedBlock], mut count: u64) {
    let known = read.iter().any(|block| block.listed > 0);
    let free_but_for = |at: usize, block: &PredictedBlock| {
        let pages = if known { read[at].listed.into() } else { read[at].pages_of(UnmovableKind::Kernel) };
        let alone = pages > 0 && pages == read[at].stuck();
        let moved_out = block.fate == Fate::Drained || read[at].movable() == 0;
        (alone && moved_out).then_some((pages, at))
    };
    let mut candidates: Vec<_> =
        blocks.iter().enumerate().filter_map(|(at, block)| free_but_for(at, block)).collect();
    candidates.sort_unstable();
    for (pages, at) in candidates {
        let Some(left) = count.checked_sub(pages.into()) else { return };
        count = left;
        blocks[at].free += pages;
    }
}

/// The number of random draws of pages that stay on lists. The prediction is the outcome with the fewest whole pageblocks.
const DRAWS: u64 = 8;

/// Subtracts the pages that stay on the compacting CPU's lists and are not on the zone's.
fn keep_on_lists(read: &[Pageblock], blocks: &mut [PredictedBlock], lists: CpuLists) {
    let outcome = |seed| {
        let mut later = blocks.to_vec();
        let moved = blocks.iter().enumerate().filter(|(_, block)| block.moved > 0);
        for (at, pages) in lists.keep(moved.map(|(at, block)| (at, freed(&read[at], block))), seed) {
            later[at].free -= pages;
        }
        later
    };
    let whole = |later: &[PredictedBlock]| {
        later.iter().zip(read).filter(|(later, read)| later.free == read.pages()).count()
    };
    if let Some(worst) = (0..DRAWS).map(outcome).min_by_key(|later| whole(later)) {
        blocks.copy_from_slice(&worst);
    }
}

/// Returns the pages that were freed as the pageblock was drained, by their order.
fn freed(read: &Pageblock, block: &PredictedBlock) -> [u32; cpu_lists::ORDERS] {
    let mut left = block.moved;
    let mut pages = [0; cpu_lists::ORDERS];
    for (small, pages) in read.in_small_folios.into_iter().zip(&mut pages[1..]) {
        *pages = left.min(small.into());
        left -= *pages;
    }
    pages[0] = left;
    pages
}

/// Returns how many pages the migrate scanner isolates in a pageblock.
///
/// It skips compound pages as large as a pageblock (`pageblock_skip_persistent`,
/// `skip_isolation_on_order`).
fn isolated(block: &Pageblock, mobility: Mobility) -> u32 {
    if block.whole_folio {
        return 0;
    }
    let fixed = if mobility.unevictable { 0 } else { u32::from(block.unevictable) };
    block.movable() - fixed
}

/// Returns true if the free scanner takes pages from a pageblock.
fn is_target(block: &Pageblock, kind: Option<Migratetype>) -> bool {
    let whole = block.stuck() + block.movable() == 0;
    let kind = kind.unwrap_or_else(|| likely_type(block));
    !whole && matches!(kind, Migratetype::Movable | Migratetype::Cma)
}

/// Guesses a pageblock's migratetype.
///
/// Pages without a flag say nothing about it: after many frees, most of them are on per-CPU lists and
/// belong to movable pageblocks. Slab objects and page tables are mostly in pageblocks of the kernel's
/// own types, which keep some of them even if fallbacks filled the rest with movable pages.
pub fn likely_type(block: &Pageblock) -> Migratetype {
    let own = block.pages_of(UnmovableKind::Slab) + block.pages_of(UnmovableKind::PageTable);
    if own == 0 { Migratetype::Movable } else { Migratetype::Unmovable }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Limits =
        Limits { room: true, lists: CpuLists { count: 0, high: 0, batch: 0 }, per_cpu_count: 0 };

    fn block(free: u16, anon: u16, slab: u16) -> Pageblock {
        let mut block = Pageblock { free, anon, ..Pageblock::default() };
        block.unmovable[UnmovableKind::Slab as usize] = slab;
        block
    }

    fn free(blocks: &[Pageblock], types: &[Option<Migratetype>]) -> Vec<u32> {
        compact(blocks, types, Mobility::default(), ROOM, Bound::Lower)
            .blocks
            .iter()
            .map(|block| block.free)
            .collect()
    }

    #[test]
    fn the_scanners_meet() {
        let blocks = [block(4, 4, 0), block(4, 4, 0), block(4, 4, 0), block(6, 2, 0)];
        assert_eq!(free(&blocks, &[]), [8, 8, 2, 0]);
        let blocks = compact(&blocks, &[], Mobility::default(), ROOM, Bound::Lower).blocks;
        let fates: Vec<_> = blocks.iter().map(|block| block.fate).collect();
        assert_eq!(fates, [Fate::Drained, Fate::Drained, Fate::Filled, Fate::Filled]);
    }

    #[test]
    fn stuck_pages_hold_their_pageblock_but_not_the_others_in_it() {
        assert_eq!(free(&[block(2, 3, 3), block(4, 4, 0)], &[]), [5, 1]);
    }

    #[test]
    fn free_and_foreign_pageblocks_are_no_targets() {
        let blocks = [block(4, 4, 0), block(4, 1, 3), block(8, 0, 0)];
        assert_eq!(free(&blocks, &[]), [4, 4, 8]);
        let movable = [Some(Migratetype::Movable); 3];
        assert_eq!(free(&blocks, &movable), [8, 0, 8]);
        let unmovable = [Some(Migratetype::Unmovable); 3];
        assert_eq!(free(&blocks, &unmovable), [4, 4, 8]);
    }

    #[test]
    fn what_may_not_move_stays() {
        let locked = Pageblock { free: 4, unevictable: 4, ..Pageblock::default() };
        let blocks = [locked, block(4, 4, 0)];
        assert_eq!(free(&blocks, &[]), [8, 0]);
        let fixed = Mobility { unevictable: false, ..Mobility::default() };
        assert_eq!(compact(&blocks, &[], fixed, ROOM, Bound::Lower).blocks[0].free, 4);
        assert_eq!(
            compact(&blocks, &[], Mobility::default(), Limits::default(), Bound::Lower).blocks[0].free,
            4
        );
        let folio = Pageblock { anon: 8, whole_folio: true, ..Pageblock::default() };
        assert_eq!(free(&[folio, block(8, 0, 0), block(7, 1, 0)], &[]), [0, 8, 7]);
        assert!(compact(&[], &[], fixed, ROOM, Bound::Lower).blocks.is_empty());
    }

    #[test]
    fn a_dirty_folio_may_end_it() {
        let folio = Pageblock { free: 4, file_busy: 4, dirty_order: 2, ..Pageblock::default() };
        let crumbs = block(4, 4, 0);
        let compacted =
            compact(&[block(4, 4, 0), folio, crumbs, crumbs], &[], Mobility::default(), ROOM, Bound::Lower);
        assert_eq!(compacted.gives_up_at, Some(1));
        let blocks = [block(4, 4, 0), folio, crumbs, crumbs];
        let most = compact(&blocks, &[], Mobility::default(), ROOM, Bound::Upper);
        assert_eq!((most.gives_up_at, most.blocks[1].free), (None, 8));
        assert_eq!(compacted.blocks.iter().map(|b| b.free).collect::<Vec<_>>(), [8, 4, 4, 0]);
        let behind = [block(4, 4, 0), crumbs, folio];
        let compacted = compact(&behind, &[], Mobility::default(), ROOM, Bound::Lower);
        assert_eq!(compacted.gives_up_at, None, "the scanners meet before");
    }

    #[test]
    fn the_pages_freed_last_wait_on_a_list() {
        let lists = CpuLists { high: 7, batch: 1, ..CpuLists::default() };
        let blocks = [block(4, 4, 0), block(4, 4, 0), block(4, 4, 0), block(6, 2, 0), block(6, 2, 0)];
        let compacted = compact(&blocks, &[], Mobility::default(), Limits { lists, ..ROOM }, Bound::Lower);
        let free: Vec<_> = compacted.blocks.iter().map(|block| block.free).collect();
        assert_eq!(free, [8, 6, 4, 0, 0], "4 of the third, 2 of the second");
    }

    #[test]
    fn pages_freed_in_small_folios_keep_earlier_pageblocks() {
        let lists = CpuLists { high: 40, batch: 1, ..CpuLists::default() };
        let singles = block(2, 6, 0);
        let folio = Pageblock { in_small_folios: [0, 4, 0], ..singles };
        let mut blocks = [singles; 40];
        blocks[8] = folio;
        blocks[20..].fill(Pageblock { free_strided: [8; STRIDES.len()], ..block(8, 0, 1) });
        let movable = vec![Some(Migratetype::Movable); blocks.len()];
        let limits = Limits { lists, ..ROOM };
        let later = compact(&blocks, &movable, Mobility::default(), limits, Bound::Lower).blocks;
        let free: Vec<_> = later[..20].iter().map(|block| block.free).collect();
        assert_eq!((free[8], free[9]), (4, 8), "{free:?}");
    }

    #[test]
    fn what_may_be_on_lists_comes_at_most() {
        let mut listed = block(4, 3, 0);
        listed.unmovable[UnmovableKind::Kernel as usize] = 1;
        let blocks = [listed, listed, block(8, 0, 0), block(7, 1, 0), block(1, 7, 0)];
        let free = |per_cpu_count, bound| {
            let limits = Limits { per_cpu_count, ..ROOM };
            let later = compact(&blocks, &[], Mobility::default(), limits, bound).blocks;
            later[..2].iter().map(|b| b.free).collect::<Vec<_>>()
        };
        assert_eq!(free(9, Bound::Lower), [7, 7]);
        assert_eq!([0, 1, 9].map(|count| free(count, Bound::Upper)), [[7, 7], [8, 7], [8, 8]]);
    }
}
