//! The upper bound over all placements of the pages of a trace.

use freehold::{Order, Pfn};
use freehold_trace::{Event, EventKind, FrameUse};
use serde::Serialize;

use crate::recorded::Compacting;
use crate::replay::{Lab, Schedule};
use crate::start::FirstUse;

/// The upper bound over all placements, at the end of the trace and over its time: the result that is possible with
/// full knowledge of the trace, if no page from the start moves.
///
/// Pages in use at the start keep their place until the trace frees them. Pages that the trace allocates may be
/// anywhere, next to any other pages, and may move without cost. An allocator that moves no page from the start can
/// therefore not have more free pageblocks, nor fewer mixed pageblocks. Most allocators cannot reach these numbers,
/// because they place a page before its lifetime is known.
///
/// An allocator that fails requests of the trace, or reclaims its pages, has fewer pages in use and may exceed the
/// bound. An allocator that moves pages from the start has another bound, [`Hindsight::end_with_moves`]: each move may
/// help to empty the pageblock that needs the fewest moves.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Hindsight {
    /// The bound at the end.
    pub end: HindsightBound,
    /// The largest possible number of free pageblocks, as a mean over the time of the trace.
    pub mean_free_pageblocks: f64,
    /// The inputs of the bound: at the start, at every sample, and at the end.
    #[serde(skip)]
    moments: Vec<Moment>,
}

/// The inputs of the bound at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Moment {
    /// The number of frames in a pageblock.
    pageblock: u64,
    /// Pageblocks without pages from the start.
    empty: u64,
    /// Frames available for pages of the trace in all other pageblocks.
    room: u64,
    /// Pages of the trace in use, except those in `whole` pageblocks.
    placed: u64,
    /// Pageblocks that the trace uses as one block.
    whole: u64,
    /// Pageblocks whose only pages from the start are movable, by the number of these pages.
    emptiable: Vec<u64>,
    /// Pageblocks with movable and other pages from the start, by the number of movable pages.
    mixed: Vec<u64>,
}

impl Moment {
    /// Returns the bound if at most `moves` pages from the start have moved.
    fn bound(&self, moves: u64) -> HindsightBound {
        let emptied = cleared_and_left(&self.emptiable, moves).0;
        let room = i128::from(self.room) - i128::from(emptied * self.pageblock);
        let beyond =
            u64::try_from(i128::from(self.placed) - room).unwrap_or(0).div_ceil(self.pageblock.max(1));
        let free_pageblocks = (self.empty + emptied).saturating_sub(self.whole + beyond);
        HindsightBound { free_pageblocks, mixed_pageblocks: cleared_and_left(&self.mixed, moves).1 }
    }
}

/// Returns the largest number of pageblocks that `moves` moves can empty, and the number of the remaining pageblocks.
/// `by_pages[n]` is the number of pageblocks that need `n` moves.
fn cleared_and_left(by_pages: &[u64], moves: u64) -> (u64, u64) {
    let (mut cleared, mut left, mut budget) = (0, 0, moves);
    for (pages, &blocks) in (0_u64..).zip(by_pages) {
        let fit = budget.checked_div(pages).unwrap_or(blocks).min(blocks);
        budget -= fit * pages;
        cleared += fit;
        left += blocks - fit;
    }
    (cleared, left)
}

impl Hindsight {
    /// Returns the bound at the end for an allocator that moves at most `pages` pages from the start.
    pub fn end_with_moves(&self, pages: u64) -> HindsightBound {
        self.moments.last().map_or(self.end, |end| end.bound(pages))
    }

    /// Returns the largest possible number of free pageblocks, as a mean over the time of the trace, for an allocator
    /// that moves at most `pages` pages from the start.
    pub fn mean_with_moves(&self, pages: u64) -> f64 {
        let sum: u64 = self.moments.iter().map(|moment| moment.bound(pages).free_pageblocks).sum();
        sum as f64 / self.moments.len().max(1) as f64
    }
}

/// The bound at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct HindsightBound {
    /// The largest possible number of free pageblocks.
    pub free_pageblocks: u64,
    /// The smallest possible number of mixed pageblocks.
    pub mixed_pageblocks: u64,
}

impl Lab<'_> {
    /// Computes the upper bound in one pass over the trace.
    pub fn hindsight(&self) -> Hindsight {
        let events = self.trace.events;
        let span = (events.first().map_or(0, |e| e.time_ns), events.last().map_or(0, |e| e.time_ns));
        let mut schedule = Schedule::new(span.0, span.1);
        let mut frames = Frames::at_start(self);
        let mut moments = vec![frames.moment()];
        for event in events.iter() {
            if event.time_ns >= schedule.next_ns() {
                schedule.advance(event.time_ns);
                moments.push(frames.moment());
            }
            frames.event(&event);
        }
        moments.push(frames.moment());
        let found = Hindsight { moments, ..Hindsight::default() };
        let mean_free_pageblocks = found.mean_with_moves(0);
        Hindsight { end: found.end_with_moves(0), mean_free_pageblocks, ..found }
    }
}

/// The use of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// Free, or unknown.
    Free,
    /// In use since before the trace; `true` if the page can be moved.
    SinceStart(bool),
    /// Allocated by the trace.
    Placed,
}

/// One pageblock of the recorded machine.
#[derive(Clone, Copy, Default)]
struct Pageblock {
    /// Frames with memory.
    present: u32,
    /// Pages in use since before the trace that can be moved.
    movable: u32,
    /// Pages in use since before the trace that cannot be moved.
    unmovable: u32,
    /// Pages that the kernel reserves. They have no type.
    reserved: u32,
    /// True if the trace uses the whole pageblock as one block.
    whole: bool,
}

impl Pageblock {
    fn fixed(&self) -> u32 {
        self.movable + self.unmovable + self.reserved
    }
}

struct Zone {
    start: u64,
    first_block: u64,
    holders: Vec<Holder>,
    blocks: Vec<Pageblock>,
}

/// All frames of the machine, and the sums from which the bound follows.
struct Frames {
    zones: Vec<Zone>,
    pageblock: Order,
    compacting: Compacting,
    /// Pages that the trace allocated and has not freed, except those in `whole` pageblocks.
    placed: u64,
    /// Pages of `placed` that compaction moved to a place that no event has named yet.
    moved: u64,
    /// Pageblocks that the trace allocated as one block and has not freed.
    whole: u64,
}

impl Frames {
    fn at_start(lab: &Lab<'_>) -> Self {
        let zones = (0..lab.machine.zones.len()).map(|zone| Zone::at_start(lab, zone)).collect();
        let pageblock = lab.machine.pageblock_order;
        Self { zones, pageblock, compacting: Compacting::default(), placed: 0, moved: 0, whole: 0 }
    }

    fn event(&mut self, event: &Event) {
        match event.kind {
            EventKind::Alloc { pfn: Some(pfn), order, .. } => self.alloc(pfn, order),
            EventKind::Free { pfn, order } => self.free(pfn, order, self.compacting.contains(event.pid)),
            EventKind::CompactionBegin => self.compacting.begin(event.pid),
            EventKind::CompactionEnd => self.compacting.end(event.pid),
            _ => {}
        }
    }

    fn alloc(&mut self, pfn: Pfn, order: Order) {
        let pageblock = self.pageblock;
        let Some((zone, index)) = self.find(pfn, order) else { return };
        // The trace lacks the free event of the previous pages.
        self.vacate(zone, index, order.pages());
        let zone = &mut self.zones[zone];
        zone.holders[index..index + order.pages() as usize].fill(Holder::Placed);
        if order < pageblock {
            self.placed += order.pages();
            return;
        }
        for number in 0..order.pages() >> pageblock.get() {
            zone.block_mut(index as u64 + number * pageblock.pages(), pageblock).whole = true;
            self.whole += 1;
        }
    }

    fn free(&mut self, pfn: Pfn, order: Order, compacts: bool) {
        let Some((zone, index)) = self.find(pfn, order) else { return };
        let vacated = self.vacate(zone, index, order.pages());
        if compacts {
            // The pages stay in use at another place.
            self.placed += vacated;
            self.moved += vacated;
        } else {
            let arrived = (order.pages() - vacated).min(self.moved);
            self.moved -= arrived;
            self.placed -= arrived;
        }
    }

    /// Marks frames as free. Returns the number of pages that were in use.
    fn vacate(&mut self, zone: usize, index: usize, pages: u64) -> u64 {
        let (pageblock, zone) = (self.pageblock, &mut self.zones[zone]);
        let mut vacated = 0;
        for at in index..index + pages as usize {
            let holder = std::mem::replace(&mut zone.holders[at], Holder::Free);
            let block = zone.block_mut(at as u64, pageblock);
            match holder {
                Holder::Free => continue,
                Holder::SinceStart(true) => block.movable -= 1,
                Holder::SinceStart(false) => block.unmovable -= 1,
                Holder::Placed => {
                    if std::mem::take(&mut block.whole) {
                        self.whole -= 1;
                        self.placed += pageblock.pages();
                    }
                    self.placed -= 1;
                }
            }
            vacated += 1;
        }
        vacated
    }

    fn find(&self, pfn: Pfn, order: Order) -> Option<(usize, usize)> {
        self.zones.iter().enumerate().filter(|_| pfn.is_aligned(order)).find_map(|(number, zone)| {
            let index = usize::try_from(pfn.0.checked_sub(zone.start)?).ok()?;
            (index + order.pages() as usize <= zone.holders.len()).then_some((number, index))
        })
    }

    /// Returns the inputs of the bound for the pages in use now.
    fn moment(&self) -> Moment {
        let pageblock = self.pageblock.pages();
        let by_pages = vec![0; pageblock as usize + 1];
        let (placed, whole) = (self.placed, self.whole);
        let mut moment = Moment {
            pageblock,
            placed,
            whole,
            emptiable: by_pages.clone(),
            mixed: by_pages,
            ..Moment::default()
        };
        for block in self.zones.iter().flat_map(|zone| &zone.blocks) {
            let is_whole = u64::from(block.present) == pageblock;
            if block.fixed() == 0 && is_whole {
                moment.empty += 1;
                continue;
            }
            moment.room += u64::from(block.present.saturating_sub(block.fixed()));
            if block.fixed() == block.movable && is_whole {
                moment.emptiable[block.movable as usize] += 1;
            }
            if block.movable > 0 && block.unmovable > 0 {
                moment.mixed[block.movable as usize] += 1;
            }
        }
        moment
    }
}

impl Zone {
    fn at_start(lab: &Lab<'_>, number: usize) -> Self {
        let (config, pageblock) = (&lab.machine.zones[number], lab.machine.pageblock_order);
        let uses = &lab.start.occupancy.zones[number];
        let first_block = config.start.0 >> pageblock.get();
        let last_block = (config.start.0 + config.spanned).div_ceil(pageblock.pages());
        let blocks = vec![Pageblock::default(); (last_block - first_block) as usize];
        let holders = vec![Holder::Free; uses.len()];
        let mut zone = Self { start: config.start.0, first_block, holders, blocks };
        let mut whole_use = None;
        for (index, &used_for) in uses.iter().enumerate() {
            // A block that the events free as a whole was allocated as a whole, with one use.
            match lab.start.first_use(number, index) {
                FirstUse::Allocated(_) => whole_use = Some(used_for),
                FirstUse::InsideAllocated => {}
                _ => whole_use = None,
            }
            // A block on a per-CPU list is not in use.
            let is_listed = matches!(lab.start.first_use(number, index), FirstUse::Listed(_));
            let used_for = if is_listed { FrameUse::Free } else { used_for };
            zone.hold_at_start(index, whole_use.unwrap_or(used_for), whole_use.is_some(), pageblock);
        }
        zone
    }

    fn hold_at_start(&mut self, index: usize, used_for: FrameUse, freed_later: bool, pageblock: Order) {
        let block = self.block_mut(index as u64, pageblock);
        block.present += u32::from(used_for != FrameUse::Absent);
        let holder = match used_for {
            FrameUse::Absent | FrameUse::Free => return,
            FrameUse::Hugetlb | FrameUse::Offline if !freed_later => {
                block.reserved += 1;
                return;
            }
            FrameUse::Movable | FrameUse::Unevictable | FrameUse::Hugetlb => {
                block.movable += 1;
                Holder::SinceStart(true)
            }
            _ => {
                block.unmovable += 1;
                Holder::SinceStart(false)
            }
        };
        self.holders[index] = holder;
    }

    /// Returns the pageblock of a frame; `index` counts from the zone's first frame.
    fn block_mut(&mut self, index: u64, pageblock: Order) -> &mut Pageblock {
        let number = ((self.start + index) >> pageblock.get()) - self.first_block;
        &mut self.blocks[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_empties_pageblocks_with_the_fewest_pages_first() {
        // Pageblocks of 8 frames: one is empty, two have one movable page from the start, one has three.
        let mut emptiable = vec![0; 9];
        (emptiable[1], emptiable[3]) = (2, 1);
        let moment = Moment {
            pageblock: 8,
            empty: 1,
            room: 7 + 7 + 5,
            emptiable,
            mixed: vec![0, 1, 1],
            ..Moment::default()
        };
        let of = |moves| {
            let bound = moment.bound(moves);
            (bound.free_pageblocks, bound.mixed_pageblocks)
        };
        assert_eq!([0, 1, 2, 4].map(of), [(1, 2), (2, 1), (3, 1), (3, 0)]);
        assert_eq!([5, u64::MAX].map(of), [(3, 0); 2], "moved pages need a place");
        // Pages of the trace need space: 19 fit next to pages from the start, 5 more need a pageblock.
        let filled = |placed, moves| Moment { placed, ..moment.clone() }.bound(moves).free_pageblocks;
        assert_eq!((filled(19, 0), filled(19, 5), filled(24, 5)), (1, 1, 0));
    }
}
