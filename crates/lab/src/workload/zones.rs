//! The zones of a made-up machine, with the settings that Linux would compute for them.

use freehold::PCP_TYPES;
use freehold_trace::{Pageset, Snapshot, ZoneSnapshot};

/// The first frame of memory: frames below belong to the firmware and `ZONE_DMA`.
const FIRST_PFN: u64 = 0x1000;

/// The most pages below 4 GiB: the fourth GiB belongs to devices.
const BELOW_4_GIB: u64 = 0xc_0000 - FIRST_PFN;

/// The first frame of `ZONE_NORMAL` on x86-64.
const FIRST_NORMAL: u64 = 0x10_0000;

/// Pages of a pageblock on x86-64.
const PAGEBLOCK: u64 = 512;

/// `vm.lowmem_reserve_ratio` of `ZONE_DMA32`.
const LOWMEM_RESERVE_RATIO: u64 = 256;

/// Pages that a per-CPU list moves at a time, before the scaling by `CONFIG_PCP_BATCH_SCALE_MAX`.
const BATCH: u64 = 63;

/// Returns the start of an x86-64 machine with `pages` pages: up to 3 GiB in DMA32, the rest in Normal.
///
/// The watermarks are those of a machine with transparent huge pages, for which khugepaged raises
/// `min_free_kbytes`. Linux counterpart: `calculate_min_free_kbytes`, `set_recommended_min_free_kbytes`,
/// `__setup_per_zone_wmarks`, `setup_per_zone_lowmem_reserve`, `zone_highsize`.
pub(super) fn made_up(pages: u64, cpus: u16) -> Snapshot {
    let low = pages.min(BELOW_4_GIB);
    let normal = pages - low;
    let zones: Vec<_> = [("DMA32", FIRST_PFN, low), ("Normal", FIRST_NORMAL, normal)]
        .into_iter()
        .filter(|&(_, _, pages)| pages > 0)
        .collect();
    let by_size = (pages * 4 * 16).isqrt().clamp(128, 262_144) / 4;
    let types = PCP_TYPES as u64;
    let for_huge_pages = PAGEBLOCK * zones.len() as u64 * (2 + types * types);
    let min_free = by_size.max(for_huge_pages.min(pages / 20));
    let snapshots = zones.iter().map(|&(name, start_pfn, managed)| {
        let min = min_free * managed / pages;
        let step = (min / 4).max(managed / 1000);
        let (low_mark, high_mark) = (min + step, min + 2 * step);
        let reserve = if name == "DMA32" { normal / LOWMEM_RESERVE_RATIO } else { 0 };
        let high = (low_mark / u64::from(cpus)).max(4 * BATCH);
        let set = |cpu| Pageset {
            cpu,
            batch: BATCH,
            high,
            high_min: high,
            high_max: (managed / 8 / u64::from(cpus)).max(high),
            ..Pageset::default()
        };
        ZoneSnapshot {
            name: name.to_owned(),
            start_pfn,
            spanned: managed,
            present: managed,
            managed,
            watermark_min: min,
            watermark_low: low_mark,
            watermark_high: high_mark,
            protection: vec![0, 0, reserve, reserve, 0],
            pagesets: (0..u32::from(cpus)).map(set).collect(),
            ..ZoneSnapshot::default()
        }
    });
    let mut start = Snapshot { zones: snapshots.collect(), ..Snapshot::default() };
    start.pagetypeinfo.pageblock_order = 9;
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_those_of_linux() {
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
