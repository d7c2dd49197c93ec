//! The type of each pageblock, fitted to the counts of `/proc/pagetypeinfo`.
//!
//! The kernel prints the number of pageblocks of each type, and the number of free blocks by order and type. It does
//! not print the type of a single pageblock. The fit chooses a type for every pageblock, such that both numbers agree
//! as well as possible, and such that the pages in use are likely for the type. Later requests give no information
//! about the type, because the allocator chooses their pageblock. All pageblocks under one free block get the same
//! type.

use freehold::{MAX_ORDERS, MIGRATETYPES, Migratetype};
use freehold_trace::{FrameUse, PageTypeZone, Snapshot};
use serde::Serialize;

use super::fit_search::{Search, Unit, ZoneFit};
use super::geometry::{BlockTypes, Geometry, target_of};
use super::machine::RecordedMachine;
use super::occupancy::{StartOccupancy, free_blocks};

/// The difference between the fitted start state and the counts of the machine.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct FitReport {
    /// One entry for each zone.
    pub zones: Vec<ZoneFit>,
}

/// Chooses a type for every pageblock of every zone.
pub(super) fn fit(
    machine: &RecordedMachine,
    start: &Snapshot,
    occupancy: &StartOccupancy,
) -> (Vec<BlockTypes>, FitReport) {
    let mut types = Vec::new();
    let mut report = FitReport::default();
    for (zone, frames) in occupancy.zones.iter().enumerate() {
        let geometry = Geometry::new(machine, zone);
        let target = target_of(machine, zone, &start.pagetypeinfo);
        let evidence = evidence(&geometry, frames);
        let units = units(&geometry, frames, &evidence, counted_in(target));
        let given = occupancy.made_up_types.as_ref().map(|types| &types[zone]);
        let mut search = Search::new(&units, target, given.map(Vec::as_slice));
        search.run();
        let mut fit = search.difference();
        fit.zone = machine.zone_name(zone);
        report.zones.push(fit);
        let mut of_zone = vec![Migratetype::Movable; geometry.blocks];
        for (unit, kind) in units.iter().zip(search.types()) {
            of_zone[unit.first..unit.first + unit.blocks].fill(kind);
        }
        types.push(of_zone);
    }
    (types, report)
}

/// The evidence of a pageblock's pages for each type; larger is more likely.
type Evidence = [u32; MIGRATETYPES];

fn evidence(geometry: &Geometry, frames: &[FrameUse]) -> Vec<Evidence> {
    use Migratetype::{Cma, Movable, Reclaimable, Unmovable};
    let mut blocks = vec![Evidence::default(); geometry.blocks];
    for (index, &frame) in frames.iter().enumerate() {
        let block = &mut blocks[geometry.block_of(index)];
        let mut add = |kind: Migratetype, weight| block[kind.index()] += weight;
        match frame {
            FrameUse::Movable | FrameUse::Unevictable | FrameUse::Hugetlb => {
                add(Movable, 10);
                add(Cma, 9);
            }
            FrameUse::Slab => {
                add(Unmovable, 6);
                add(Reclaimable, 5);
            }
            FrameUse::PageTable => add(Unmovable, 10),
            FrameUse::Other => {
                add(Unmovable, 2);
                add(Movable, 1);
            }
            FrameUse::Absent | FrameUse::Free | FrameUse::Offline => {}
        }
    }
    blocks
}

/// The reason why the kernel counts a pageblock in pagetypeinfo, or does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Counted {
    /// Counted: the pageblock has managed pages.
    Managed,
    /// Counted: the pageblock has only reserved pages.
    Kept,
    /// Not counted: the pageblock is a hole.
    No,
}

/// Returns for each pageblock whether the kernel counted it; `counted` is the number of counted pageblocks.
///
/// In the snapshot, reserved pages look like a hole. The kernel counts a pageblock if its first frame has a `struct
/// page`. The function assumes that the first pageblocks without managed pages are reserved, until the number is
/// reached.
pub(super) fn counted_blocks(geometry: &Geometry, frames: &[FrameUse], counted: u64) -> Vec<Counted> {
    let mut blocks = vec![Counted::No; geometry.blocks];
    for (index, _) in frames.iter().enumerate().filter(|(_, frame)| **frame != FrameUse::Absent) {
        blocks[geometry.block_of(index)] = Counted::Managed;
    }
    let managed = blocks.iter().filter(|&&block| block == Counted::Managed).count() as u64;
    let kept = usize::try_from(counted.saturating_sub(managed)).unwrap_or(usize::MAX);
    for block in blocks.iter_mut().filter(|block| **block == Counted::No).take(kept) {
        *block = Counted::Kept;
    }
    blocks
}

/// Returns the number of pageblocks of a zone in pagetypeinfo.
pub(super) fn counted_in(target: Option<&PageTypeZone>) -> u64 {
    target.map_or(0, |target| target.blocks.iter().fold(0, |sum, &blocks| sum.saturating_add(blocks)))
}

/// Groups pageblocks that share a free block, and sums up the contents of each group. `counted` is the number of
/// pageblocks that the kernel counted.
fn units(geometry: &Geometry, frames: &[FrameUse], evidence: &[Evidence], counted: u64) -> Vec<Unit> {
    let counted = counted_blocks(geometry, frames, counted);
    let mut joined = vec![false; geometry.blocks];
    let mut free = vec![[0_u32; MAX_ORDERS]; geometry.blocks];
    for (index, order) in free_blocks(frames, geometry.zone_start, geometry.max_order) {
        let block = geometry.block_of(index);
        free[block][order.index()] += 1;
        let last = geometry.block_of(index + order.pages() as usize - 1);
        joined[block + 1..=last].fill(true);
    }
    let mut units: Vec<Unit> = Vec::new();
    for block in 0..geometry.blocks {
        let counts = counted[block] != Counted::No;
        if let Some(unit) = units.last_mut().filter(|_| joined[block]) {
            unit.blocks += 1;
            unit.counted += u64::from(counts);
            unit.add_evidence(&evidence[block]);
        } else {
            units.push(Unit {
                first: block,
                blocks: 1,
                counted: u64::from(counts),
                free: free[block],
                evidence: evidence[block],
            });
        }
    }
    units
}
