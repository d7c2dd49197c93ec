//! The configuration of a zone.

use super::watermark_levels::Watermarks;
use crate::percpu::PerCpuSettings;
use crate::types::{Pfn, ZONE_TYPES, ZoneType};

/// The configuration of one zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZoneConfig {
    /// The number of the NUMA node.
    pub node: u16,
    /// The type of the zone.
    pub kind: ZoneType,
    /// The first frame, with any alignment.
    pub start: Pfn,
    /// The number of pages from the first to the last, including holes. Any number is allowed.
    pub spanned: u64,
    /// The number of pages that the allocator manages. Limits given as shares of a zone refer to this number.
    pub managed: u64,
    /// The watermarks.
    pub watermarks: Watermarks,
    /// The number of pages that a request must leave free in this zone if it could use a higher zone, by the type of
    /// the highest zone that it may use.
    pub lowmem_reserve: [u64; ZONE_TYPES],
    /// The settings of the per-CPU lists.
    pub percpu: PerCpuSettings,
}

impl ZoneConfig {
    /// Returns a zone without holes, watermarks and reserves, whose per-CPU lists move single pages.
    /// [`crate::Sysctls::apply`] sets what Linux computes from the zone's size.
    ///
    /// Units: pages.
    pub const fn sized(node: u16, kind: ZoneType, start: Pfn, pages: u64) -> Self {
        Self {
            node,
            kind,
            start,
            spanned: pages,
            managed: pages,
            watermarks: Watermarks { min: 0, low: 0, high: 0 },
            lowmem_reserve: [0; ZONE_TYPES],
            percpu: PerCpuSettings { batch: 1, high_min: 4, high_max: 4, flush_needs_batch: false },
        }
    }
}
