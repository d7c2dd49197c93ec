//! The steps of a script.

use std::fmt;

use freehold::{GfpFlags, Order};

/// The most slots of a script.
pub const MOST_SLOTS: u64 = 1 << 25;

/// The most pages of one bulk request.
pub const MOST_BULK: u32 = 512;

/// A list of calls, and the machine for which they are written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    /// The number of CPUs, 1 or 2.
    pub cpus: u8,
    /// The number of pageblocks at the end of the zone that become CMA pageblocks before the first step.
    pub cma_blocks: u32,
    /// The random seed of the script, for information.
    pub seed: u64,
    /// The number of slots.
    pub slots: u64,
    /// The machine's memory, in the format of the kernel's parameter `mem=`.
    pub memory: String,
    /// The calls.
    pub steps: Vec<Step>,
}

/// One step: a call on a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The CPU that makes the call.
    pub cpu: u8,
    /// The slot that the call fills or empties.
    pub slot: u32,
    /// The call.
    pub op: Op,
}

/// The start of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A distance from the zone's start.
    InZone(u32),
    /// A distance from the start of the pageblock around the block in the step's slot.
    AtSlot(u32),
}

impl Place {
    /// Returns the distance.
    pub fn offset(self) -> u32 {
        match self {
            Self::InZone(offset) | Self::AtSlot(offset) => offset,
        }
    }
}

/// A call. `docs/reference/oracle-format.md` describes each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Allocates a block into the slot.
    Alloc {
        /// The order of the block.
        order: Order,
        /// The GFP flags.
        gfp: GfpFlags,
    },
    /// Frees the slot's block.
    Free,
    /// Splits the slot's block into single pages, in the slot and the slots behind it.
    Split,
    /// Allocates single pages into the slots from the step's slot on.
    BulkAlloc {
        /// The number of pages, at most [`MOST_BULK`].
        pages: u32,
        /// The GFP flags.
        gfp: GfpFlags,
    },
    /// Drains the CPU's lists.
    Drain,
    /// Drains all CPUs' lists.
    DrainAll,
    /// Runs the CPU's part of the statistics timer.
    Refresh,
    /// Isolates pageblocks.
    Isolate {
        /// The number of pageblocks.
        blocks: u8,
        /// The first pageblock, as a distance in pageblocks.
        from: Place,
    },
    /// Ends the isolation of pageblocks.
    UndoIsolate {
        /// The number of pageblocks.
        blocks: u8,
        /// The first pageblock, as a distance in pageblocks.
        from: Place,
    },
    /// Allocates a contiguous range into the slots behind the step's slot.
    Contig {
        /// The number of pages.
        pages: u32,
        /// The first page, as a distance in pages.
        from: Place,
        /// True if the range is allocated for CMA.
        cma: bool,
    },
    /// Sets a tunable.
    Set {
        /// The tunable.
        tunable: Tunable,
        /// The value.
        value: u64,
    },
    /// Lowers the watermark boost.
    RelaxBoost {
        /// The largest number of pages by which the boost is lowered.
        pages: u64,
    },
    /// Sets whether reclaim is active.
    ReclaimActive(bool),
    /// Marks the slot's block as movable by compaction, or unmarks it.
    Mark(bool),
    /// Marks the slot's block as movable by compaction. Compaction tries to move it, and fails.
    Pin,
    /// Reads `/proc/pagetypeinfo`.
    PageTypeInfo,
    /// Reads `/proc/buddyinfo`.
    BuddyInfo,
    /// Computes a digest of the whole state.
    Digest,
    /// Writes the whole state.
    Dump,
    /// Tidies pageblocks until this number of pages was tried, or each pageblock was visited once.
    Tidy {
        /// The number of pages.
        pages: u32,
    },
}

/// A setting below `/proc/sys/vm`.
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
    /// Every tunable, by number.
    pub const ALL: [Self; 4] = [
        Self::MinFreeKbytes,
        Self::WatermarkScaleFactor,
        Self::WatermarkBoostFactor,
        Self::PercpuPagelistHighFraction,
    ];

    /// Returns the name below `/proc/sys/vm`.
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

/// Prints the step as one line.
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
            Op::Pin => write!(f, "pin slot {slot}"),
            Op::PageTypeInfo => write!(f, "read pagetypeinfo"),
            Op::BuddyInfo => write!(f, "read buddyinfo"),
            Op::Digest => write!(f, "digest"),
            Op::Dump => write!(f, "dump"),
            Op::Tidy { pages } => write!(f, "tidy {pages} pages"),
        }
    }
}
