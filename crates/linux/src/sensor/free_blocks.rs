//! Free blocks of a machine by zone, order and, if known, migratetype.

use freehold_trace::{ByOrder, ByType, FreeCount, KernelType, KernelTypes};
use serde::{Serialize, Serializer};

use crate::procfs::{BuddyZone, FreeReserves, ZoneReserves};

/// Free blocks of a machine at one reading of a [`super::Source`].
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FreeBlocks {
    /// The source of the numbers.
    pub source: Source,
    /// The end of the reading, in nanoseconds of `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// The duration of the reading, in nanoseconds of wall time.
    pub cost_ns: u64,
    /// When the numbers by type were read; `None` if there are none. Older than `time_ns` if they
    /// were not read again because of the cost.
    pub types_time_ns: Option<u64>,
    /// The order of a pageblock, of the source or by the kernel's rule from the size of its huge pages; `None` if unknown.
    pub pageblock_order: Option<u8>,
    /// The kernel's migratetypes in the order of its texts; empty if the source has no types.
    #[serde(serialize_with = "by_name")]
    pub types: KernelTypes,
    /// Populated zones, in the kernel's order.
    pub zones: Vec<ZoneFreeBlocks>,
}

impl FreeBlocks {
    /// Copies the numbers by type, and their time, from `older`.
    pub(super) fn take_types_of(&mut self, older: &Self) {
        self.types_time_ns = older.types_time_ns;
        self.pageblock_order = older.pageblock_order;
        self.types.clone_from(&older.types);
        for zone in &mut self.zones {
            let known = older.zones.iter().find(|known| known.node == zone.node && known.name == zone.name);
            if let Some(known) = known {
                (zone.by_type, zone.pageblocks) = (known.by_type.clone(), known.pageblocks.clone());
            }
        }
    }
}

impl FreeBlocks {
    /// Adds what is known of the zones' reserves without types.
    pub(super) fn take_reserves(&mut self, reserves: &[ZoneReserves]) {
        for zone in self.zones.iter_mut().filter(|zone| zone.by_type.is_none()) {
            let known = reserves.iter().find(|known| known.node == zone.node && known.name == zone.name);
            zone.reserves = known.map(|known| known.free).filter(|free| free.pages() > 0);
        }
    }
}

fn by_name<S: Serializer>(types: &KernelTypes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(types.iter().map(KernelType::name))
}

/// A source of free blocks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The kernel's own fields, read by a BPF program without a lock: exact, with no upper limit.
    Bpf,
    /// `/proc/pagetypeinfo`: takes each zone's lock with interrupts off, and stops counting at 100
    /// 000.
    Pagetypeinfo,
    /// `/proc/buddyinfo`: readable by every user, takes each zone's lock briefly, has no types.
    Buddyinfo,
}

impl Source {
    /// Returns the name in messages and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bpf => "bpf",
            Self::Pagetypeinfo => "pagetypeinfo",
            Self::Buddyinfo => "buddyinfo",
        }
    }
}

/// One zone's free blocks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZoneFreeBlocks {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Free blocks by order: `nr_free` of each free area, or the sum over types if only those are
    /// read.
    pub total: ByOrder<FreeCount>,
    /// Free blocks by [`KernelType::index`] and order; `None` if the source has no types.
    pub by_type: Option<ByType<ByOrder<FreeCount>>>,
    /// Pageblocks by [`KernelType::index`]; `None` if the source does not contain them.
    pub pageblocks: Option<ByType<u64>>,
    /// Free pages in reserves by zoneinfo, where the source has no types.
    pub reserves: Option<FreeReserves>,
}

impl From<BuddyZone> for ZoneFreeBlocks {
    fn from(zone: BuddyZone) -> Self {
        let total = zone.free.map(|blocks| FreeCount { blocks, capped: false });
        Self { node: zone.node, name: zone.name, total, ..Self::default() }
    }
}

impl ZoneFreeBlocks {
    /// Returns the free pages; a lower bound if a number is capped.
    ///
    /// Blocks of type Isolate are included: the kernel keeps them on free lists, where buddyinfo
    /// counts them, but not in `nr_free_pages`.
    pub fn free_pages(&self) -> u64 {
        self.pages_from(0)
    }

    /// Returns the pages in free blocks of `order` and above; a lower bound if a number is capped.
    pub fn pages_from(&self, order: usize) -> u64 {
        let counts = self.total.iter().enumerate().skip(order);
        counts.fold(0, |pages, (at, count)| pages.saturating_add(count.blocks.saturating_mul(1 << at)))
    }

    /// Returns how many blocks of `order` the free blocks of that order and above can be split into.
    pub fn blocks_from(&self, order: usize) -> u64 {
        self.pages_from(order) >> order
    }
}
