//! The model of one zone, made of two samples.

use freehold::FreeCounts;
use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_trace::{ByOrder, FreeCount, KernelTypes, ZoneSnapshot};
use serde::Serialize;

use super::by_kernel_type::ByKernelType;
use super::trend::Trend;

/// One zone.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ZoneModel {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// The numbers of `/proc/zoneinfo`; `None` if it could not be read.
    pub pages: Option<ZonePages>,
    /// Free pages.
    pub free_pages: u64,
    /// Free blocks by order.
    pub free: ByOrder<FreeCount>,
    /// Free blocks by [`freehold_trace::KernelType::index`] and order; `None` if types are unknown.
    pub by_type: Option<ByKernelType<ByOrder<FreeCount>>>,
    /// Pageblocks by [`freehold_trace::KernelType::index`]; `None` if they are unknown.
    pub pageblocks: Option<ByKernelType<u64>>,
    /// Blocks of each order that the free blocks of that order and above can be split into.
    pub blocks: ByOrder<u64>,
    /// The share of free memory that cannot serve a request of each order, 0 to 1.
    ///
    /// Linux counterpart: `unusable_index`, which has 1 for a zone without free memory.
    pub unusable_index: ByOrder<f64>,
    /// Why a request of each order would fail: towards 0 for lack of memory, towards 1 for
    /// fragmentation; `None` if it would not fail.
    ///
    /// Linux counterpart: `extfrag_index`, which shows -1.000 for `None`.
    pub extfrag_index: ByOrder<Option<f64>>,
    /// The trend of the number of free blocks of a pageblock's order or above.
    pub trend: Option<Trend>,
}

/// A zone's numbers in `/proc/zoneinfo`. Units: pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ZonePages {
    /// Pages that the allocator manages.
    pub managed: u64,
    /// The min watermark, without the boost.
    pub min: u64,
    /// The low watermark, without the boost.
    pub low: u64,
    /// The high watermark, without the boost.
    pub high: u64,
    /// The boost on top of each watermark.
    pub boost: u64,
    /// Pages on per-CPU lists.
    pub percpu: u64,
}

impl ZoneModel {
    pub(super) fn new(zone: &ZoneFreeBlocks, types: &KernelTypes, zoneinfo: &[ZoneSnapshot]) -> Self {
        let mut counts = FreeCounts::default();
        for (blocks, count) in counts.total.iter_mut().zip(&zone.total) {
            *blocks = count.blocks;
        }
        let largest = zone.total.largest();
        let pages = zoneinfo.iter().find(|known| known.node == zone.node && known.name == zone.name);
        Self {
            node: zone.node,
            name: zone.name.clone(),
            pages: pages.map(ZonePages::new),
            free_pages: zone.free_pages(),
            free: zone.total,
            by_type: zone.by_type.clone().map(|free| ByKernelType::new(types, free)),
            pageblocks: zone.pageblocks.clone().map(|blocks| ByKernelType::new(types, blocks)),
            blocks: ByOrder::from_fn(largest, |order| zone.blocks_from(order.index())),
            unusable_index: ByOrder::from_fn(largest, |order| counts.unusable_index(order) as f64 / 1000.0),
            extfrag_index: ByOrder::from_fn(largest, |order| {
                let thousandths = counts.extfrag_index(order);
                (thousandths != -1000).then_some(thousandths as f64 / 1000.0)
            }),
            trend: None,
        }
    }

    /// Returns the zone's title as the kernel writes it: `Node 0, zone Normal`.
    pub fn title(&self) -> String {
        format!("Node {}, zone {}", self.node, self.name)
    }
}

impl ZonePages {
    fn new(zone: &ZoneSnapshot) -> Self {
        Self {
            managed: zone.managed,
            min: zone.watermark_min,
            low: zone.watermark_low,
            high: zone.watermark_high,
            boost: zone.boost,
            percpu: zone.pagesets.iter().fold(0, |sum, set| sum.saturating_add(set.count)),
        }
    }
}
