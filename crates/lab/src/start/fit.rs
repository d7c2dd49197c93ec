//! Pageblock types, fitted to what `/proc/pagetypeinfo` counted.
//!
//! The kernel does not tell the type of a single pageblock, only how many there are of
//! each type and how many blocks of each order are free on each type's lists. A type is
//! chosen for every pageblock so that both agree as well as possible, and so that the
//! pages inside speak for it. A free block that spans several pageblocks gives them all
//! the same type.

use freehold::{MAX_ORDERS, MIGRATETYPES, Migratetype, Order};
use freehold_trace::{FrameUse, PageTypeInfo, PageTypeZone, Snapshot};
use serde::Serialize;

use crate::Machine;
use crate::fit_search::{Search, Unit};
use crate::occupancy::{Occupancy, free_blocks};
use crate::prepass::{FirstUse, FirstUses};

/// The types of one zone's pageblocks, from its first frame's on.
pub type BlockTypes = Vec<Migratetype>;

/// How well the machine's start state could be reproduced.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct FitReport {
    /// One entry a zone.
    pub zones: Vec<ZoneFit>,
}

/// How far one zone's fitted start is from what the machine's pagetypeinfo said.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct ZoneFit {
    /// Name of the zone.
    pub zone: String,
    /// Whether the machine's pagetypeinfo had this zone; the differences are 0 otherwise.
    pub known: bool,
    /// Free blocks that differ, summed over orders and types.
    pub free_blocks: u64,
    /// The same in pages.
    pub free_pages: u64,
    /// Pageblocks that differ, summed over types.
    pub pageblocks: u64,
    /// Free pages on the machine.
    pub machine_free_pages: u64,
}

impl ZoneFit {
    /// The pages that differ, in percent of the machine's free pages.
    pub fn percent(&self) -> f64 {
        100.0 * self.free_pages as f64 / self.machine_free_pages.max(1) as f64
    }
}

/// Where the pageblocks of a zone are.
pub(crate) struct Geometry {
    pub(crate) zone_start: u64,
    pub(crate) spanned: usize,
    pub(crate) pageblock_order: Order,
    /// Number of the first pageblock, counted from frame 0.
    pub(crate) first_block: usize,
    pub(crate) blocks: usize,
}

impl Geometry {
    pub(crate) fn new(machine: &Machine, zone: usize) -> Self {
        let config = &machine.zones[zone];
        let shift = machine.pageblock_order.get();
        let first = config.start.0 >> shift;
        let last = (config.start.0 + config.spanned - 1) >> shift;
        Self {
            zone_start: config.start.0,
            spanned: config.spanned as usize,
            pageblock_order: machine.pageblock_order,
            first_block: first as usize,
            blocks: (last - first) as usize + 1,
        }
    }

    /// The first frame of a pageblock that is inside the zone, both counted from the zone's first.
    pub(crate) fn first_frame_of(&self, block: usize) -> usize {
        ((self.first_block + block) << self.pageblock_order.get()).saturating_sub(self.zone_start as usize)
    }

    /// The pageblock of a frame, both counted from the zone's first.
    pub(crate) fn block_of(&self, index: usize) -> usize {
        ((self.zone_start as usize + index) >> self.pageblock_order.get()) - self.first_block
    }
}

/// The machine's own counts for a zone.
pub(crate) fn target_of<'a>(
    machine: &Machine,
    zone: usize,
    info: &'a PageTypeInfo,
) -> Option<&'a PageTypeZone> {
    let config = &machine.zones[zone];
    let is_it = |z: &&PageTypeZone| z.node == u32::from(config.node) && z.name == config.kind.name();
    info.zones.iter().find(is_it)
}

/// Chooses a type for every pageblock of every zone.
pub(crate) fn fit(
    machine: &Machine,
    start: &Snapshot,
    occupancy: &Occupancy,
    first: &FirstUses,
) -> (Vec<BlockTypes>, FitReport) {
    let mut types = Vec::new();
    let mut report = FitReport::default();
    for (zone, frames) in occupancy.zones.iter().enumerate() {
        let geometry = Geometry::new(machine, zone);
        let target = target_of(machine, zone, &start.pagetypeinfo);
        let evidence = evidence(&geometry, frames, |index| first.get(zone, index));
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

/// How much the pages of one pageblock speak for each type.
type Evidence = [u32; MIGRATETYPES];

fn evidence(geometry: &Geometry, frames: &[FrameUse], first: impl Fn(usize) -> FirstUse) -> Vec<Evidence> {
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
        if let FirstUse::Free(kind) | FirstUse::Listed(kind) = first(index)
            && let Some(kind) = Migratetype::new(kind)
        {
            add(kind, 5);
        }
    }
    blocks
}

/// Whether the kernel's pagetypeinfo counts a pageblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counted {
    /// It holds pages that the allocator manages.
    Managed,
    /// It holds only pages that the kernel keeps for itself.
    Kept,
    /// It is a hole.
    No,
}

/// Tells which pageblocks the kernel counted, which were `counted` in all.
///
/// What the kernel keeps for itself looks like a hole. It counts a pageblock whose first
/// frame has a descriptor, so the first blocks without managed pages fill up to the number.
pub(crate) fn counted_blocks(geometry: &Geometry, frames: &[FrameUse], counted: u64) -> Vec<Counted> {
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

/// How many pageblocks a zone's pagetypeinfo counts.
pub(crate) fn counted_in(target: Option<&PageTypeZone>) -> u64 {
    target.map_or(0, |target| target.blocks.iter().fold(0, |sum, &blocks| sum.saturating_add(blocks)))
}

/// Groups pageblocks that share a free block, and says what each group holds; `counted` is
/// how many the kernel counted.
fn units(geometry: &Geometry, frames: &[FrameUse], evidence: &[Evidence], counted: u64) -> Vec<Unit> {
    let counted = counted_blocks(geometry, frames, counted);
    let mut joined = vec![false; geometry.blocks];
    let mut free = vec![[0_u32; MAX_ORDERS]; geometry.blocks];
    for (index, order) in free_blocks(frames, geometry.zone_start) {
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
