//! The sensor: the kernel's free areas, read without the zone lock.

use freehold::{MAX_ORDERS, MIGRATETYPES, Migratetype};
use freehold_trace::{FreeCount, ZoneSnapshot};

use super::Programs;
use super::locate::{Layout, locate};
use super::messages::{CHUNK, Map, Message, ZoneEntry};
use crate::clock;
use crate::error::BpfError;
use crate::sensor::free_blocks::{FreeBlocks, Source, ZoneFreeBlocks};

/// Free blocks of the running kernel, read from its own fields by a BPF program.
///
/// No lock is taken and nothing is written. On a quiet machine the numbers are exact, and no list is too
/// long; on a busy one each order's numbers are off by no more than what changed while its lists were
/// walked, since nothing holds them still. The longest list of an order is not walked: it is what the
/// others leave of the kernel's own total.
#[derive(Debug)]
pub struct BpfSensor {
    pub(super) programs: Programs,
    pub(super) layout: Layout,
    pub(super) zones: Vec<ZoneSnapshot>,
    pub(super) pageblock_order: Option<u8>,
    pub(super) first_pageblock: u64,
    pub(super) chunks: u32,
    pub(super) page_table: Option<u64>,
    pub(super) unsettled: u64,
}

impl BpfSensor {
    /// Loads the program and finds the populated ones of `zones` (as `/proc/zoneinfo` tells them) in the
    /// kernel.
    ///
    /// `pageblock_order` is only passed on, and what [`BpfSensor::free_list_types`] needs.
    ///
    /// # Errors
    /// Where the kernel does not let this process do that, does not describe its types, or has zones other
    /// than `zones`.
    pub fn open(zones: &[ZoneSnapshot], pageblock_order: Option<u8>) -> Result<Self, BpfError> {
        let zones: Vec<_> = zones.iter().filter(|zone| zone.present > 0).cloned().collect();
        let block_of = |pfn: u64| pageblock_order.map_or(0, |order| pfn >> order);
        let first_pageblock = zones.iter().map(|zone| block_of(zone.start_pfn)).min().unwrap_or(0);
        let end = zones.iter().map(|zone| block_of(zone.start_pfn + zone.spanned) + 1).max().unwrap_or(0);
        let chunks = (end - first_pageblock).div_ceil(CHUNK as u64) as u32;
        let programs = Programs::load(zones.len() as u32, chunks)?;
        let layout = Layout::ask(&programs)?;
        let addresses = locate(&programs, &zones)?;
        for (key, (address, zone)) in addresses.into_iter().zip(&zones).enumerate() {
            let entry = ZoneEntry::fresh(address, zone.start_pfn, zone.start_pfn + zone.spanned);
            programs.put(Map::Zones, key as u32, &entry)?;
        }
        Ok(Self {
            programs,
            layout,
            zones,
            pageblock_order,
            first_pageblock,
            chunks,
            page_table: None,
            unsettled: 0,
        })
    }

    /// Reads the free blocks of all zones.
    ///
    /// # Errors
    /// Where the kernel stops running the program.
    pub fn read(&mut self) -> Result<FreeBlocks, BpfError> {
        let begin_ns = clock::monotonic_ns();
        self.programs.run("count", &mut Message::new(&[self.zones.len() as u64], 1))?;
        let mut zones = Vec::with_capacity(self.zones.len());
        self.unsettled = 0;
        for (key, zone) in (0..).zip(&self.zones) {
            let entry = ZoneEntry::new(self.programs.get(Map::Zones, key)?);
            self.unsettled += entry.unsettled();
            zones.push(free_blocks(zone, &entry, &self.layout));
        }
        let time_ns = clock::monotonic_ns();
        Ok(FreeBlocks {
            source: Source::Bpf,
            time_ns,
            cost_ns: time_ns - begin_ns,
            types_time_ns: Some(time_ns),
            pageblock_order: self.pageblock_order,
            types: self.layout.types.iter().map(|(_, kind)| *kind).collect(),
            zones,
        })
    }

    /// How many times, over all readings, the lists of an order changed under each of several walks.
    ///
    /// Such an order's numbers are still within what changed meanwhile, but not checked against its total.
    pub fn unsettled(&self) -> u64 {
        self.unsettled
    }
}

/// What a zone's entry says, by this library's types.
fn free_blocks(zone: &ZoneSnapshot, entry: &ZoneEntry, layout: &Layout) -> ZoneFreeBlocks {
    let mut total = [FreeCount::default(); MAX_ORDERS];
    let mut by_type = [[FreeCount::default(); MAX_ORDERS]; MIGRATETYPES];
    for (order, total) in total.iter_mut().enumerate() {
        total.blocks = entry.nr_free(order);
        for (number, kind) in &layout.types {
            by_type[kind.index()][order] =
                FreeCount { blocks: entry.blocks(order, *number), capped: entry.is_capped(order, *number) };
        }
    }
    ZoneFreeBlocks {
        node: zone.node,
        name: zone.name.clone(),
        total,
        by_type: Some(by_type),
        pageblocks: None,
    }
}

/// The type that the kernel's text would name for list `number`.
pub(super) fn kind_of(layout: &Layout, number: usize) -> Option<Migratetype> {
    layout.types.get(number).map(|(_, kind)| *kind)
}
