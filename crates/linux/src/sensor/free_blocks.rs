//! Free blocks of a machine by zone, order and, where it is known, migratetype.

use freehold::{MAX_ORDERS, MIGRATETYPES, Migratetype};
use freehold_trace::FreeCount;
use serde::{Serialize, Serializer};

use crate::procfs::BuddyZone;

/// Free blocks of a machine, as one reading of a [`super::Source`] found them.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FreeBlocks {
    /// Where the numbers come from.
    pub source: Source,
    /// When the reading ended, in nanoseconds of `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// What the reading took, in nanoseconds of wall time.
    pub cost_ns: u64,
    /// When the numbers by type were read; older than `time_ns` where a reading of them was put off for its
    /// cost, none where there are none.
    pub types_time_ns: Option<u64>,
    /// The order of a pageblock, where the source tells it.
    pub pageblock_order: Option<u8>,
    /// The migratetypes that this kernel has, in the order of its own texts; empty where the source
    /// knows no types.
    #[serde(serialize_with = "by_name")]
    pub types: Vec<Migratetype>,
    /// Populated zones, in the kernel's order.
    pub zones: Vec<ZoneFreeBlocks>,
}

impl FreeBlocks {
    /// Takes over what `older` knows of types, with the time when it was read.
    pub(super) fn take_types_of(&mut self, older: &Self) {
        self.types_time_ns = older.types_time_ns;
        self.pageblock_order = older.pageblock_order;
        self.types.clone_from(&older.types);
        for zone in &mut self.zones {
            let known = older.zones.iter().find(|known| known.node == zone.node && known.name == zone.name);
            if let Some(known) = known {
                (zone.by_type, zone.pageblocks) = (known.by_type, known.pageblocks);
            }
        }
    }
}

fn by_name<S: Serializer>(types: &[Migratetype], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(types.iter().map(|kind| kind.name()))
}

/// What free blocks are read from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The kernel's own fields, read by a BPF program without any lock: exact and uncapped.
    Bpf,
    /// `/proc/pagetypeinfo`: takes each zone's lock with interrupts off, and stops counting at 100 000.
    Pagetypeinfo,
    /// `/proc/buddyinfo`: open to everybody, takes each zone's lock for a moment, knows no types.
    Buddyinfo,
}

impl Source {
    /// The name that messages and metrics use.
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
    /// Free blocks by order: `nr_free` of each free area, or the sum over types where only those are read.
    pub total: [FreeCount; MAX_ORDERS],
    /// Free blocks by [`Migratetype::index`] and order, where the source knows types.
    pub by_type: Option<[[FreeCount; MAX_ORDERS]; MIGRATETYPES]>,
    /// Pageblocks by [`Migratetype::index`], where the source tells them.
    pub pageblocks: Option<[u64; MIGRATETYPES]>,
}

impl From<BuddyZone> for ZoneFreeBlocks {
    fn from(zone: BuddyZone) -> Self {
        let total = zone.free.map(|blocks| FreeCount { blocks, capped: false });
        Self { node: zone.node, name: zone.name, total, by_type: None, pageblocks: None }
    }
}

impl ZoneFreeBlocks {
    /// Free pages, a lower bound where a number is capped.
    ///
    /// Blocks of type Isolate are among them: the kernel keeps them on free lists, as buddyinfo tells, and
    /// leaves them out of `nr_free_pages`.
    pub fn free_pages(&self) -> u64 {
        self.pages_from(0)
    }

    /// Pages in free blocks of `order` and above, a lower bound where a number is capped.
    pub fn pages_from(&self, order: usize) -> u64 {
        let counts = self.total.iter().enumerate().skip(order);
        counts.fold(0, |pages, (at, count)| pages.saturating_add(count.blocks.saturating_mul(1 << at)))
    }

    /// How many blocks of `order` the free blocks of that order and above make up.
    pub fn blocks_from(&self, order: usize) -> u64 {
        self.pages_from(order) >> order
    }
}
