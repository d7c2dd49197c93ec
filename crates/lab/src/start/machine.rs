//! The recorded machine as a configuration of the engine.

use std::mem::MaybeUninit;

use freehold::{
    MemoryConfig, Order, PerCpuSettings, Pfn, Platform, Sections, Switches, Tunables, Watermarks, ZONE_TYPES,
    ZoneConfig, ZoneType, required_bytes,
};
use freehold_trace::{EventKind, EventLog, Pageset, Snapshot, ZoneSnapshot};

use super::bounds::add_unprinted_bounds;
use crate::error::LabError;

/// The largest number of spanned pages: a limit for the memory that a malicious trace can use.
const MAX_PAGES: u64 = 1 << 27;

/// The default `pageblock_order` of Linux on x86-64.
const DEFAULT_PAGEBLOCK_ORDER: Order = Order::HUGE_PAGE;

/// The recorded machine: zones, per-CPU settings and CPUs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedMachine {
    /// The zones with pages, in the order of the snapshot.
    pub zones: Vec<ZoneConfig>,
    /// For each of `zones`, its index in [`Snapshot::zones`].
    pub snapshot_index: Vec<usize>,
    /// The number of CPUs: one more than the highest CPU in the snapshot or the events.
    pub cpus: u16,
    /// The largest order.
    pub max_order: Order,
    /// The order of a pageblock, at most the largest.
    pub pageblock_order: Order,
    /// `vm.watermark_boost_factor`; `None` if it was not recorded.
    pub watermark_boost_factor: Option<u32>,
    /// The settings of reclaim and compaction, such as `vm.extfrag_threshold`. Settings that were not recorded have the
    /// defaults of Linux.
    pub tunables: Tunables,
}

impl RecordedMachine {
    /// Reads the machine from its start snapshot. `events` may contain further CPUs.
    ///
    /// # Errors
    /// The snapshot has no zones, unknown zones, or numbers out of range.
    pub fn new(start: &Snapshot, events: &EventLog) -> Result<Self, LabError> {
        let columns = ReserveColumns::new(&start.zones)?;
        let (mut zones, mut snapshot_index) = (Vec::new(), Vec::new());
        let mut spanned: u64 = 0;
        for (index, zone) in start.zones.iter().enumerate().filter(|(_, zone)| zone.spanned > 0) {
            spanned = spanned.saturating_add(zone.spanned);
            zones.push(zone_config(zone, &columns)?);
            snapshot_index.push(index);
        }
        if zones.is_empty() {
            return Err(LabError::NoZones);
        }
        if spanned > MAX_PAGES {
            return Err(LabError::TooLarge { pages: spanned, most: MAX_PAGES });
        }
        let of_lists = start.zones.iter().flat_map(|zone| &zone.pagesets).map(|set| set.cpu).max();
        let of_events = events.iter().map(|event| u32::from(event.cpu)).max();
        let last = of_lists.max(of_events).unwrap_or(0);
        let cpus = last.checked_add(1).and_then(|cpus| u16::try_from(cpus).ok());
        let cpus = cpus.ok_or_else(|| LabError::OutOfRange { what: format!("CPU {last}") })?;
        let boost = start.sysctl.get("watermark_boost_factor").and_then(|text| text.trim().parse().ok());
        let max_order = start.largest_order().unwrap_or_else(|| largest_of_events(events));
        let pageblock_order = match start.pagetypeinfo.pageblock_order {
            0 => DEFAULT_PAGEBLOCK_ORDER.min(max_order),
            order => Order::new(order)
                .filter(|&order| order <= max_order)
                .ok_or_else(|| LabError::OutOfRange { what: format!("pageblock order {order}") })?,
        };
        add_unprinted_bounds(&mut zones, &snapshot_index, cpus, start);
        Ok(Self {
            zones,
            snapshot_index,
            cpus,
            max_order,
            pageblock_order,
            watermark_boost_factor: boost,
            tunables: tunables(start),
        })
    }

    /// Returns the configuration of the engine for some switches.
    pub fn config(&self, switches: Switches) -> MemoryConfig<'_> {
        MemoryConfig {
            zones: &self.zones,
            sections: Sections::ALL,
            cpus: self.cpus,
            max_order: self.max_order,
            pageblock_order: self.pageblock_order,
            huge_pages: self.huge_order().is_some(),
            switches,
            watermark_boost_factor: self.watermark_boost_factor,
        }
    }

    /// Returns the order of a huge page, which is that of a pageblock; `None` if the kernel has no huge pages.
    ///
    /// In a kernel without huge pages, a pageblock is as large as the largest block. With pages of 16 or 64 KiB, a
    /// huge page is also as large as the largest block, and has order 11 or 13.
    pub(crate) fn huge_order(&self) -> Option<Order> {
        let order = self.pageblock_order;
        (order < self.max_order || matches!(order.get(), 11 | 13)).then_some(order)
    }

    /// Returns a buffer for the engine's metadata.
    pub fn metadata<P: Platform>(&self, switches: Switches) -> Vec<MaybeUninit<u8>> {
        vec![MaybeUninit::uninit(); required_bytes::<P>(&self.config(switches))]
    }

    /// Returns the number of pages that all zones span.
    ///
    /// Units: pages.
    pub fn spanned(&self) -> u64 {
        self.zones.iter().map(|zone| zone.spanned).sum()
    }

    /// Returns the size of the engine's metadata in bytes, and in bytes for each spanned page.
    pub fn metadata_bytes<P: Platform>(&self, switches: Switches) -> (u64, f64) {
        let bytes = required_bytes::<P>(&self.config(switches)) as u64;
        (bytes, bytes as f64 / self.spanned() as f64)
    }

    /// Returns the index of a zone in the engine, which sorts zones by node, type and address.
    pub fn engine_rank(&self, zone: usize) -> usize {
        let key = |config: &ZoneConfig| (config.node, config.kind, config.start);
        let own = key(&self.zones[zone]);
        self.zones.iter().filter(|other| key(other) < own).count()
    }

    /// Returns the name of a zone for reports, with its node if there are several nodes.
    pub fn zone_name(&self, zone: usize) -> String {
        let config = &self.zones[zone];
        if self.zones.iter().all(|other| other.node == 0) {
            config.kind.name().to_owned()
        } else {
            format!("node {} {}", config.node, config.kind.name())
        }
    }
}

/// Returns the largest order of a machine whose `/proc/pagetypeinfo` was not recorded.
fn largest_of_events(events: &EventLog) -> Order {
    let order_of = |event: freehold_trace::Event| match event.kind {
        EventKind::Alloc { order, .. }
        | EventKind::Free { order, .. }
        | EventKind::PcpuDrain { order, .. }
        | EventKind::ZoneLocked { order, .. } => order,
        EventKind::ExtFrag { fallback_order, .. } => fallback_order,
        _ => Order::ZERO,
    };
    events.iter().map(order_of).max().unwrap_or_default().max(Order::MAX_PAGE_ORDER)
}

/// Returns the settings of reclaim and compaction.
fn tunables(start: &Snapshot) -> Tunables {
    let setting = |name: &str| start.sysctl.get(name).and_then(|text| text.trim().parse::<u16>().ok());
    let default = Tunables::LINUX;
    Tunables {
        extfrag_threshold: setting("extfrag_threshold").unwrap_or(default.extfrag_threshold).min(1000),
        compaction_proactiveness: setting("compaction_proactiveness")
            .map_or(default.compaction_proactiveness, |percent| percent.min(100) as u8),
        defrag_mode: setting("defrag_mode").map_or(default.defrag_mode, |mode| mode != 0),
    }
}

/// The zone type of each column of `protection:` in `/proc/zoneinfo`.
///
/// The kernel prints one number for each zone type of its configuration, from low to high, without names. The types
/// follow from the number of columns and the existing zones: every kernel has `Movable`, some have `Device` after it,
/// and only 32-bit kernels have `HighMem`.
struct ReserveColumns(Vec<ZoneType>);

impl ReserveColumns {
    fn new(zones: &[ZoneSnapshot]) -> Result<Self, LabError> {
        use ZoneType::{Device, Dma, Dma32, HighMem, Movable, Normal};
        for zone in zones {
            kind_of(zone)?;
        }
        let named = |name: &str| zones.iter().any(|zone| zone.name == name);
        let count = zones.iter().map(|zone| zone.protection.len()).max().unwrap_or(0);
        let columns: &[ZoneType] = match count {
            6.. => &ZoneType::ALL,
            5 if named("HighMem") && named("DMA32") => &[Dma, Dma32, Normal, HighMem, Movable],
            5 if named("HighMem") => &[Dma, Normal, HighMem, Movable, Device],
            5 => &[Dma, Dma32, Normal, Movable, Device],
            4 if named("HighMem") => &[Dma, Normal, HighMem, Movable],
            4 if named("Device") && named("DMA32") => &[Dma32, Normal, Movable, Device],
            4 if named("Device") => &[Dma, Normal, Movable, Device],
            4 => &[Dma, Dma32, Normal, Movable],
            3 if named("HighMem") => &[Normal, HighMem, Movable],
            3 if named("DMA") => &[Dma, Normal, Movable],
            3 if named("DMA32") => &[Dma32, Normal, Movable],
            3 => &[Normal, Movable, Device],
            _ => &[Normal, Movable],
        };
        Ok(Self(columns.to_vec()))
    }

    /// Returns the lowmem reserve by zone type. A type without a column gets the reserve of the next lower type.
    fn spread(&self, protection: &[u64]) -> [u64; ZONE_TYPES] {
        let mut reserve = [0; ZONE_TYPES];
        for kind in ZoneType::ALL {
            let at = kind as usize;
            let column = self.0.iter().position(|&column| column == kind);
            let below = if at == 0 { 0 } else { reserve[at - 1] };
            reserve[at] = column.and_then(|column| protection.get(column).copied()).unwrap_or(below);
        }
        reserve
    }
}

fn kind_of(zone: &ZoneSnapshot) -> Result<ZoneType, LabError> {
    ZoneType::from_name(&zone.name).ok_or_else(|| LabError::UnknownZone { name: zone.name.clone() })
}

fn zone_config(zone: &ZoneSnapshot, columns: &ReserveColumns) -> Result<ZoneConfig, LabError> {
    let out_of_range = |what: String| LabError::OutOfRange { what };
    let node = u16::try_from(zone.node).ok().filter(|&node| node < 1024);
    // The engine adds reserves and watermarks in signed sums.
    let too_large = [zone.watermark_min, zone.watermark_low, zone.watermark_high, zone.managed]
        .into_iter()
        .chain(zone.protection.iter().copied())
        .any(|pages| pages > 1 << 40);
    if too_large {
        return Err(out_of_range(format!("a watermark, reserve or size of zone {}", zone.name)));
    }
    let end = zone.start_pfn.checked_add(zone.spanned).filter(|&end| end <= 1 << 52);
    if end.is_none() {
        return Err(out_of_range(format!("the end of zone {}", zone.name)));
    }
    Ok(ZoneConfig {
        node: node.ok_or_else(|| out_of_range(format!("node {}", zone.node)))?,
        kind: kind_of(zone)?,
        start: Pfn(zone.start_pfn),
        spanned: zone.spanned,
        managed: zone.managed,
        watermarks: Watermarks {
            min: zone.watermark_min,
            low: zone.watermark_low,
            high: zone.watermark_high,
        },
        lowmem_reserve: columns.spread(&zone.protection),
        percpu: percpu_settings(&zone.pagesets),
    })
}

/// Returns the settings of a zone's per-CPU lists: those of its first CPU, because all CPUs have the same in Linux.
///
/// Linux up to 6.12 prints only `high`, which is used for both bounds. A zone without lists gets the boot-time
/// settings of Linux.
fn percpu_settings(pagesets: &[Pageset]) -> PerCpuSettings {
    let small = |pages: u64| pages.min(1 << 20) as u32;
    let Some(set) = pagesets.first() else {
        return PerCpuSettings { batch: 1, high_min: 0, high_max: 0, flush_needs_batch: false };
    };
    let high_min = if set.high_min == 0 { set.high } else { set.high_min };
    let high_max = if set.high_max == 0 { set.high } else { set.high_max };
    PerCpuSettings {
        batch: small(set.batch).max(1),
        high_min: small(high_min),
        high_max: small(high_max).max(small(high_min)),
        flush_needs_batch: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str, start_pfn: u64, protection: &[u64]) -> ZoneSnapshot {
        ZoneSnapshot {
            name: name.to_owned(),
            start_pfn,
            spanned: 1024,
            protection: protection.to_vec(),
            ..ZoneSnapshot::default()
        }
    }

    fn reserves(zones: Vec<ZoneSnapshot>) -> Vec<[u64; ZONE_TYPES]> {
        let start = Snapshot { zones, ..Snapshot::default() };
        let machine = RecordedMachine::new(&start, &EventLog::default()).expect("a machine");
        machine.zones.iter().map(|zone| zone.lowmem_reserve).collect()
    }

    #[test]
    fn protection_columns_follow_from_their_number_and_the_zones() {
        let five = reserves(vec![zone("DMA", 0, &[0, 1, 2, 3, 4]), zone("DMA32", 4096, &[0, 0, 5, 6, 7])]);
        assert_eq!(five, [[0, 1, 2, 2, 3, 4], [0, 0, 5, 5, 6, 7]]);
        assert_eq!(reserves(vec![zone("DMA32", 0, &[0, 1, 2, 3])]), [[0, 1, 2, 2, 3, 3]]);
        let high = reserves(vec![zone("Normal", 0, &[0, 0, 9, 8]), zone("HighMem", 4096, &[0; 4])]);
        assert_eq!(high[0], [0, 0, 0, 9, 8, 8]);
        assert_eq!(reserves(vec![zone("DMA", 0, &[0, 3, 4])]), [[0, 0, 3, 3, 4, 4]]);
    }

    #[test]
    fn per_cpu_settings_of_old_kernels_and_small_zones_are_read() {
        let old = Pageset { high: 378, batch: 63, ..Pageset::default() };
        let settings = percpu_settings(&[old]);
        assert_eq!((settings.batch, settings.high_min, settings.high_max), (63, 378, 378));
        let dma = Pageset { high: 0, batch: 1, ..Pageset::default() };
        let settings = percpu_settings(&[dma]);
        assert_eq!((settings.batch, settings.high_min, settings.high_max), (1, 0, 0));
        assert_eq!(percpu_settings(&[]).batch, 1);
    }

    #[test]
    fn the_number_of_cpus_includes_lists_and_events() {
        let mut normal = zone("Normal", 0, &[]);
        normal.pagesets = vec![Pageset { cpu: 2, ..Pageset::default() }];
        let start = Snapshot { zones: vec![normal], ..Snapshot::default() };
        assert_eq!(RecordedMachine::new(&start, &EventLog::default()).expect("a machine").cpus, 3);
        let lost = freehold_trace::EventKind::Lost { count: 1 };
        let event = freehold_trace::Event { time_ns: 0, cpu: 6, pid: 0, kind: lost };
        assert_eq!(RecordedMachine::new(&start, &[event][..].into()).expect("a machine").cpus, 7);
        let event = freehold_trace::Event { cpu: u16::MAX, ..event };
        assert!(RecordedMachine::new(&start, &[event][..].into()).is_err());
    }

    #[test]
    fn bad_snapshots_are_errors() {
        let machine =
            |zones| RecordedMachine::new(&Snapshot { zones, ..Snapshot::default() }, &EventLog::default());
        assert!(matches!(machine(vec![]), Err(LabError::NoZones)));
        assert!(matches!(machine(vec![zone("Sky", 0, &[])]), Err(LabError::UnknownZone { .. })));
        let large = ZoneSnapshot { spanned: MAX_PAGES + 1, ..zone("Normal", 0, &[]) };
        let refused = machine(vec![large]).expect_err("too large").to_string();
        assert!(refused.contains("512 GiB") && refused.contains("134217729 pages"), "{refused}");
        let endless = ZoneSnapshot { start_pfn: 1 << 52, ..zone("Normal", 0, &[]) };
        assert!(matches!(machine(vec![endless]), Err(LabError::OutOfRange { .. })));
    }
}
