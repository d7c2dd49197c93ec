//! How a zone is set up.

use super::watermark_levels::Watermarks;
use crate::percpu::PerCpuSettings;
use crate::types::{Pfn, ZONE_TYPES, ZoneType};

/// How one zone is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZoneConfig {
    /// The NUMA node.
    pub node: u16,
    /// The addresses that the zone is for.
    pub kind: ZoneType,
    /// The first frame; need not be aligned.
    pub start: Pfn,
    /// Pages spanned, holes included; need not be a multiple of anything.
    pub spanned: u64,
    /// Pages that the allocator manages: the base of percentages.
    pub managed: u64,
    /// The watermarks.
    pub watermarks: Watermarks,
    /// Pages that a request leaves free in this zone if it could use a higher one, by the type of its
    /// highest zone.
    pub lowmem_reserve: [u64; ZONE_TYPES],
    /// Settings of the per-CPU lists.
    pub percpu: PerCpuSettings,
}

impl ZoneConfig {
    /// Returns a zone without holes, marks and reserves, whose CPUs' lists move single pages.
    /// [`crate::Sysctls::apply`] gives it the settings that Linux would compute from its size.
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
