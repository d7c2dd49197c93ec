//! The use of every frame at the start of a trace.

use freehold::Order;
use freehold_trace::{FrameUse, Snapshot};
use serde::Serialize;

use super::geometry::BlockTypes;
use super::machine::RecordedMachine;
use super::plausible::plausible;
use super::prepass::{FirstUse, FirstUses};

/// The use of every frame at the start of a trace, from the snapshot and the events.
#[derive(Clone, Debug)]
pub struct StartOccupancy {
    /// The uses by zone, then by frame, counted from the zone's first.
    pub zones: Vec<Vec<FrameUse>>,
    /// The contradictions between events and snapshot.
    pub corrections: Corrections,
    /// The pageblock types of a generated occupancy.
    pub(super) made_up_types: Option<Vec<BlockTypes>>,
}

/// Counts of pages for which the events contradict or complete the start snapshot. The events decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Corrections {
    /// Pages that the snapshot shows in use and that were on a per-CPU list: their first event allocates them.
    /// `/proc/kpageflags` does not distinguish pages on a list from pages in use.
    pub on_lists: u64,
    /// Pages that the snapshot shows in use and that were free before: an event during the reading of the snapshot
    /// allocates them.
    pub used_but_free: u64,
    /// Pages that the snapshot shows in use, that a later event allocates without a free before, and that fit on no
    /// per-CPU list. The replay frees them just before their allocation.
    pub freed_unseen: u64,
    /// Pages that the snapshot shows free and that their first event frees.
    pub free_but_used: u64,
    /// Pages that the snapshot shows absent and that an event touches.
    pub absent_but_present: u64,
    /// True if the occupancy was generated from pagetypeinfo and the events, because none was recorded.
    pub made_up: bool,
}

impl StartOccupancy {
    /// Returns the occupancy of the snapshot, corrected by the first event of each frame.
    ///
    /// If the snapshot has no occupancy, such as after an import without kpageflags, generates one that agrees with
    /// the free blocks in pagetypeinfo and with the events.
    pub fn new(machine: &RecordedMachine, start: &Snapshot, first: &FirstUses) -> Self {
        if start.occupancy.is_empty() {
            let (zones, types) = plausible(machine, start, first);
            let corrections = Corrections { made_up: true, ..Corrections::default() };
            return Self { zones, corrections, made_up_types: Some(types) };
        }
        let mut zones: Vec<Vec<FrameUse>> =
            machine.zones.iter().map(|zone| vec![FrameUse::Absent; zone.spanned as usize]).collect();
        for run in &start.occupancy {
            let run_end = run.start.0.saturating_add(run.pages);
            for (zone, frames) in machine.zones.iter().zip(&mut zones) {
                let from = run.start.0.max(zone.start.0);
                let to = run_end.min(zone.start.0 + zone.spanned);
                if from < to {
                    frames[(from - zone.start.0) as usize..(to - zone.start.0) as usize].fill(run.used_for);
                }
            }
        }
        let mut corrections = Corrections { freed_unseen: first.freed_unseen, ..Corrections::default() };
        for (number, frames) in zones.iter_mut().enumerate() {
            for (index, frame) in frames.iter_mut().enumerate() {
                correct(frame, first.get(number, index), &mut corrections);
            }
        }
        Self { zones, corrections, made_up_types: None }
    }
}

fn correct(frame: &mut FrameUse, first: FirstUse, corrections: &mut Corrections) {
    match first {
        FirstUse::Untouched => {}
        // Counts of free blocks treat the whole block as in use, even if the snapshot shows only its first page in use.
        FirstUse::Listed(_) => {
            corrections.on_lists += 1;
            if matches!(*frame, FrameUse::Free | FrameUse::Absent) {
                *frame = FrameUse::Other;
            }
        }
        FirstUse::Free(_) => {
            match *frame {
                FrameUse::Free => {}
                FrameUse::Absent => corrections.absent_but_present += 1,
                _ => corrections.used_but_free += 1,
            }
            *frame = FrameUse::Free;
        }
        FirstUse::Allocated(_) | FirstUse::InsideAllocated => {
            match *frame {
                FrameUse::Free => corrections.free_but_used += 1,
                FrameUse::Absent => corrections.absent_but_present += 1,
                _ => return,
            }
            *frame = FrameUse::Other;
        }
    }
}

/// Returns the order of the largest block that starts at `at` and ends before `end`, up to order `most`.
pub(super) fn largest_block(at: u64, end: u64, most: Order) -> Order {
    let fits = at.trailing_zeros().min((end - at).ilog2());
    Order::new(fits.min(most.get().into()) as u8).unwrap_or(Order::ZERO)
}

/// Returns the runs of frames with equal use: the first index, the index after the last, and the use.
pub(super) fn runs(frames: &[FrameUse]) -> impl Iterator<Item = (usize, usize, FrameUse)> + '_ {
    let mut at = 0;
    frames.chunk_by(|a, b| a == b).map(move |run| {
        let start = at;
        at += run.len();
        (start, at, run[0])
    })
}

/// Returns the free blocks of a zone: the first frame, counted from the zone's first, and the order. Blocks are as
/// large as their alignment and `most` allow.
pub(super) fn free_blocks(
    frames: &[FrameUse],
    zone_start: u64,
    most: Order,
) -> impl Iterator<Item = (usize, Order)> + '_ {
    runs(frames).filter(|&(_, _, used_for)| used_for == FrameUse::Free).flat_map(move |(start, end, _)| {
        let mut at = start;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let order = largest_block(zone_start + at as u64, zone_start + end as u64, most);
            let block = (at, order);
            at += order.pages() as usize;
            Some(block)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_runs_are_divided_into_the_largest_aligned_blocks() {
        let mut frames = vec![FrameUse::Other; 64];
        frames[3..25].fill(FrameUse::Free);
        let blocks: Vec<_> =
            free_blocks(&frames, 0x100, Order::MAX_PAGE_ORDER).map(|(at, order)| (at, order.get())).collect();
        assert_eq!(blocks, [(3, 0), (4, 2), (8, 3), (16, 3), (24, 0)]);
    }

    #[test]
    fn events_take_precedence_over_the_snapshot() {
        let mut corrections = Corrections::default();
        let mut frame = FrameUse::Other;
        correct(&mut frame, FirstUse::Free(1), &mut corrections);
        assert_eq!((frame, corrections.used_but_free), (FrameUse::Free, 1));
        correct(&mut frame, FirstUse::Allocated(Order::ZERO), &mut corrections);
        assert_eq!((frame, corrections.free_but_used), (FrameUse::Other, 1));
        let mut frame = FrameUse::Slab;
        correct(&mut frame, FirstUse::InsideAllocated, &mut corrections);
        assert_eq!(frame, FrameUse::Slab);
    }
}
