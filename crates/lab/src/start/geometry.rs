//! The pageblocks of a zone, and their counts in `/proc/pagetypeinfo`.

use freehold::{Migratetype, Order, Pfn};
use freehold_trace::{PageTypeInfo, PageTypeZone};

use super::machine::RecordedMachine;
use crate::counts::pageblocks;

/// The type of each pageblock of a zone, starting with the pageblock of the zone's first frame.
pub type BlockTypes = Vec<Migratetype>;

/// The pageblocks of a zone.
pub(super) struct Geometry {
    pub(super) zone_start: u64,
    pub(super) spanned: usize,
    pub(super) pageblock_order: Order,
    pub(super) max_order: Order,
    /// The number of the first pageblock, counted from frame 0.
    pub(super) first_block: usize,
    pub(super) blocks: usize,
}

impl Geometry {
    pub(super) fn new(machine: &RecordedMachine, zone: usize) -> Self {
        let config = &machine.zones[zone];
        let shift = machine.pageblock_order.get();
        let first = config.start.0 >> shift;
        let last = (config.start.0 + config.spanned - 1) >> shift;
        Self {
            zone_start: config.start.0,
            spanned: config.spanned as usize,
            pageblock_order: machine.pageblock_order,
            max_order: machine.max_order,
            first_block: first as usize,
            blocks: (last - first) as usize + 1,
        }
    }

    /// Returns the first frame of a pageblock inside the zone. Frames and pageblocks count from the first of the zone.
    pub(super) fn first_frame_of(&self, block: usize) -> usize {
        ((self.first_block + block) << self.pageblock_order.get()).saturating_sub(self.zone_start as usize)
    }

    /// Returns the pageblock of a frame. Frames and pageblocks count from the first of the zone.
    pub(super) fn block_of(&self, index: usize) -> usize {
        ((self.zone_start as usize + index) >> self.pageblock_order.get()) - self.first_block
    }
}

/// Returns the counts of a zone in the machine's pagetypeinfo; `None` if it lacks the zone.
pub(crate) fn target_of<'a>(
    machine: &RecordedMachine,
    zone: usize,
    info: &'a PageTypeInfo,
) -> Option<&'a PageTypeZone> {
    let config = &machine.zones[zone];
    let is_it = |z: &&PageTypeZone| z.node == u32::from(config.node) && z.name == config.kind.name();
    info.zones.iter().find(is_it)
}

/// Returns the number of whole pageblocks in the free blocks of the machine's pagetypeinfo.
pub(crate) fn free_pageblocks(machine: &RecordedMachine, info: &PageTypeInfo) -> u64 {
    let zones = info.zones.iter().flat_map(|zone| &zone.free);
    zones.map(|orders| pageblocks(machine.pageblock_order, |order| orders.of(order).blocks)).sum()
}

/// Returns the zone of a block, and the block's first frame counted from the zone's first; `None` if no zone contains
/// the whole block.
pub(crate) fn locate(machine: &RecordedMachine, pfn: Pfn, order: Order) -> Option<(usize, usize)> {
    machine.zones.iter().enumerate().find_map(|(number, zone)| {
        let index = pfn.0.checked_sub(zone.start.0)?;
        (index.checked_add(order.pages())? <= zone.spanned).then_some((number, index as usize))
    })
}
