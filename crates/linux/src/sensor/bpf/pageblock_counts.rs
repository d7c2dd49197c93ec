//! Pageblocks by migratetype, counted from the kernel's own bits.

use freehold_trace::{ByType, ZoneSnapshot};

use super::messages::{Map, Message, ZoneEntry};
use super::sensor::BpfSensor;
use crate::error::BpfError;
use crate::sensor::free_blocks::ZoneFreeBlocks;

impl BpfSensor {
    /// Counts the pageblocks of `zones`, which this sensor has read, by migratetype. A zone's numbers are left out where they
    /// cannot be had: where neither `/proc/kallsyms` nor the text for debuggers tells of `mem_section`, where zones' spans overlap, so that a pageblock's
    /// zone is not known by its address, and where they do not make up the zone.
    ///
    /// # Errors
    /// If the program cannot be run.
    pub fn count_pageblocks(&mut self, zones: &mut [ZoneFreeBlocks]) -> Result<(), BpfError> {
        let order = self.pageblock_order.ok_or(BpfError::NoPageblockOrder)?;
        let sections = self.sections()?;
        if sections == 0 || overlap(&self.zones) {
            return Ok(());
        }
        let page_bytes = rustix::param::page_size() as u64;
        let shift = section_shift(page_bytes);
        let given = [self.zones.len() as u64, sections, order.into(), shift, page_bytes];
        self.programs.run("count_pageblocks", &mut Message::new(&given, given.len()))?;
        for (key, (zone, read)) in (0..).zip(self.zones.iter().zip(zones)) {
            let entry = ZoneEntry::new(self.programs.get(Map::Zones, key)?);
            let mut counted = ByType::new(&self.layout.types, 0);
            let mut all = 0;
            for (number, kind) in self.layout.types.iter().enumerate() {
                counted[kind.index()] = entry.pageblocks(number);
                all += entry.pageblocks(number);
            }
            let makes_up = all << order >= zone.managed && all <= zone.spanned.div_ceil(1 << order);
            read.pageblocks = makes_up.then_some(counted);
        }
        Ok(())
    }

    /// Returns the value of the kernel's variable `mem_section`, which is looked up once; 0 if the kernel does not tell it.
    pub(super) fn sections(&mut self) -> Result<u64, BpfError> {
        if let Some(known) = self.sections {
            return Ok(known);
        }
        let found = self.variable("mem_section", "mem_section")?.unwrap_or(0);
        self.sections = Some(found);
        Ok(found)
    }
}

/// Returns true if the spans of some zones overlap.
fn overlap(zones: &[ZoneSnapshot]) -> bool {
    let mut spans: Vec<_> =
        zones.iter().map(|zone| (zone.start_pfn, zone.start_pfn + zone.spanned)).collect();
    spans.sort_unstable();
    spans.windows(2).any(|pair| pair[1].0 < pair[0].1)
}

/// Returns the pages of a section of memory as a power of two: 128 MiB, on arm64 with pages of 64 KiB 512 MiB.
/// Linux counterpart: `PFN_SECTION_SHIFT`.
pub(super) fn section_shift(page_bytes: u64) -> u64 {
    let bits = if cfg!(target_arch = "aarch64") && page_bytes == 1 << 16 { 29 } else { 27 };
    bits - u64::from(page_bytes.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_zones_are_seen() {
        let zone = |start_pfn, spanned| ZoneSnapshot { start_pfn, spanned, ..ZoneSnapshot::default() };
        assert!(!overlap(&[zone(1, 4095), zone(8192, 100), zone(4096, 4096)]));
        assert!(overlap(&[zone(0, 100), zone(200, 100), zone(50, 10)]));
    }
}
