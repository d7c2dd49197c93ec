//! A generated occupancy for a trace without a recorded one.
//!
//! Three inputs are known: the number of free blocks by order and type, the number of pageblocks of each type, and
//! from the events, frames that were free or in use. First, each type gets its pageblocks: those whose frames were
//! first allocated as that type. Then free blocks are placed in the pageblocks of their type, the largest orders
//! first, where most frames are known to be free, otherwise at pseudo-random places. One frame of the buddy of each
//! placed block stays in use, so that the two do not merge. Frames that the zone spans but does not manage are at its
//! end. All other frames are in use.

use freehold::{Migratetype, Order};
use freehold_trace::{FrameUse, PageTypeZone, Snapshot};

use super::geometry::{BlockTypes, Geometry, target_of};
use super::machine::RecordedMachine;
use super::prepass::{FirstUse, FirstUses};

/// The known state of a frame during the placement of blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    /// Free, and not yet in a placed block.
    Free,
    InUse,
    Placed,
    Absent,
}

/// Generates an occupancy and the corresponding pageblock types.
pub(super) fn plausible(
    machine: &RecordedMachine,
    start: &Snapshot,
    first: &FirstUses,
) -> (Vec<Vec<FrameUse>>, Vec<BlockTypes>) {
    let empty = PageTypeZone::default();
    (0..machine.zones.len())
        .map(|zone| {
            let target = target_of(machine, zone, &start.pagetypeinfo).unwrap_or(&empty);
            let geometry = Geometry::new(machine, zone);
            let mut known = known_frames(machine, zone, first);
            let types = assign_types(&geometry, zone, first, target);
            place_all(&mut known, &geometry, &types, target);
            let frames = known.iter().enumerate();
            let frames = frames.map(|(index, &known)| frame_use(known, types[geometry.block_of(index)]));
            (frames.collect(), types)
        })
        .unzip()
}

fn frame_use(known: Known, block_type: Migratetype) -> FrameUse {
    match known {
        Known::Free | Known::Placed => FrameUse::Free,
        Known::Absent => FrameUse::Absent,
        Known::Nothing | Known::InUse if block_type == Migratetype::Movable => FrameUse::Movable,
        Known::Nothing | Known::InUse => FrameUse::Other,
    }
}

fn known_frames(machine: &RecordedMachine, zone: usize, first: &FirstUses) -> Vec<Known> {
    let config = &machine.zones[zone];
    let mut known: Vec<_> = (0..config.spanned as usize)
        .map(|index| match first.get(zone, index) {
            FirstUse::Untouched => Known::Nothing,
            FirstUse::Free(_) | FirstUse::Listed(_) => Known::Free,
            FirstUse::Allocated(_) | FirstUse::InsideAllocated => Known::InUse,
        })
        .collect();
    let unmanaged = config.spanned.saturating_sub(config.managed) as usize;
    let untouched = known.iter_mut().rev().filter(|known| **known == Known::Nothing);
    untouched.take(unmanaged).for_each(|known| *known = Known::Absent);
    known
}

/// Gives each type the number of pageblocks in the target, starting with pageblocks whose frames were first allocated
/// as that type. Assigns groups of the size of the largest block before single pageblocks, because free blocks of
/// that size need them.
fn assign_types(geometry: &Geometry, zone: usize, first: &FirstUses, target: &PageTypeZone) -> BlockTypes {
    let mut votes = vec![[0_u32; 3]; geometry.blocks];
    for index in 0..geometry.spanned {
        if let FirstUse::Free(kind) = first.get(zone, index)
            && let Some(vote) = votes[geometry.block_of(index)].get_mut(usize::from(kind))
        {
            *vote += 1;
        }
    }
    let mut types: Vec<Option<Migratetype>> = vec![None; geometry.blocks];
    let group = 1 << (geometry.max_order.get() - geometry.pageblock_order.get());
    let rarest_first = {
        let mut kinds = Migratetype::ALL.to_vec();
        kinds.retain(|&kind| kind != Migratetype::Movable);
        kinds.sort_by_key(|kind| target.blocks[kind.index()]);
        kinds
    };
    for kind in rarest_first {
        let mut left = target.blocks[kind.index()] as usize;
        let vote = |block: usize| votes[block].get(kind.index()).copied().unwrap_or(0);
        for size in [group, 1] {
            let mut candidates: Vec<usize> = (0..geometry.blocks)
                .filter(|&block| (geometry.first_block + block).is_multiple_of(size))
                .filter(|&block| block + size <= geometry.blocks)
                .filter(|&block| types[block..block + size].iter().all(Option::is_none))
                .collect();
            candidates.sort_by_key(|&block| {
                let votes: u32 = (block..block + size).map(vote).sum();
                (std::cmp::Reverse(votes), scatter(block))
            });
            for block in candidates.into_iter().take(left / size) {
                types[block..block + size].fill(Some(kind));
                left -= size;
            }
        }
    }
    types.into_iter().map(|kind| kind.unwrap_or(Migratetype::Movable)).collect()
}

fn place_all(known: &mut [Known], geometry: &Geometry, types: &[Migratetype], target: &PageTypeZone) {
    for order in Order::ZERO.up_to(geometry.max_order).rev() {
        let mut candidates: Vec<Vec<(u32, usize)>> = vec![Vec::new(); Migratetype::ALL.len()];
        let pages = order.pages() as usize;
        let mut at =
            geometry.zone_start.next_multiple_of(order.pages()) as usize - geometry.zone_start as usize;
        while at + pages <= known.len() {
            let kind = types[geometry.block_of(at)];
            let same = types[geometry.block_of(at)..=geometry.block_of(at + pages - 1)].iter();
            let fits = known[at..at + pages].iter().all(|k| matches!(k, Known::Nothing | Known::Free));
            if fits && same.clone().all(|&other| other == kind) {
                let free = known[at..at + pages].iter().filter(|&&k| k == Known::Free).count();
                candidates[kind.index()].push((free as u32, at));
            }
            at += pages;
        }
        for kind in Migratetype::ALL {
            let candidates = &mut candidates[kind.index()];
            candidates.sort_by_key(|&(free, at)| (std::cmp::Reverse(free), scatter(at)));
            let mut left = target.free[kind.index()].of(order.index()).blocks;
            for &(_, at) in candidates.iter() {
                if left == 0 {
                    break;
                }
                left -= u64::from(place(known, geometry, at, order));
            }
        }
    }
}

/// Marks a block as free and prevents a merge with its buddy. Returns false if that is impossible.
fn place(known: &mut [Known], geometry: &Geometry, at: usize, order: Order) -> bool {
    let zone_start = geometry.zone_start;
    let pages = order.pages() as usize;
    if known[at] == Known::Placed || known[at..at + pages].contains(&Known::InUse) {
        return false;
    }
    let buddy = ((zone_start + at as u64) ^ order.pages()).checked_sub(zone_start);
    let buddy = buddy.map(|buddy| buddy as usize).filter(|&buddy| buddy + pages <= known.len());
    if let Some(buddy) = buddy.filter(|_| order < geometry.max_order) {
        let apart = |known: &Known| matches!(known, Known::InUse | Known::Absent);
        let frames = &mut known[buddy..buddy + pages];
        if !frames.iter().any(apart) {
            match frames.iter_mut().find(|known| **known == Known::Nothing) {
                Some(bar) => *bar = Known::InUse,
                None => return false,
            }
        }
    }
    known[at..at + pages].fill(Known::Placed);
    true
}

/// Returns a pseudo-random number for a number, always the same.
fn scatter(number: usize) -> u64 {
    let mixed = (number as u64 ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 7
}
