//! The zones of a generated machine, with the settings that Linux would compute.

use freehold::{PCP_TYPES, PerCpuSettings, Pfn, Sysctls, ZoneConfig, ZoneType};
use freehold_trace::{Pageset, Snapshot, ZoneSnapshot};

/// The first frame of memory. Lower frames belong to the firmware and `ZONE_DMA`.
const FIRST_PFN: u64 = 0x1000;

/// The largest number of pages below 4 GiB. The fourth GiB belongs to devices.
const BELOW_4_GIB: u64 = 0xc_0000 - FIRST_PFN;

/// The first frame of `ZONE_NORMAL` on x86-64.
const FIRST_NORMAL: u64 = 0x10_0000;

/// The number of pages in a pageblock on x86-64.
const PAGEBLOCK: u64 = 512;

const KIB_A_PAGE: u64 = 4;

/// Returns the start of an x86-64 machine with `pages` pages: up to 3 GiB in DMA32, the rest in Normal.
///
/// The watermarks are those of a machine with transparent huge pages, where khugepaged raises
/// `min_free_kbytes`. Linux counterpart: `set_recommended_min_free_kbytes`.
pub(super) fn made_up(pages: u64, cpus: u16) -> Snapshot {
    let low = pages.min(BELOW_4_GIB);
    let normal = pages - low;
    let mut zones = vec![ZoneConfig::sized(0, ZoneType::Dma32, Pfn(FIRST_PFN), low)];
    if normal > 0 {
        zones.push(ZoneConfig::sized(0, ZoneType::Normal, Pfn(FIRST_NORMAL), normal));
    }
    let types = PCP_TYPES as u64;
    let for_huge_pages = PAGEBLOCK * zones.len() as u64 * (2 + types * types);
    let mut sysctls = Sysctls::linux(cpus);
    let least = sysctls.default_min_free_kbytes(&zones);
    sysctls.min_free_kbytes = Some(least.max(for_huge_pages.min(pages / 20) * KIB_A_PAGE));
    sysctls.apply(&mut zones);
    let snapshots = zones.iter().map(|zone| zone_snapshot(zone, cpus));
    let mut start = Snapshot { zones: snapshots.collect(), ..Snapshot::default() };
    start.pagetypeinfo.pageblock_order = 9;
    start
}

fn zone_snapshot(zone: &ZoneConfig, cpus: u16) -> ZoneSnapshot {
    let PerCpuSettings { batch, high_min, high_max, .. } = zone.percpu;
    let set = |cpu| Pageset {
        cpu,
        batch: batch.into(),
        high: high_min.into(),
        high_min: high_min.into(),
        high_max: high_max.into(),
        ..Pageset::default()
    };
    // x86-64 has no `ZONE_HIGHMEM`.
    let columns = ZoneType::ALL.into_iter().filter(|&kind| kind != ZoneType::HighMem);
    ZoneSnapshot {
        name: zone.kind.name().to_owned(),
        start_pfn: zone.start.0,
        spanned: zone.spanned,
        present: zone.managed,
        managed: zone.managed,
        watermark_min: zone.watermarks.min,
        watermark_low: zone.watermarks.low,
        watermark_high: zone.watermarks.high,
        protection: columns.map(|kind| zone.lowmem_reserve[kind as usize]).collect(),
        pagesets: (0..u32::from(cpus)).map(set).collect(),
        ..ZoneSnapshot::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watermarks_match_linux() {
        // 4 GiB with transparent huge pages: 45 056 KiB, as khugepaged recommends for two zones.
        let start = made_up(1 << 20, 4);
        let marks: u64 = start.zones.iter().map(|zone| zone.watermark_min).sum();
        assert!((11_262..=11_264).contains(&marks), "{marks} pages");
        let [dma32, normal] = &start.zones[..] else { panic!("two zones") };
        assert_eq!(dma32.protection[2], normal.managed / 256);
        assert!(normal.watermark_low - normal.watermark_min >= normal.watermark_min / 4);
        assert_eq!(made_up(1 << 16, 1).zones.len(), 1);
    }
}
