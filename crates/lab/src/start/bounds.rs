//! The bounds of per-CPU lists, for kernels that do not print them.

use freehold::{Sysctls, ZoneConfig};
use freehold_trace::{Snapshot, ZoneSnapshot};

/// Sets the bounds of per-CPU lists if the recorded kernel does not print them: kernels before 6.7 have one bound,
/// and 6.12 prints the current limit of each CPU. `indices` are the indices of the zones in [`Snapshot::zones`].
pub(super) fn add_unprinted_bounds(zones: &mut [ZoneConfig], indices: &[usize], cpus: u16, start: &Snapshot) {
    let sets = || start.zones.iter().flat_map(|zone| &zone.pagesets);
    let is_printed = sets().any(|set| set.high_min != set.high_max);
    if is_printed || is_set_by_user(start) {
        return;
    }
    let cpus = Sysctls::cpus_of_a_node(zones, cpus);
    for (zone, &index) in zones.iter_mut().zip(indices) {
        let recorded = &start.zones[index];
        if recorded.pagesets.is_empty() || zone.managed == 0 {
            continue;
        }
        let bound = |pages| Sysctls::percpu_bound(pages, cpus, zone.percpu.batch);
        let most = bound(zone.managed / Sysctls::LEAST_HIGH_FRACTION);
        let least = recorded_high_min(recorded, start, most);
        zone.percpu.high_min = least.unwrap_or_else(|| bound(zone.watermarks.low));
        zone.percpu.high_max = most.max(zone.percpu.high_min);
    }
}

/// Returns the lower bound of a zone's lists: the bound read from the machine or, if all CPUs have the same limit and
/// it is not tuned, that limit. `None` if it is unknown.
fn recorded_high_min(zone: &ZoneSnapshot, start: &Snapshot, most: u32) -> Option<u32> {
    let exact = start.exact.taken().into_iter().flat_map(|state| &state.zones);
    let mut exact = exact.filter(|own| (own.node, &own.name) == (zone.node, &zone.name));
    if let Some(cpu) = exact.next().and_then(|own| own.cpus.first()) {
        return u32::try_from(cpu.high_min).ok().filter(|&least| 0 < least && least <= most);
    }
    let high = zone.pagesets.first()?.high;
    let is_of_all = zone.pagesets.len() > 1 && zone.pagesets.iter().all(|set| set.high == high);
    u32::try_from(high).ok().filter(|&high| is_of_all && 0 < high && high < most)
}

fn is_set_by_user(start: &Snapshot) -> bool {
    let fraction = start.sysctl.get("percpu_pagelist_high_fraction");
    fraction.and_then(|text| text.trim().parse::<u64>().ok()).is_some_and(|fraction| fraction != 0)
}

#[cfg(test)]
mod tests {
    use freehold_trace::{EventLog, ExactCpu, ExactPart, ExactState, ExactZone, Pageset};

    use super::super::machine::RecordedMachine;
    use super::*;

    fn zone(name: &str, start_pfn: u64, managed: u64) -> ZoneSnapshot {
        ZoneSnapshot { name: name.into(), start_pfn, spanned: managed, managed, ..ZoneSnapshot::default() }
    }

    /// If the value that an old kernel prints were both bounds, its lists could not grow in a replay.
    #[test]
    fn unprinted_bounds_are_computed() {
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
            let machine = RecordedMachine::new(&start, &EventLog::default()).expect("a machine");
            (machine.zones[0].percpu.high_min, machine.zones[0].percpu.high_max)
        };
        assert_eq!(bounds([378, 378], "0"), (378, 6250), "6.1: every CPU has the lower bound");
        assert_eq!(bounds([6052, 2742], "0"), (380, 6250), "6.12: tuned by CPU");
        assert_eq!(bounds([6250, 6250], "0"), (380, 6250), "6.12: all at the upper bound");
        assert_eq!(bounds([0, 0], "0"), (380, 6250), "6.12: never used");
        assert_eq!(bounds([1562, 1562], "64"), (1562, 1562), "set by the user");
    }

    #[test]
    fn a_bound_read_from_the_machine_is_used() {
        let set = Pageset { batch: 31, high: 2000, high_min: 2000, high_max: 2000, ..Pageset::default() };
        let normal = ZoneSnapshot { watermark_low: 760, pagesets: vec![set], ..zone("Normal", 0, 100_000) };
        let cpu = ExactCpu { high: 2000, high_min: 700, ..ExactCpu::default() };
        let own = ExactZone { name: "Normal".into(), cpus: vec![cpu], ..ExactZone::default() };
        let state = ExactState { zones: vec![own], ..ExactState::default() };
        let exact = ExactPart::Taken(Box::new(state));
        let mut start = Snapshot { zones: vec![normal], exact, ..Snapshot::default() };
        let bounds = |start: &Snapshot| {
            let machine = RecordedMachine::new(start, &EventLog::default()).expect("a machine");
            (machine.zones[0].percpu.high_min, machine.zones[0].percpu.high_max)
        };
        assert_eq!(bounds(&start), (700, 12_500));
        start.exact = ExactPart::default();
        assert_eq!(bounds(&start), (760, 12_500), "one CPU is not enough");
    }

    #[test]
    fn printed_bounds_are_kept() {
        let mut normal = zone("Normal", 0, 100_000);
        normal.pagesets =
            vec![Pageset { batch: 63, high: 378, high_min: 300, high_max: 500, ..Pageset::default() }];
        let start = Snapshot { zones: vec![normal], ..Snapshot::default() };
        let machine = RecordedMachine::new(&start, &EventLog::default()).expect("a machine");
        assert_eq!((machine.zones[0].percpu.high_min, machine.zones[0].percpu.high_max), (300, 500));
    }
}
