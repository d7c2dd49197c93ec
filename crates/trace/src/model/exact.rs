//! The exact state of a machine's free memory: every block, in the order of its list.

use freehold::{Migratetype, Order, Pfn};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of [`ExactState`] that this crate writes, and the only one that it reads.
pub const EXACT_VERSION: u32 = 1;

/// The exact state of a snapshot, or the reason why it has none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged, try_from = "Value")]
pub enum ExactPart {
    /// The state was not taken.
    Missing {
        /// The reason; empty if the recorder did not try.
        missing: String,
    },
    /// The state was taken.
    Taken(Box<ExactState>),
}

impl Default for ExactPart {
    fn default() -> Self {
        Self::Missing { missing: String::new() }
    }
}

impl ExactPart {
    /// Returns true if the recorder did not try to take the state.
    pub fn is_untried(&self) -> bool {
        matches!(self, Self::Missing { missing } if missing.is_empty())
    }

    /// Returns the state if it was taken.
    pub fn taken(&self) -> Option<&ExactState> {
        match self {
            Self::Taken(state) => Some(state),
            Self::Missing { .. } => None,
        }
    }
}

impl TryFrom<Value> for ExactPart {
    type Error = serde_json::Error;

    /// A state of a newer version counts as missing.
    fn try_from(value: Value) -> Result<Self, Self::Error> {
        if let Some(missing) = value.get("missing").and_then(Value::as_str) {
            return Ok(Self::Missing { missing: missing.to_owned() });
        }
        let version = value.get("version").and_then(Value::as_u64).unwrap_or(0);
        if version > u64::from(EXACT_VERSION) {
            let missing =
                format!("it is of version {version}, and this program reads version {EXACT_VERSION}");
            return Ok(Self::Missing { missing });
        }
        serde_json::from_value(value).map(|state| Self::Taken(Box::new(state)))
    }
}

/// The exact state of a machine's free memory, read without a lock between two moments.
///
/// The state may or may not include changes between the two moments. The trace's events record these changes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ExactState {
    /// [`EXACT_VERSION`].
    pub version: u32,
    /// The time when reading began, in nanoseconds on the trace's clock.
    pub begin_ns: u64,
    /// The time when reading ended. It is the time of the state after the events since `begin_ns` are reconciled.
    pub end_ns: u64,
    /// The number of times that the state was read. The last or the least torn reading is kept.
    pub tries: u32,
    /// The number of lists that changed during every walk. Blocks behind the change are missing.
    pub torn_lists: u64,
    /// The number of orders and CPUs whose own count differs from the length of their lists.
    pub unequal_counts: u64,
    /// The number of frames that are in two blocks.
    pub double_frames: u64,
    /// The populated zones, in the order of [`Snapshot::zones`](super::Snapshot::zones).
    pub zones: Vec<ExactZone>,
}

/// One zone's part of an [`ExactState`].
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ExactZone {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// The zone's lists of free blocks, without the empty ones.
    pub lists: Vec<ExactList>,
    /// The lists of each CPU that could be read.
    pub cpus: Vec<ExactCpu>,
    /// The types of the zone's pageblocks, from that of its first frame on; empty if they could not be read.
    pub pageblocks: Vec<PageblockRun>,
    /// The min, low and high watermark, boost not included, in pages.
    pub watermarks: [u64; 3],
    /// Linux counterpart: `watermark_boost`, in pages.
    pub boost: u64,
    /// Linux counterpart: `nr_reserved_highatomic`, in pages.
    pub reserved_highatomic: u64,
    /// Linux counterpart: `zone->flags`; bit 0 boosted, 1 reclaim active, 2 below high (since 6.7).
    pub flags: u64,
    /// The state that the zone keeps between compactions; absent in a kernel without compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<ExactCompaction>,
}

/// A list of free blocks of one order and type.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ExactList {
    /// The order of the blocks.
    pub order: u8,
    /// The list's migratetype, as [`Migratetype`]'s discriminant.
    pub migratetype: u8,
    /// The first frame of each block, from the list's head on.
    pub pfns: Vec<u64>,
    /// On a CPU's list before 6.10: the type under which each block was freed, as [`Migratetype`]'s discriminant. Empty
    /// if all blocks have the type of the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub freed_under: Vec<u8>,
}

impl ExactList {
    /// Returns the order and the type of the list, if both are known.
    pub fn kind(&self) -> Option<(Order, Migratetype)> {
        Some((Order::new(self.order)?, Migratetype::new(self.migratetype)?))
    }

    /// Returns the first frame of each block, with the type under which the block was freed.
    pub fn blocks(&self) -> impl Iterator<Item = (Pfn, Migratetype)> + '_ {
        let own = Migratetype::new(self.migratetype).unwrap_or(Migratetype::Movable);
        let under = |at: usize| self.freed_under.get(at).and_then(|&code| Migratetype::new(code));
        self.pfns.iter().enumerate().map(move |(at, &pfn)| (Pfn(pfn), under(at).unwrap_or(own)))
    }
}

/// One CPU's lists of a zone. Linux counterpart: `struct per_cpu_pages`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ExactCpu {
    /// The CPU.
    pub cpu: u32,
    /// The number of pages on the lists, by the kernel's own count.
    pub count: u64,
    /// The number of pages above which the lists are drained.
    pub high: u64,
    /// Lower bound of `high` (since 6.7).
    pub high_min: u64,
    /// Upper bound of `high` (since 6.7).
    pub high_max: u64,
    /// The number of pages that are moved at once.
    pub batch: u64,
    /// Bit 0: the last free was of a high order; bit 1: such frees wait for a batch (since 6.7).
    pub flags: u64,
    /// The next refill is the batch times two to this power (since 6.7).
    pub alloc_factor: u64,
    /// The next drain is the batch times two to this power (before 6.7).
    pub free_factor: u64,
    /// The number of consecutively freed pages (since 6.7).
    pub free_count: u64,
    /// The lists, without the empty ones.
    pub lists: Vec<ExactList>,
}

/// Neighbouring pageblocks of one type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PageblockRun {
    /// The number of pageblocks.
    pub pageblocks: u64,
    /// Their migratetype, as [`Migratetype`]'s discriminant; `None` if it could not be read.
    pub migratetype: Option<u8>,
    /// True if compaction should skip them.
    pub skipped: bool,
}

/// The state that a zone keeps between compactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ExactCompaction {
    /// Linux counterpart: `compact_considered`.
    pub considered: u32,
    /// Linux counterpart: `compact_defer_shift`.
    pub defer_shift: u32,
    /// Linux counterpart: `compact_order_failed`.
    pub order_failed: i32,
    /// Linux counterpart: `compact_cached_free_pfn`.
    pub free_pfn: u64,
    /// Linux counterpart: `compact_cached_migrate_pfn`: asynchronous and synchronous.
    pub migrate_pfn: [u64; 2],
    /// Linux counterpart: `compact_blockskip_flush`.
    pub blockskip_flush: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_and_reason_survive_json_and_newer_version_is_missing() {
        let list = ExactList { order: 3, migratetype: 1, pfns: vec![8, 0], freed_under: vec![0] };
        let zone = ExactZone { lists: vec![list.clone()], ..ExactZone::default() };
        let state = ExactState { version: EXACT_VERSION, zones: vec![zone], ..ExactState::default() };
        for part in [
            ExactPart::Taken(Box::new(state)),
            ExactPart::Missing { missing: "no BPF".to_owned() },
            ExactPart::default(),
        ] {
            let text = serde_json::to_string(&part).unwrap();
            assert_eq!(serde_json::from_str::<ExactPart>(&text).unwrap(), part);
        }
        let newer: ExactPart = serde_json::from_str("{\"version\": 2, \"zones\": 7}").unwrap();
        assert!(matches!(newer, ExactPart::Missing { missing } if missing.contains("version 2")));
        assert!(serde_json::from_str::<ExactPart>("{\"version\": 1, \"zones\": 7}").is_err());
        let blocks: Vec<_> = list.blocks().collect();
        assert_eq!(blocks, [(Pfn(8), Migratetype::Unmovable), (Pfn(0), Migratetype::Movable)]);
    }
}
