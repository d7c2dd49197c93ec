//! The upper bound of what any placement could have done on a trace.

use freehold::{Order, Pfn};
use freehold_trace::{Event, EventKind, FrameUse};
use serde::Serialize;

use crate::recorded::Compacting;
use crate::replay::{Lab, Schedule};
use crate::start::FirstUse;

/// The upper bound of what any placement could have done, at the end of the trace and over its time: what is
/// possible with full knowledge of the trace, if nothing moves that was there at the start.
///
/// Pages that were in use at the start stay where they were until the trace frees them. Pages that the trace
/// allocates may lie anywhere, beside any others, and move without cost. So an allocator that moves nothing of
/// the start cannot have more whole pageblocks free, nor fewer pageblocks that hold pages of different types. In
/// general it cannot reach these numbers either: it places a page before it is known how long the page will be
/// used. An allocator that fails requests of the trace, or reclaims pages of it, holds less and may exceed them. One that
/// moves pages of the start has a bound of its own, [`Hindsight::end_with_moves`]: each move may serve to empty the
/// pageblock that takes the fewest.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Hindsight {
    /// The bound at the end.
    pub end: Bound,
    /// The most whole pageblocks that could have been free, on average over the time of the trace.
    pub mean_free_pageblocks: f64,
    /// What the bounds follow from: at the start, at every sample, at the end.
    #[serde(skip)]
    moments: Vec<Moment>,
}

/// What the bound at one moment follows from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Moment {
    /// Frames of a pageblock.
    pageblock: u64,
    /// Pageblocks that hold nothing of the start.
    empty: u64,
    /// Frames for pages of the trace in all others.
    room: u64,
    /// Pages that the trace holds, without those in whole pageblocks.
    placed: u64,
    /// The number of whole pageblocks that the trace holds.
    whole: u64,
    /// Pageblocks from which nothing but movable pages of the start keeps others, by the number of these.
    emptiable: Vec<u64>,
    /// Pageblocks that hold movable pages of the start beside others, by the number of the movable ones.
    mixed: Vec<u64>,
}

impl Moment {
    /// Returns the bound if at most so many pages of the start have moved.
    fn bound(&self, moves: u64) -> Bound {
        let emptied = cleared_and_left(&self.emptiable, moves).0;
        let room = i128::from(self.room) - i128::from(emptied * self.pageblock);
        let beyond =
            u64::try_from(i128::from(self.placed) - room).unwrap_or(0).div_ceil(self.pageblock.max(1));
        let free_pageblocks = (self.empty + emptied).saturating_sub(self.whole + beyond);
        Bound { free_pageblocks, mixed_pageblocks: cleared_and_left(&self.mixed, moves).1 }
    }
}

/// Returns the most pageblocks that so many moves can clear, and the number of the others. `by_pages` has the number of
/// pageblocks that take so many moves each.
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
    /// Returns the bound at the end for an allocator that moves at most so many pages of the start.
    pub fn end_with_moves(&self, pages: u64) -> Bound {
        self.moments.last().map_or(self.end, |end| end.bound(pages))
    }

    /// Returns the most whole pageblocks that could have been free, on average over the time of the trace, for an
    /// allocator that moves at most so many pages of the start.
    pub fn mean_with_moves(&self, pages: u64) -> f64 {
        let sum: u64 = self.moments.iter().map(|moment| moment.bound(pages).free_pageblocks).sum();
        sum as f64 / self.moments.len().max(1) as f64
    }
}

/// The upper bound at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Bound {
    /// The most whole pageblocks that can be free.
    pub free_pageblocks: u64,
    /// The fewest pageblocks that hold pages of different types.
    pub mixed_pageblocks: u64,
}

impl Lab<'_> {
    /// Goes through the trace once and computes the upper bound.
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

/// Who holds a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// Nobody that is known.
    NoReclaim,
    /// A user since before the trace; `true` if the page can be moved.
    SinceStart(bool),
    /// A user that allocated it in the trace.
    Placed,
}

/// One pageblock of the recorded machine.
#[derive(Clone, Copy, Default)]
struct Pageblock {
    /// Frames that hold memory.
    present: u32,
    /// Pages in use since before the trace that can be moved.
    movable: u32,
    /// Pages in use since before the trace that cannot be moved.
    unmovable: u32,
    /// Pages that the kernel keeps for itself. They count as no type.
    reserved: u32,
    /// True if the trace holds all of it as one block.
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

/// Every frame of the machine, and the sums that the bound follows from.
struct Frames {
    zones: Vec<Zone>,
    pageblock: Order,
    compacting: Compacting,
    /// Pages that the trace allocated and has not freed, without those in whole pageblocks.
    placed: u64,
    /// Pages that compaction moved and whose new place no event has named yet. They are among `placed`.
    moved: u64,
    /// The number of whole pageblocks that the trace allocated and has not freed.
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
        // The free of what was there before is not in the trace.
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
            // The pages live on at another place.
            self.placed += vacated;
            self.moved += vacated;
        } else {
            let arrived = (order.pages() - vacated).min(self.moved);
            self.moved -= arrived;
            self.placed -= arrived;
        }
    }

    /// Takes frames from their holders. Returns the number of pages that were held.
    fn vacate(&mut self, zone: usize, index: usize, pages: u64) -> u64 {
        let (pageblock, zone) = (self.pageblock, &mut self.zones[zone]);
        let mut vacated = 0;
        for at in index..index + pages as usize {
            let holder = std::mem::replace(&mut zone.holders[at], Holder::NoReclaim);
            let block = zone.block_mut(at as u64, pageblock);
            match holder {
                Holder::NoReclaim => continue,
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

    /// Returns what the upper bound follows from, for the pages that the trace holds now.
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
        let holders = vec![Holder::NoReclaim; uses.len()];
        let mut zone = Self { start: config.start.0, first_block, holders, blocks };
        let mut attribution_input = None;
        for (index, &used_for) in uses.iter().enumerate() {
            // A block that the events free as a whole was allocated as a whole, for one use.
            match lab.start.first_use(number, index) {
                FirstUse::Allocated(_) => attribution_input = Some(used_for),
                FirstUse::InsideAllocated => {}
                _ => attribution_input = None,
            }
            // Nobody uses a block on a CPU's list.
            let is_listed = matches!(lab.start.first_use(number, index), FirstUse::Listed(_));
            let used_for = if is_listed { FrameUse::Free } else { used_for };
            zone.hold_at_start(
                index,
                attribution_input.unwrap_or(used_for),
                attribution_input.is_some(),
                pageblock,
            );
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

    /// Returns the pageblock of a frame, which counts from the zone's first.
    fn block_mut(&mut self, index: u64, pageblock: Order) -> &mut Pageblock {
        let number = ((self.start + index) >> pageblock.get()) - self.first_block;
        &mut self.blocks[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_go_to_the_pageblocks_that_take_the_fewest() {
        // Pageblocks of 8 frames: one is empty, two hold one movable page of the start, one holds three.
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
        assert_eq!([5, u64::MAX].map(of), [(3, 0); 2], "the pages that moved have to lie somewhere");
        // Pages of the trace fill what was to be emptied: 19 fit beside the others, 5 more take a pageblock.
        let filled = |placed, moves| Moment { placed, ..moment.clone() }.bound(moves).free_pageblocks;
        assert_eq!((filled(19, 0), filled(19, 5), filled(24, 5)), (1, 1, 0));
    }
}
