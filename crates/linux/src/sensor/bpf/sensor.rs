//! The BPF sensor: reads the kernel's free areas without the zone lock.

use freehold::Migratetype;
use freehold_trace::{ByOrder, ByType, FreeCount, KernelType, ZoneSnapshot};

use super::Programs;
use super::locate::{Layout, locate};
use super::messages::{CHUNK, Map, Message, Room, ZoneEntry};
use crate::clock;
use crate::error::BpfError;
use crate::sensor::free_blocks::{FreeBlocks, Source, ZoneFreeBlocks};

/// Reads the free blocks of the running kernel from its own fields by a BPF program.
///
/// It takes no lock and writes nothing. On a quiet machine the numbers are exact, however long a list is.
/// On a busy one each order's numbers are off by at most what changed while its lists were walked. The
/// longest list of an order is not walked: its number is the kernel's total less the other lists.
#[derive(Debug)]
pub struct BpfSensor {
    pub(super) programs: Programs,
    pub(super) layout: Layout,
    pub(super) zones: Vec<ZoneSnapshot>,
    pub(super) pageblock_order: Option<u8>,
    pub(super) first_pageblock: u64,
    pub(super) chunks: u32,
    pub(super) page_table: Option<u64>,
    /// The value of the kernel's variable `mem_section`, once it was read.
    pub(super) sections: Option<u64>,
    pub(super) unsettled: u64,
}

impl BpfSensor {
    /// Loads the programs and finds the populated ones of `zones` (from `/proc/zoneinfo`) in the
    /// kernel.
    ///
    /// `pageblock_order` is passed on to the readings; [`BpfSensor::free_list_types`] needs it.
    ///
    /// # Errors
    /// If the kernel does not let this process load programs, has no type information, or has other
    /// zones than `zones`.
    pub fn open(zones: &[ZoneSnapshot], pageblock_order: Option<u8>) -> Result<Self, BpfError> {
        Self::open_with(zones, pageblock_order, None)
    }

    /// Opens a sensor that can also copy whole states if `room` is given.
    pub(super) fn open_with(
        zones: &[ZoneSnapshot],
        pageblock_order: Option<u8>,
        room: Option<Room>,
    ) -> Result<Self, BpfError> {
        let zones: Vec<_> = zones.iter().filter(|zone| zone.present > 0).cloned().collect();
        let block_of = |pfn: u64| pageblock_order.map_or(0, |order| pfn >> order);
        let first_pageblock = zones.iter().map(|zone| block_of(zone.start_pfn)).min().unwrap_or(0);
        let end = zones.iter().map(|zone| block_of(zone.start_pfn + zone.spanned) + 1).max().unwrap_or(0);
        let chunks = (end - first_pageblock).div_ceil(CHUNK as u64) as u32;
        let programs = Programs::load(zones.len() as u32, chunks, room)?;
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
            sections: None,
            unsettled: 0,
        })
    }

    /// Reads the free blocks of all zones.
    ///
    /// # Errors
    /// If the program cannot be run.
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
            types: self.layout.types.clone(),
            zones,
        })
    }

    /// Returns the order of a pageblock, if the sensor was opened with it.
    pub fn pageblock_order(&self) -> Option<u8> {
        self.pageblock_order
    }

    /// Returns how many times, over all readings, an order's lists changed under each of several
    /// walks.
    ///
    /// Such an order's numbers are off by at most what changed meanwhile, but were not checked
    /// against the kernel's total.
    pub fn unsettled(&self) -> u64 {
        self.unsettled
    }
}

/// Translates a zone's entry into this library's types.
fn free_blocks(zone: &ZoneSnapshot, entry: &ZoneEntry, layout: &Layout) -> ZoneFreeBlocks {
    let mut total = ByOrder::<FreeCount>::new(layout.largest);
    let mut by_type = ByType::new(&layout.types, total);
    for (order, total) in total.iter_mut().enumerate() {
        total.blocks = entry.nr_free(order);
        for (number, kind) in layout.types.iter().enumerate() {
            by_type[kind.index()][order] =
                FreeCount { blocks: entry.blocks(order, number), capped: entry.is_capped(order, number) };
        }
    }
    ZoneFreeBlocks {
        node: zone.node,
        name: zone.name.clone(),
        total,
        by_type: Some(by_type),
        pageblocks: None,
        reserves: None,
    }
}

/// Returns the type that the kernel's texts name for list `number`.
pub(super) fn kind_of(layout: &Layout, number: usize) -> Option<Migratetype> {
    layout.types.get(number).map(KernelType::nearest)
}
