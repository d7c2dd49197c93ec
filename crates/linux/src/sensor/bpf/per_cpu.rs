//! The frames on per-CPU lists.

use freehold_trace::ZoneSnapshot;

use super::messages::{LISTED, Room};
use super::sensor::BpfSensor;
use super::take::{MOST_BLOCKS, Part, listed, possible_cpus, take};
use crate::error::BpfError;
use crate::pageblocks::PerCpuFrames;

/// Reads which frames are on per-CPU lists.
///
/// It takes no lock and writes nothing.
#[derive(Debug)]
pub struct PerCpuSensor {
    sensor: BpfSensor,
    room: Room,
    /// The start of the table of all `struct page`.
    page_table: u64,
}

impl PerCpuSensor {
    /// Opens the sensor for the populated ones of `zones` (from `/proc/zoneinfo`) of the running machine.
    ///
    /// # Errors
    /// As [`BpfSensor::open`]; also if frame numbers cannot be determined.
    pub fn open(zones: &[ZoneSnapshot], pageblock_order: u8) -> Result<Self, BpfError> {
        // Linux lets lists have an eighth of a zone at most (`MIN_PERCPU_PAGELIST_HIGH_FRACTION`).
        let managed: u64 = zones.iter().map(|zone| zone.managed).sum();
        let blocks = (managed / 8 + 65536).min(MOST_BLOCKS + LISTED as u64);
        let room = Room { cpus: possible_cpus(), chunks: blocks.div_ceil(LISTED as u64) as u32 };
        let mut sensor = BpfSensor::open_with(zones, Some(pageblock_order), Some(room))?;
        let page_table = sensor.page_table()?;
        Ok(Self { sensor, room, page_table })
    }

    /// Reads once which frames are on per-CPU lists; those that come and go meanwhile may be missing.
    ///
    /// # Errors
    /// If the program cannot be run, blocks are outside their zones, or there are more than there is room for.
    pub fn read(&self) -> Result<PerCpuFrames, BpfError> {
        let taken = take(&self.sensor, self.room, self.page_table, Part::CpuLists)?;
        let blocks = listed(&self.sensor, self.room, taken.blocks)?;
        Ok(PerCpuFrames::new(blocks.into_iter().map(|block| (block.pfn, block.order))))
    }
}
