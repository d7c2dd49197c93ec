//! What the real allocator and the engine are asked, in order.

use std::fmt;

use freehold::{GfpFlags, Order};

/// The most slots of a script.
pub const MOST_SLOTS: u64 = 1 << 25;

/// The most pages of one bulk allocation.
pub const MOST_BULK: u32 = 512;

/// A list of calls and the conditions they need.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    /// CPUs used, 1 or 2.
    pub cpus: u8,
    /// Pageblocks at the end of the zone to make CMA first.
    pub cma_blocks: u32,
    /// What it was generated from, for the record.
    pub seed: u64,
    /// How many slots the steps use.
    pub slots: u64,
    /// The memory of the machine that it is for, as the kernel's `mem=` takes it.
    pub memory: String,
    /// The calls.
    pub steps: Vec<Step>,
}

/// One call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The CPU that makes it.
    pub cpu: u8,
    /// The slot that it fills or empties.
    pub slot: u32,
    /// What is called.
    pub op: Op,
}

/// Where a range of the zone starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// This far from the zone's start.
    InZone(u32),
    /// This far from the start of the pageblock in which the step's slot has its block.
    AtSlot(u32),
}

impl Place {
    /// The distance, whatever from.
    pub fn offset(self) -> u32 {
        match self {
            Self::InZone(offset) | Self::AtSlot(offset) => offset,
        }
    }
}

/// What is called; see `docs/oracle-format.md` for each one's meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// A block into the slot.
    Alloc {
        /// Its order.
        order: Order,
        /// What is asked for.
        gfp: GfpFlags,
    },
    /// The slot's block goes back.
    Free,
    /// The slot's block becomes single pages, in the slot and those behind it.
    Split,
    /// Single pages into the slots from this one on.
    BulkAlloc {
        /// How many, at most [`MOST_BULK`].
        pages: u32,
        /// What is asked for.
        gfp: GfpFlags,
    },
    /// The CPU's lists go back.
    Drain,
    /// All CPUs' lists go back.
    DrainAll,
    /// The CPU's part of the statistics timer.
    Refresh,
    /// Pageblocks are isolated.
    Isolate {
        /// How many.
        blocks: u8,
        /// The first one, counted in pageblocks.
        from: Place,
    },
    /// The isolation of the same pageblocks ends.
    UndoIsolate {
        /// How many.
        blocks: u8,
        /// The first one, counted in pageblocks.
        from: Place,
    },
    /// A range into the slots behind this one.
    Contig {
        /// Its length.
        pages: u32,
        /// Its first page, counted in pages.
        from: Place,
        /// True if it is asked for as CMA does.
        cma: bool,
    },
    /// A tunable is set.
    Set {
        /// Which one.
        tunable: Tunable,
        /// To what.
        value: u64,
    },
    /// The watermark boost is lowered.
    RelaxBoost {
        /// By at most so many.
        pages: u64,
    },
    /// Reclaim is said to be active, or not any more.
    ReclaimActive(bool),
    /// The slot's block can be moved by compaction, or not any more.
    Mark(bool),
    /// `/proc/pagetypeinfo` is read.
    PageTypeInfo,
    /// `/proc/buddyinfo` is read.
    BuddyInfo,
    /// A digest of the whole state is taken.
    Digest,
    /// The whole state is written out.
    Dump,
}

/// What an administrator can set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Tunable {
    /// `vm.min_free_kbytes`.
    MinFreeKbytes = 0,
    /// `vm.watermark_scale_factor`.
    WatermarkScaleFactor = 1,
    /// `vm.watermark_boost_factor`.
    WatermarkBoostFactor = 2,
    /// `vm.percpu_pagelist_high_fraction`.
    PercpuPagelistHighFraction = 3,
}

impl Tunable {
    /// All of them, by number.
    pub const ALL: [Self; 4] = [
        Self::MinFreeKbytes,
        Self::WatermarkScaleFactor,
        Self::WatermarkBoostFactor,
        Self::PercpuPagelistHighFraction,
    ];

    /// The name below `/proc/sys/vm`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MinFreeKbytes => "min_free_kbytes",
            Self::WatermarkScaleFactor => "watermark_scale_factor",
            Self::WatermarkBoostFactor => "watermark_boost_factor",
            Self::PercpuPagelistHighFraction => "percpu_pagelist_high_fraction",
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InZone(offset) => write!(f, "{offset} of the zone"),
            Self::AtSlot(offset) => write!(f, "{offset} from the slot's pageblock"),
        }
    }
}

/// One line, as a person reads a shrunk script.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slot = self.slot;
        write!(f, "cpu {} ", self.cpu)?;
        match self.op {
            Op::Alloc { order, gfp } => write!(f, "alloc slot {slot} order {} {gfp:?}", order.get()),
            Op::Free => write!(f, "free slot {slot}"),
            Op::Split => write!(f, "split slot {slot}"),
            Op::BulkAlloc { pages, gfp } => write!(f, "bulk alloc slot {slot} pages {pages} {gfp:?}"),
            Op::Drain => write!(f, "drain"),
            Op::DrainAll => write!(f, "drain all"),
            Op::Refresh => write!(f, "refresh"),
            Op::Isolate { blocks, from } => {
                write!(f, "isolate slot {slot} {blocks} pageblocks from {from}")
            }
            Op::UndoIsolate { blocks, from } => {
                write!(f, "undo isolate slot {slot} {blocks} pageblocks from {from}")
            }
            Op::Contig { pages, from, cma } => {
                let kind = if cma { " for CMA" } else { "" };
                write!(f, "contig slot {slot} pages {pages} from {from}{kind}")
            }
            Op::Set { tunable, value } => write!(f, "set {} {value}", tunable.name()),
            Op::RelaxBoost { pages } => write!(f, "relax boost {pages}"),
            Op::ReclaimActive(active) => write!(f, "reclaim active {active}"),
            Op::Mark(movable) => write!(f, "mark slot {slot} movable {movable}"),
            Op::PageTypeInfo => write!(f, "read pagetypeinfo"),
            Op::BuddyInfo => write!(f, "read buddyinfo"),
            Op::Digest => write!(f, "digest"),
            Op::Dump => write!(f, "dump"),
        }
    }
}
