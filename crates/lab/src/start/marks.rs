//! Sysctls with other values than recorded, and the watermarks and list bounds that Linux computes from them.

use freehold::Sysctls;
use freehold_trace::Snapshot;

use super::machine::RecordedMachine;

/// The sysctls from which Linux computes the watermarks and the bounds of the per-CPU lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SetSysctls {
    /// `vm.min_free_kbytes`; `None` keeps the min watermarks.
    pub(crate) min_free_kbytes: Option<u64>,
    /// `vm.watermark_scale_factor`.
    pub(crate) watermark_scale_factor: Option<u64>,
    /// `vm.percpu_pagelist_high_fraction`; 0 for automatic tuning.
    pub(crate) percpu_pagelist_high_fraction: Option<u64>,
}

impl SetSysctls {
    /// Returns the recorded settings.
    pub(super) fn recorded(start: &Snapshot) -> Self {
        let number = |name: &str| start.sysctl.get(name).and_then(|text| text.trim().parse().ok());
        Self {
            min_free_kbytes: number("min_free_kbytes"),
            watermark_scale_factor: number("watermark_scale_factor"),
            percpu_pagelist_high_fraction: number("percpu_pagelist_high_fraction"),
        }
    }

    /// Sets the watermarks and list bounds of the zones, if any of these settings has a value. Settings without a
    /// value are taken from the recording.
    ///
    /// Linux counterpart: `__setup_per_zone_wmarks`, `zone_set_pageset_high_and_batch`.
    pub(crate) fn apply(self, machine: &mut RecordedMachine, start: &Snapshot, page_bytes: u64) {
        if self == Self::default() {
            return;
        }
        let recorded = Self::recorded(start);
        if self.min_free_kbytes.is_some() || self.watermark_scale_factor.is_some() {
            let scale = self.watermark_scale_factor.or(recorded.watermark_scale_factor);
            let pages = self.min_free_kbytes.map(|kbytes| kbytes * 1024 / page_bytes.max(1024));
            let scale = scale.unwrap_or(Sysctls::linux(machine.cpus).watermark_scale_factor);
            Sysctls::set_watermarks(&mut machine.zones, pages, scale);
        }
        let fraction = self.percpu_pagelist_high_fraction.or(recorded.percpu_pagelist_high_fraction);
        Sysctls::set_percpu_bounds(&mut machine.zones, machine.cpus, fraction.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use freehold::Watermarks;
    use freehold_trace::{EventLog, ZoneSnapshot};

    use super::*;

    fn zone(name: &str, start_pfn: u64, managed: u64) -> ZoneSnapshot {
        ZoneSnapshot { name: name.into(), start_pfn, spanned: managed, managed, ..ZoneSnapshot::default() }
    }

    #[test]
    fn watermarks_of_zones_are_those_of_linux() {
        let zones = vec![
            zone("DMA32", 0, 100_000),
            zone("Normal", 1 << 20, 300_000),
            zone("Movable", 1 << 21, 65_536),
        ];
        let start = Snapshot { zones, ..Snapshot::default() };
        let mut machine = RecordedMachine::new(&start, &EventLog::default()).expect("a machine");
        let settings = SetSysctls { min_free_kbytes: Some(16_000), ..SetSysctls::default() };
        settings.apply(&mut machine, &start, 4096);
        let marks: Vec<_> = machine.zones.iter().map(|zone| zone.watermarks).collect();
        assert_eq!(marks[0], Watermarks { min: 1000, low: 1250, high: 1500 });
        assert_eq!(marks[1], Watermarks { min: 3000, low: 3750, high: 4500 });
        // 64 pages and a quarter of the share of 655.
        assert_eq!(marks[2], Watermarks { min: 64, low: 64 + 163, high: 64 + 326 });
        let scaled = SetSysctls { watermark_scale_factor: Some(1000), ..SetSysctls::default() };
        scaled.apply(&mut machine, &start, 4096);
        assert_eq!(machine.zones[0].watermarks, Watermarks { min: 1000, low: 11_000, high: 21_000 });
        assert_eq!((machine.zones[0].percpu.high_min, machine.zones[0].percpu.high_max), (11_000, 12_500));
        let fixed = SetSysctls { percpu_pagelist_high_fraction: Some(100), ..SetSysctls::default() };
        fixed.apply(&mut machine, &start, 4096);
        assert_eq!((machine.zones[1].percpu.high_min, machine.zones[1].percpu.high_max), (3000, 3000));
        assert_eq!(machine.zones[0].watermarks.low, 11_000, "watermarks stay");
    }
}
