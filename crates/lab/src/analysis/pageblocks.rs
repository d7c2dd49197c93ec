//! The contents of each pageblock at the start and at the end: types that share a pageblock, and the number of
//! pageblocks with long-lived pages.

use freehold::{Migratetype, Order};
use freehold_trace::{FrameUse, Snapshot};
use serde::Serialize;

use super::frames::Frames;
use super::requests::RequestKind;
use crate::start::RecordedMachine;

/// The types that the analysis distinguishes.
pub(super) const MOBILITIES: [Migratetype; 3] =
    [Migratetype::Unmovable, Migratetype::Movable, Migratetype::Reclaimable];

/// Pages by the index of their type in [`MOBILITIES`].
type ByMobility = [u64; 3];

/// Marks a frame that is free or has an unknown use.
const UNUSED: u8 = u8::MAX;

/// Returns the index in [`MOBILITIES`] of a request's type. High-atomic counts as unmovable, CMA as movable.
pub(super) fn mobility(migratetype: Migratetype) -> usize {
    match migratetype {
        Migratetype::Unmovable | Migratetype::HighAtomic => 0,
        Migratetype::Movable | Migratetype::Cma | Migratetype::Isolate => 1,
        Migratetype::Reclaimable => 2,
    }
}

/// Returns the index in [`MOBILITIES`] of a frame's use. All slabs count as unmovable, because the snapshot does not
/// record which are reclaimable.
fn mobility_of_use(used_for: FrameUse) -> u8 {
    match used_for {
        FrameUse::Absent | FrameUse::Free | FrameUse::Offline => UNUSED,
        FrameUse::Movable | FrameUse::Unevictable | FrameUse::Hugetlb => 1,
        FrameUse::Slab | FrameUse::PageTable | FrameUse::Other => 0,
    }
}

/// The pageblocks of all zones, by the types of their pages in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Mixture {
    /// Pageblocks with a page in use.
    pub used: u64,
    /// Pageblocks with pages of more than one type.
    pub mixed: u64,
    /// Pages in use: unmovable, movable, reclaimable.
    pub pages: ByMobility,
    /// Pageblocks by the type of most of their pages. If types tie, the first counts.
    pub majority: ByMobility,
    /// Pageblocks with pages of this type and more pages of another.
    pub polluted: ByMobility,
    /// The pages of this type in the pageblocks of `polluted`.
    pub polluting: ByMobility,
}

impl Mixture {
    fn add(&mut self, pages: [u32; 3]) {
        let Some(majority) = majority(pages) else { return };
        self.used += 1;
        self.mixed += u64::from(pages.iter().filter(|&&pages| pages > 0).count() > 1);
        self.majority[majority] += 1;
        for (kind, pages) in pages.into_iter().map(u64::from).enumerate() {
            self.pages[kind] += pages;
            if kind != majority && pages > 0 {
                self.polluted[kind] += 1;
                self.polluting[kind] += pages;
            }
        }
    }
}

/// Pages that the trace allocated in pageblocks of another type and that are in use at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Arrival {
    /// Pageblocks with such pages.
    pub pageblocks: u64,
    /// Pages.
    pub pages: u64,
}

/// The scatter of pages of one type at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Scatter {
    /// Pages.
    pub pages: u64,
    /// Pageblocks with at least one of these pages.
    pub pageblocks: u64,
    /// The fewest pageblocks that could hold these pages.
    pub least: u64,
}

impl Scatter {
    fn add(&mut self, pages: u32) {
        self.pages += u64::from(pages);
        self.pageblocks += u64::from(pages > 0);
    }
}

/// The contents of the pageblocks at the start and at the end.
///
/// The type of a page is that of its request. The type of pages from before the trace is that of their use at the
/// start. Pages that compaction moved to an unknown place are not included.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Pageblocks {
    /// Pages in a pageblock.
    pub pageblock_pages: u64,
    /// The pageblocks at the start; `None` if the occupancy was not recorded.
    pub start: Option<Mixture>,
    /// The pageblocks at the end. Without a recorded occupancy, only pages that the trace allocated count.
    pub end: Mixture,
    /// Arrivals by the pageblock's majority at the start (unmovable, movable, reclaimable, none), then by the
    /// type of the arriving pages.
    pub arrivals: [[Arrival; 3]; 4],
    /// Pages in use at the end, by type.
    pub alive: [Scatter; 3],
    /// Pages of `alive` that are older than half the trace, or from before it.
    pub long_lived: [Scatter; 3],
}

/// The pages of one pageblock, by type.
#[derive(Clone, Copy, Default)]
struct Block {
    start: [u32; 3],
    end: [u32; 3],
    /// Pages in use at the end that the trace allocated.
    arrived: [u32; 3],
    /// Pages in use at the end that are older than half the trace.
    old: [u32; 3],
}

/// The use of each frame at the start, as an index into [`MOBILITIES`].
pub(super) struct StartUses {
    kinds: Vec<u8>,
    is_known: bool,
}

impl StartUses {
    pub(super) fn new(frames: &Frames, start: &Snapshot) -> Self {
        let mut kinds = vec![UNUSED; frames.places()];
        for run in &start.occupancy {
            let kind = mobility_of_use(run.used_for);
            for places in frames.places_of(run.start.0, run.start.0.saturating_add(run.pages)) {
                kinds[places].fill(kind);
            }
        }
        Self { kinds, is_known: !start.occupancy.is_empty() }
    }

    /// Marks frames of an allocated block as free at the start if no event named them before. They were free, or on
    /// a per-CPU list, whose pages look used in the snapshot.
    #[cold]
    pub(super) fn were_free(&mut self, frames: &Frames, place: usize, order: Order) {
        for place in (place..place + order.pages() as usize).filter(|&place| !frames.is_touched(place)) {
            self.kinds[place] = UNUSED;
        }
    }
}

impl Pageblocks {
    /// Counts all frames at the end of the trace.
    pub(super) fn new(
        machine: &RecordedMachine,
        frames: &Frames,
        uses: &StartUses,
        kinds: &[RequestKind],
        halfway_ns: u64,
    ) -> Self {
        let order = machine.pageblock_order;
        let mut blocks = vec![Block::default(); (frames.places() >> order.get()) + 1];
        for (place, &kind) in uses.kinds.iter().enumerate().filter(|&(_, &kind)| kind != UNUSED) {
            let block = &mut blocks[place >> order.get()];
            block.start[usize::from(kind)] += 1;
            if !frames.is_touched(place) {
                block.end[usize::from(kind)] += 1;
                block.old[usize::from(kind)] += 1;
            }
        }
        for (place, in_use) in frames.in_use() {
            let kind = mobility(kinds[usize::from(in_use.request)].migratetype);
            let within = in_use.pages().min(order.pages());
            for at in (place..place + in_use.pages() as usize).step_by(within as usize) {
                let block = &mut blocks[at >> order.get()];
                block.end[kind] += within as u32;
                block.arrived[kind] += within as u32;
                if in_use.time_ns <= halfway_ns {
                    block.old[kind] += within as u32;
                }
            }
        }
        let mut found = Self { pageblock_pages: order.pages(), ..Self::default() };
        let mut start = Mixture::default();
        for block in &blocks {
            start.add(block.start);
            found.end.add(block.end);
            for kind in 0..MOBILITIES.len() {
                found.alive[kind].add(block.end[kind]);
                found.long_lived[kind].add(block.old[kind]);
            }
            let was = majority(block.start).unwrap_or(MOBILITIES.len());
            for (kind, &pages) in
                block.arrived.iter().enumerate().filter(|&(kind, &pages)| kind != was && pages > 0)
            {
                found.arrivals[was][kind].pageblocks += 1;
                found.arrivals[was][kind].pages += u64::from(pages);
            }
        }
        for scatter in found.alive.iter_mut().chain(&mut found.long_lived) {
            scatter.least = scatter.pages.div_ceil(order.pages());
        }
        found.start = uses.is_known.then_some(start);
        found
    }
}

/// Returns the index of the type with the most pages; `None` without pages.
fn majority(pages: [u32; 3]) -> Option<usize> {
    let most = *pages.iter().max()?;
    pages.iter().position(|&pages| pages == most && most > 0)
}
