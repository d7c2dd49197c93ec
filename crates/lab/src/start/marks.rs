//! Watermarks and the bounds of per-CPU lists, computed from sysctls as Linux computes them.

use freehold::{Watermarks, ZoneConfig, ZoneType};
use freehold_trace::{Snapshot, ZoneSnapshot};

use super::machine::Machine;

/// `SWAP_CLUSTER_MAX`: the least min watermark of a zone whose pages the kernel cannot address directly.
const LEAST_HIGHMEM_MIN: u64 = 32;

/// The highest min watermark of such a zone.
const MOST_HIGHMEM_MIN: u64 = 128;

/// Linux's own `watermark_scale_factor`, in parts of 10 000.
const DEFAULT_SCALE_FACTOR: u64 = 10;

/// `MIN_PERCPU_PAGELIST_HIGH_FRACTION`: the lists hold at most an eighth of a zone.
pub(crate) const LEAST_HIGH_FRACTION: u64 = 8;

/// The sysctls from which Linux computes the watermarks and the bounds of the per-CPU lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sysctls {
    /// `vm.min_free_kbytes`; `None` leaves the min watermarks as they are.
    pub(crate) min_free_kbytes: Option<u64>,
    /// `vm.watermark_scale_factor`.
    pub(crate) watermark_scale_factor: Option<u64>,
    /// `vm.percpu_pagelist_high_fraction`; 0 for automatic tuning.
    pub(crate) percpu_pagelist_high_fraction: Option<u64>,
}

impl Sysctls {
    /// Returns the settings that were recorded.
    pub(super) fn recorded(start: &Snapshot) -> Self {
        let number = |name: &str| start.sysctl.get(name).and_then(|text| text.trim().parse().ok());
        Self {
            min_free_kbytes: number("min_free_kbytes"),
            watermark_scale_factor: number("watermark_scale_factor"),
            percpu_pagelist_high_fraction: number("percpu_pagelist_high_fraction"),
        }
    }

    /// Gives the zones the watermarks and bounds that follow from these settings, if any of them is set. Settings
    /// that are not set are taken as recorded.
    ///
    /// Linux counterpart: `__setup_per_zone_wmarks`, `zone_set_pageset_high_and_batch`. DIFFERENCE: which CPU
    /// belongs to which node is not recorded; every node counts as having the same number of CPUs.
    pub(crate) fn apply(self, machine: &mut Machine, start: &Snapshot, page_bytes: u64) {
        if self == Self::default() {
            return;
        }
        let recorded = Self::recorded(start);
        if self.min_free_kbytes.is_some() || self.watermark_scale_factor.is_some() {
            let scale = self.watermark_scale_factor.or(recorded.watermark_scale_factor);
            let pages = self.min_free_kbytes.map(|kbytes| kbytes * 1024 / page_bytes.max(1024));
            set_watermarks(&mut machine.zones, pages, scale.unwrap_or(DEFAULT_SCALE_FACTOR));
        }
        let fraction = self.percpu_pagelist_high_fraction.or(recorded.percpu_pagelist_high_fraction);
        set_bounds(machine, fraction.unwrap_or(0));
    }
}

/// Returns true if the kernel has no direct mapping of the zone's pages, or treats them as if it had none.
fn is_high(zone: &ZoneConfig) -> bool {
    matches!(zone.kind, ZoneType::HighMem | ZoneType::Movable)
}

/// Sets the marks of all zones. `min_pages` is what all min marks together keep free; without it every zone keeps
/// its min mark.
fn set_watermarks(zones: &mut [ZoneConfig], min_pages: Option<u64>, scale_factor: u64) {
    let low_pages: u64 = zones.iter().filter(|zone| !is_high(zone)).map(|zone| zone.managed).sum();
    for zone in zones {
        let managed = u128::from(zone.managed);
        let old_min = zone.watermarks.min;
        let share =
            min_pages.map(|pages| (u128::from(pages) * managed / u128::from(low_pages.max(1))) as u64);
        let min = match share {
            None => old_min,
            Some(_) if is_high(zone) => (zone.managed / 1024).clamp(LEAST_HIGHMEM_MIN, MOST_HIGHMEM_MIN),
            Some(share) => share,
        };
        let scaled = (managed * u128::from(scale_factor) / 10_000) as u64;
        let gap = (share.unwrap_or(min) / 4).max(scaled);
        zone.watermarks = Watermarks { min, low: min + gap, high: min + 2 * gap };
    }
}

/// Sets the bounds of all per-CPU lists.
fn set_bounds(machine: &mut Machine, fraction: u64) {
    let cpus = cpus_of_a_node(machine);
    for zone in machine.zones.iter_mut().filter(|zone| zone.managed > 0) {
        let batch = zone.percpu.batch;
        let (least, most) = match fraction {
            0 => (bound(zone.watermarks.low, cpus, batch), tuned_most(zone, cpus)),
            fraction => {
                (bound(zone.managed / fraction, cpus, batch), bound(zone.managed / fraction, cpus, batch))
            }
        };
        zone.percpu.high_min = least;
        zone.percpu.high_max = most.max(least);
    }
}

/// Gives the per-CPU lists their bounds where the recorded kernel does not print them: before 6.7 it has one bound, and 6.12
/// prints what it tuned each CPU to.
pub(super) fn add_unprinted_bounds(machine: &mut Machine, start: &Snapshot) {
    let sets = || start.zones.iter().flat_map(|zone| &zone.pagesets);
    let is_printed = sets().any(|set| set.high_min != set.high_max);
    if is_printed || Sysctls::recorded(start).percpu_pagelist_high_fraction.unwrap_or(0) != 0 {
        return;
    }
    let cpus = cpus_of_a_node(machine);
    for (zone, &index) in machine.zones.iter_mut().zip(&machine.snapshot_index) {
        let recorded = &start.zones[index];
        if recorded.pagesets.is_empty() || zone.managed == 0 {
            continue;
        }
        let most = tuned_most(zone, cpus);
        let least = told_high_min(recorded, start, most);
        zone.percpu.high_min = least.unwrap_or_else(|| bound(zone.watermarks.low, cpus, zone.percpu.batch));
        zone.percpu.high_max = most.max(zone.percpu.high_min);
    }
}

/// Returns the lower bound of a zone's lists: the one that was read from the machine, or the one that all CPUs have and none
/// was tuned from. `None` if it is not told.
fn told_high_min(zone: &ZoneSnapshot, start: &Snapshot, most: u32) -> Option<u32> {
    let exact = start.exact.taken().into_iter().flat_map(|state| &state.zones);
    let mut exact = exact.filter(|own| (own.node, &own.name) == (zone.node, &zone.name));
    if let Some(cpu) = exact.next().and_then(|own| own.cpus.first()) {
        return u32::try_from(cpu.high_min).ok().filter(|&least| 0 < least && least <= most);
    }
    let high = zone.pagesets.first()?.high;
    let is_of_all = zone.pagesets.len() > 1 && zone.pagesets.iter().all(|set| set.high == high);
    u32::try_from(high).ok().filter(|&high| is_of_all && 0 < high && high < most)
}

fn cpus_of_a_node(machine: &Machine) -> u64 {
    let mut nodes: Vec<_> = machine.zones.iter().map(|zone| zone.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    u64::from(machine.cpus).div_ceil(nodes.len().max(1) as u64).max(1)
}

/// Returns the most pages that tuned lists of a zone may have.
fn tuned_most(zone: &ZoneConfig, cpus: u64) -> u32 {
    bound(zone.managed / LEAST_HIGH_FRACTION, cpus, zone.percpu.batch)
}

/// Returns a bound of each CPU's lists, if all of them together have so many pages.
///
/// Linux counterpart: `zone_highsize`.
fn bound(pages: u64, cpus: u64, batch: u32) -> u32 {
    u32::try_from((pages / cpus).max(u64::from(batch) * 4)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use freehold_trace::{EventLog, ExactCpu, ExactPart, ExactState, ExactZone, Pageset};

    use super::*;

    fn zone(name: &str, start_pfn: u64, managed: u64) -> ZoneSnapshot {
        ZoneSnapshot { name: name.into(), start_pfn, spanned: managed, managed, ..ZoneSnapshot::default() }
    }

    #[test]
    fn every_zone_gets_its_share_and_high_zones_their_own() {
        let zones = vec![
            zone("DMA32", 0, 100_000),
            zone("Normal", 1 << 20, 300_000),
            zone("Movable", 1 << 21, 65_536),
        ];
        let start = Snapshot { zones, ..Snapshot::default() };
        let mut machine = Machine::new(&start, &EventLog::default()).expect("a machine");
        let settings = Sysctls { min_free_kbytes: Some(16_000), ..Sysctls::default() };
        settings.apply(&mut machine, &start, 4096);
        let marks: Vec<_> = machine.zones.iter().map(|zone| zone.watermarks).collect();
        assert_eq!(marks[0], Watermarks { min: 1000, low: 1250, high: 1500 });
        assert_eq!(marks[1], Watermarks { min: 3000, low: 3750, high: 4500 });
        // 64 pages and a quarter of the share of 655.
        assert_eq!(marks[2], Watermarks { min: 64, low: 64 + 163, high: 64 + 326 });
        let scaled = Sysctls { watermark_scale_factor: Some(1000), ..Sysctls::default() };
        scaled.apply(&mut machine, &start, 4096);
        assert_eq!(machine.zones[0].watermarks, Watermarks { min: 1000, low: 11_000, high: 21_000 });
        assert_eq!((machine.zones[0].percpu.high_min, machine.zones[0].percpu.high_max), (11_000, 12_500));
        let fixed = Sysctls { percpu_pagelist_high_fraction: Some(100), ..Sysctls::default() };
        fixed.apply(&mut machine, &start, 4096);
        assert_eq!((machine.zones[1].percpu.high_min, machine.zones[1].percpu.high_max), (3000, 3000));
        assert_eq!(machine.zones[0].watermarks.low, 11_000, "marks stay");
    }
    /// Were what an old kernel prints both bounds, its lists could not grow in a replay.
    #[test]
    fn bounds_that_are_not_printed_are_computed() {
        let bounds = |highs: [u64; 2], fraction: &str| {
            let mut normal = ZoneSnapshot { watermark_low: 760, ..zone("Normal", 0, 100_000) };
            let set = |(cpu, high)| Pageset {
                cpu,
                batch: 31,
                high,
                high_min: high,
                high_max: high,
                ..Pageset::default()
            };
            normal.pagesets = (0..).zip(highs).map(set).collect();
            let sysctl = [("percpu_pagelist_high_fraction".to_owned(), fraction.to_owned())].into();
            let start = Snapshot { zones: vec![normal], sysctl, ..Snapshot::default() };
            let machine = Machine::new(&start, &EventLog::default()).expect("a machine");
            (machine.zones[0].percpu.high_min, machine.zones[0].percpu.high_max)
        };
        assert_eq!(bounds([378, 378], "0"), (378, 6250), "6.1: every CPU has the lower bound");
        assert_eq!(bounds([6052, 2742], "0"), (380, 6250), "6.12: tuned by CPU");
        assert_eq!(bounds([6250, 6250], "0"), (380, 6250), "6.12: all at the upper bound");
        assert_eq!(bounds([0, 0], "0"), (380, 6250), "6.12: never used");
        assert_eq!(bounds([1562, 1562], "64"), (1562, 1562), "set by the user");
    }

    #[test]
    fn a_bound_that_was_read_from_the_machine_counts() {
        let set = Pageset { batch: 31, high: 2000, high_min: 2000, high_max: 2000, ..Pageset::default() };
        let normal = ZoneSnapshot { watermark_low: 760, pagesets: vec![set], ..zone("Normal", 0, 100_000) };
        let cpu = ExactCpu { high: 2000, high_min: 700, ..ExactCpu::default() };
        let own = ExactZone { name: "Normal".into(), cpus: vec![cpu], ..ExactZone::default() };
        let state = ExactState { zones: vec![own], ..ExactState::default() };
        let exact = ExactPart::Taken(Box::new(state));
        let mut start = Snapshot { zones: vec![normal], exact, ..Snapshot::default() };
        let bounds = |start: &Snapshot| {
            let machine = Machine::new(start, &EventLog::default()).expect("a machine");
            (machine.zones[0].percpu.high_min, machine.zones[0].percpu.high_max)
        };
        assert_eq!(bounds(&start), (700, 12_500));
        start.exact = ExactPart::default();
        assert_eq!(bounds(&start), (760, 12_500), "one CPU does not tell");
    }

    #[test]
    fn bounds_that_are_printed_are_kept() {
        let mut normal = zone("Normal", 0, 100_000);
        normal.pagesets =
            vec![Pageset { batch: 63, high: 378, high_min: 300, high_max: 500, ..Pageset::default() }];
        let start = Snapshot { zones: vec![normal], ..Snapshot::default() };
        let machine = Machine::new(&start, &EventLog::default()).expect("a machine");
        assert_eq!((machine.zones[0].percpu.high_min, machine.zones[0].percpu.high_max), (300, 500));
    }
}
