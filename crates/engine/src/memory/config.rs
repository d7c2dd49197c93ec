//! The configuration of a memory.

use crate::table::Sections;
use crate::types::{Era, Order, Switches, ZONE_TYPES, ZoneType};
use crate::zone::ZoneConfig;

/// The configuration of a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryConfig<'c> {
    /// The zones, in any order.
    pub zones: &'c [ZoneConfig],
    /// The frames that have metadata: by default all that the zones span.
    pub sections: Sections<'c>,
    /// The number of CPUs, which are numbered from 0.
    pub cpus: u16,
    /// The largest order. Linux counterpart: `MAX_PAGE_ORDER`.
    pub max_order: Order,
    /// The order of a pageblock. Linux counterpart: `pageblock_order`.
    pub pageblock_order: Order,
    /// True if a pageblock is a huge page and has per-CPU lists.
    /// Linux counterpart: `CONFIG_TRANSPARENT_HUGEPAGE`.
    pub huge_pages: bool,
    /// The switches of the allocator generation.
    pub switches: Switches,
    /// The amount by which one fallback raises the watermarks, in ten-thousandths of the high watermark; `None` for
    /// Linux's default. Linux counterpart: `vm.watermark_boost_factor`.
    pub watermark_boost_factor: Option<u32>,
}

impl<'c> MemoryConfig<'c> {
    /// Returns the configuration of the newest Linux with pages of 4 KiB and huge pages of 2 MiB: blocks up to order
    /// 10, pageblocks of order 9.
    pub const fn linux(zones: &'c [ZoneConfig], cpus: u16) -> Self {
        Self {
            zones,
            sections: Sections::ALL,
            cpus,
            max_order: Order::MAX_PAGE_ORDER,
            pageblock_order: Order::HUGE_PAGE,
            huge_pages: true,
            switches: Era::Linux7_3.switches(),
            watermark_boost_factor: None,
        }
    }
}

/// The number of the zone that requests try first, by the highest zone type that a request may use; [`NO_ZONE`] if the
/// node has none.
pub(crate) type FirstZones = [u16; ZONE_TYPES];

pub(super) const NO_ZONE: u16 = u16::MAX;

impl MemoryConfig<'_> {
    /// Returns the zone with this rank. Zones are ranked from 0 up by node, then type, then address.
    pub(super) fn zone_of_rank(&self, rank: usize) -> &ZoneConfig {
        let key = |zone: &ZoneConfig| (zone.node, zone.kind, zone.start);
        let has_rank =
            |zone: &&ZoneConfig| self.zones.iter().filter(|other| key(other) < key(zone)).count() == rank;
        self.zones.iter().find(has_rank).unwrap_or(&self.zones[0])
    }

    /// Returns true if pageblock types should not mix in a zone, because a lower zone can serve requests first.
    ///
    /// Linux counterpart: `alloc_flags_nofragment`.
    pub(super) fn avoids_mixing(&self, zone: &ZoneConfig) -> bool {
        let dma32 = |other: &&ZoneConfig| other.kind == ZoneType::Dma32;
        zone.kind == ZoneType::Normal
            && self.zones.iter().any(|other| dma32(&other))
            && (self.nodes() == 1 || self.zones.iter().filter(dma32).any(|other| other.node == zone.node))
    }

    /// Returns the number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.zones.iter().map(|zone| usize::from(zone.node) + 1).max().unwrap_or(0)
    }

    /// Returns the rank of the zone that a request tries first in a node, by the highest zone type that the request may
    /// use; [`NO_ZONE`] if the node has none.
    pub(super) fn first_zones(&self, node: usize) -> FirstZones {
        ZoneType::ALL.map(|highest| {
            let fits = |zone: &&ZoneConfig| usize::from(zone.node) == node && zone.kind <= highest;
            let rank = (0..self.zones.len()).rev().find(|&rank| fits(&self.zone_of_rank(rank)));
            rank.and_then(|rank| u16::try_from(rank).ok()).unwrap_or(NO_ZONE)
        })
    }
}
