//! How a zone is set up.

use super::marks::Watermarks;
use crate::percpu::PerCpuSettings;
use crate::types::{Pfn, ZONE_TYPES, ZoneType};

/// How one zone is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZoneConfig {
    /// NUMA node.
    pub node: u16,
    /// Which addresses it is for.
    pub kind: ZoneType,
    /// First frame; need not be aligned.
    pub start: Pfn,
    /// Pages spanned, holes included; need not be a multiple of anything.
    pub spanned: u64,
    /// Pages that the allocator manages: the base of percentages.
    pub managed: u64,
    /// The marks.
    pub watermarks: Watermarks,
    /// Pages kept from requests that could use a higher zone, by that zone's type.
    pub lowmem_reserve: [u64; ZONE_TYPES],
    /// Settings of the per-CPU lists.
    pub percpu: PerCpuSettings,
}
