//! The settings of zones that Linux computes from their sizes at boot.

use crate::types::ZONE_TYPES;
use crate::types::ZoneType;
use crate::zone::{Watermarks, ZoneConfig};

/// The inputs from which Linux computes the watermarks, lowmem reserves and per-CPU list settings of all zones.
///
/// ```
/// use freehold::{Pfn, Sysctls, Watermarks, ZoneConfig, ZoneType};
///
/// let mut zones = [ZoneConfig::sized(0, ZoneType::Normal, Pfn(0x10_0000), 0x10_0000)];
/// Sysctls::linux(4).apply(&mut zones);
/// assert_eq!(zones[0].watermarks, Watermarks { min: 2048, low: 3096, high: 4144 });
/// assert_eq!((zones[0].percpu.batch, zones[0].percpu.high_min), (63, 774));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Sysctls {
    /// The number of CPUs. DIFFERENCE: the node of each CPU is not known; every node counts as having the same number
    /// of CPUs.
    pub cpus: u16,
    /// The page size. Units: bytes.
    pub page_bytes: u64,
    /// `vm.min_free_kbytes`; `None` for the value that Linux computes from the memory's size. (Linux raises it for huge
    /// pages once khugepaged runs.)
    pub min_free_kbytes: Option<u64>,
    /// `vm.watermark_scale_factor`: the smallest distance between two watermarks, in ten-thousandths of the zone.
    pub watermark_scale_factor: u64,
    /// `vm.lowmem_reserve_ratio`, by the type of the zone that keeps the reserve; 0 for no reserve.
    pub lowmem_reserve_ratio: [u64; ZONE_TYPES],
    /// `vm.percpu_pagelist_high_fraction`; 0 for automatic tuning.
    pub percpu_pagelist_high_fraction: u64,
}

/// The largest batch of per-CPU lists, before the last rounding. Units: bytes.
const MOST_BATCH_BYTES: u64 = 1 << 18;

/// The largest bound of per-CPU lists, so that sums of a few bounds do not overflow. Units: pages.
const MOST_LISTED: u64 = 1 << 20;

/// The smallest (`SWAP_CLUSTER_MAX`) and the largest min watermark of a zone whose pages the kernel cannot address
/// directly. Units: pages.
const HIGH_ZONES_MIN: (u64, u64) = (32, 128);

impl Sysctls {
    /// The smallest `percpu_pagelist_high_fraction` other than 0. With automatic tuning, the per-CPU lists have at most
    /// this fraction of a zone: an eighth. Linux counterpart: `MIN_PERCPU_PAGELIST_HIGH_FRACTION`.
    pub const LEAST_HIGH_FRACTION: u64 = 8;

    /// Returns the defaults of Linux on a machine with pages of 4 KiB.
    pub const fn linux(cpus: u16) -> Self {
        Self {
            cpus,
            page_bytes: 4096,
            min_free_kbytes: None,
            watermark_scale_factor: 10,
            lowmem_reserve_ratio: [256, 256, 32, 0, 0, 0],
            percpu_pagelist_high_fraction: 0,
        }
    }

    /// Computes the settings of all zones of a machine from their managed pages.
    ///
    /// Linux counterpart: `init_per_zone_wmark_min`, `zone_set_pageset_high_and_batch`.
    pub fn apply(&self, zones: &mut [ZoneConfig]) {
        let page_bytes = self.page_bytes.max(1024);
        let kbytes = self.min_free_kbytes.unwrap_or_else(|| self.default_min_free_kbytes(zones));
        Self::set_watermarks(
            zones,
            Some(kbytes.saturating_mul(1024) / page_bytes),
            self.watermark_scale_factor,
        );
        self.set_lowmem_reserves(zones);
        for zone in zones.iter_mut() {
            zone.percpu.batch = batch(zone.managed, page_bytes);
        }
        Self::set_percpu_bounds(zones, self.cpus, self.percpu_pagelist_high_fraction);
    }

    /// Returns the default of `min_free_kbytes`. Units: KiB.
    ///
    /// Linux counterpart: `calculate_min_free_kbytes`.
    pub fn default_min_free_kbytes(&self, zones: &[ZoneConfig]) -> u64 {
        let kbytes = low_pages(zones).saturating_mul(self.page_bytes.max(1024) / 1024);
        kbytes.saturating_mul(16).isqrt().clamp(128, 1 << 18)
    }

    /// Sets the watermarks of all zones. `min_pages` is the sum of all min watermarks; with `None` every zone keeps its
    /// min watermark. `scale_factor` is `vm.watermark_scale_factor`.
    ///
    /// Linux counterpart: `__setup_per_zone_wmarks`.
    pub fn set_watermarks(zones: &mut [ZoneConfig], min_pages: Option<u64>, scale_factor: u64) {
        let low_pages = u128::from(low_pages(zones).max(1));
        for zone in zones {
            let managed = u128::from(zone.managed);
            let old_min = zone.watermarks.min;
            let share = min_pages.map(|pages| (u128::from(pages) * managed / low_pages) as u64);
            let min = match share {
                None => old_min,
                Some(_) if is_high(zone) => (zone.managed / 1024).clamp(HIGH_ZONES_MIN.0, HIGH_ZONES_MIN.1),
                Some(share) => share,
            };
            let scaled = (managed * u128::from(scale_factor) / 10_000) as u64;
            let gap = (share.unwrap_or(min) / 4).max(scaled);
            let up = |gaps: u64| min.saturating_add(gap.saturating_mul(gaps));
            zone.watermarks = Watermarks { min, low: up(1), high: up(2) };
        }
    }

    /// Sets the bounds of all per-CPU lists by `vm.percpu_pagelist_high_fraction`, 0 for automatic tuning. Zones
    /// without managed pages keep their bounds.
    ///
    /// Linux counterpart: `zone_highsize`.
    pub fn set_percpu_bounds(zones: &mut [ZoneConfig], cpus: u16, fraction: u64) {
        let cpus = Self::cpus_of_a_node(zones, cpus);
        for zone in zones.iter_mut().filter(|zone| zone.managed > 0) {
            let batch = zone.percpu.batch;
            let (least, most) = match fraction {
                0 => (zone.watermarks.low, zone.managed / Self::LEAST_HIGH_FRACTION),
                fraction => (zone.managed / fraction, zone.managed / fraction),
            };
            let [least, most] = [least, most].map(|pages| Self::percpu_bound(pages, cpus, batch));
            (zone.percpu.high_min, zone.percpu.high_max) = (least, most.max(least));
        }
    }

    /// Returns the bound of each CPU's lists if the lists of all CPUs of a node together may have `pages` pages of a
    /// zone. Units: pages.
    pub fn percpu_bound(pages: u64, cpus: u64, batch: u32) -> u32 {
        (pages / cpus.max(1)).max(u64::from(batch) * 4).min(MOST_LISTED) as u32
    }

    /// Returns the number of CPUs of each node, if every node of `zones` has the same number.
    pub fn cpus_of_a_node(zones: &[ZoneConfig], cpus: u16) -> u64 {
        let is_first =
            |&(at, zone): &(usize, &ZoneConfig)| zones[..at].iter().all(|other| other.node != zone.node);
        let nodes = zones.iter().enumerate().filter(is_first).count() as u64;
        u64::from(cpus).div_ceil(nodes.max(1)).max(1)
    }

    /// Sets the lowmem reserves: the pages that each zone keeps from requests that could use a higher zone of its node.
    ///
    /// Linux counterpart: `setup_per_zone_lowmem_reserve`.
    fn set_lowmem_reserves(&self, zones: &mut [ZoneConfig]) {
        for number in 0..zones.len() {
            let ZoneConfig { node, kind, managed, .. } = zones[number];
            let ratio = self.lowmem_reserve_ratio[kind as usize];
            let reserve = |highest: ZoneType| {
                let above = zones.iter().filter(|zone| {
                    zone.node == node
                        && zone.kind > kind
                        && zone.kind <= highest
                        && zone.kind < ZoneType::Device
                });
                let pages = above.fold(0_u64, |sum, zone| sum.saturating_add(zone.managed));
                if managed == 0 { 0 } else { pages.checked_div(ratio).unwrap_or(0) }
            };
            let reserves = ZoneType::ALL.map(reserve);
            zones[number].lowmem_reserve = reserves;
        }
    }
}

/// Returns true if the kernel has no direct mapping of the zone's pages, or treats them as if it had none.
fn is_high(zone: &ZoneConfig) -> bool {
    matches!(zone.kind, ZoneType::HighMem | ZoneType::Movable)
}

fn low_pages(zones: &[ZoneConfig]) -> u64 {
    zones.iter().filter(|zone| !is_high(zone)).fold(0_u64, |sum, zone| sum.saturating_add(zone.managed))
}

/// Returns the number of pages that per-CPU lists of a zone move at a time.
///
/// Linux counterpart: `zone_batchsize`.
fn batch(managed: u64, page_bytes: u64) -> u32 {
    let batch = (managed >> 12).min(MOST_BATCH_BYTES / page_bytes).max(1);
    // A batch of one less than a power of two spreads pages over the colours of a cache.
    let power = 1_u64 << (batch + batch / 2).ilog2();
    (power - 1).max(1) as u32
}
