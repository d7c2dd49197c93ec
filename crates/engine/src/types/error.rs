//! The errors of the engine, as small `Copy` values.

use core::fmt;

use super::units::{Order, Pfn};

/// The reason why a block was not freed. Nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FreeError {
    /// No zone contains the frame, or the frame lies in a hole.
    OutsideZones,
    /// The block is already free, on a free list or a per-CPU list.
    AlreadyFree,
    /// The frame is not the first of an allocated block.
    NotAllocated,
    /// The block was allocated with another order.
    WrongOrder {
        /// The order of the allocated block.
        allocated: Order,
    },
    /// The CPU number is not below the number that the memory was set up for.
    NoSuchCpu,
}

impl fmt::Display for FreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideZones => f.write_str("the frame is outside all zones or in a hole"),
            Self::AlreadyFree => f.write_str("the block is already free"),
            Self::NotAllocated => f.write_str("the frame does not start an allocated block"),
            Self::WrongOrder { allocated } => write!(f, "the block was allocated with order {allocated}"),
            Self::NoSuchCpu => f.write_str("there is no such CPU"),
        }
    }
}

impl core::error::Error for FreeError {}

/// The reason why a request failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AllocError {
    /// No zone that the flags allow had a block above its watermark.
    NoMemory,
    /// As [`Self::NoMemory`], for a request with [`crate::GfpFlags::DIRECT_RECLAIM`] while an [`crate::Exclusive`] has
    /// the lists of any CPU, which requests do not drain. Another try may succeed once that owner is paused or dropped.
    Busy,
    /// The order exceeds the largest that the memory was set up for.
    OrderTooLarge,
    /// The CPU number is not below the number that the memory was set up for.
    NoSuchCpu,
    /// The node number is above those of all zones. A smaller number of a node without zones is valid: its requests go
    /// to the other nodes.
    NoSuchNode,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoMemory => "no zone has a free block above its watermark",
            Self::Busy => "no zone has a free block above its watermark, and an owner has the lists of a CPU",
            Self::OrderTooLarge => "the order exceeds the largest order set up",
            Self::NoSuchCpu => "there is no such CPU",
            Self::NoSuchNode => "there is no such node",
        })
    }
}

impl core::error::Error for AllocError {}

/// The reason why a block was not allocated by its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AllocAtError {
    /// A frame of the block is in no zone, in another zone than the first, or in a hole.
    OutsideZones,
    /// The order exceeds the largest that the memory was set up for.
    OrderTooLarge,
    /// The frame is not aligned to the order.
    Unaligned,
    /// Part of the block is in use, or reserved.
    InUse {
        /// The first frame of the block in use.
        at: Pfn,
    },
    /// Part of the block lies in an isolated pageblock.
    Isolated,
    /// Part of the block lies in a CMA pageblock, whose pages are for its owner and for movable requests.
    Cma,
    /// Part of the block is in transit to or from its owner, or was put on a CPU's list after the drain. Another try
    /// may succeed.
    Busy,
}

impl fmt::Display for AllocAtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideZones => f.write_str("part of the block is outside the zone or in a hole"),
            Self::OrderTooLarge => f.write_str("the order exceeds the largest order set up"),
            Self::Unaligned => f.write_str("the frame is not aligned to the order"),
            Self::InUse { at } => write!(f, "the block at {at} is in use"),
            Self::Isolated => f.write_str("part of the block is in an isolated pageblock"),
            Self::Cma => f.write_str("part of the block is in a CMA pageblock"),
            Self::Busy => f.write_str("part of the block is in transit to or from its owner"),
        }
    }
}

impl core::error::Error for AllocAtError {}

/// The reason why pageblocks were not isolated, or a range of frames not allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BlockError {
    /// The frame is outside the zone.
    OutsideZone,
    /// Part of the pageblock lies outside the zone, so that not all of its free pages can move.
    StraddlesZone,
    /// The pageblock is isolated already, or not isolated when it should be.
    WrongState,
    /// The pageblock holds allocated pages that cannot be moved, or holes.
    Unmovable,
    /// The range does not begin and end with a pageblock.
    Unaligned,
    /// The requested type is neither `Movable` nor `Cma`, or a pageblock of the range has another type.
    WrongType,
    /// A page of the range is in use, or in transit to or from its owner. Another try may succeed.
    Busy,
    /// The memory has no room outside the range for its pages.
    NoRoom,
    /// The CPU number is not below the number that the memory was set up for.
    NoSuchCpu,
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutsideZone => "the frame is outside the zone",
            Self::StraddlesZone => "the pageblock reaches outside the zone",
            Self::WrongState => "the pageblock is in that state already",
            Self::Unmovable => "the pageblock holds unmovable pages",
            Self::Unaligned => "the range does not begin and end with a pageblock",
            Self::WrongType => "the range does not have the requested type",
            Self::Busy => "a page of the range is in use",
            Self::NoRoom => "no room elsewhere for the pages of the range",
            Self::NoSuchCpu => "there is no such CPU",
        })
    }
}

impl core::error::Error for BlockError {}

/// The reason why a memory could not be set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SetupError {
    /// The metadata buffer is smaller than [`crate::required_bytes`] says.
    MetadataTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The [`crate::StaticMemory`] is already set up, or another caller is setting it up.
    AlreadySetUp,
    /// No zone was given, or a zone without pages.
    EmptyZone,
    /// Two zones share frames.
    OverlappingZones {
        /// A frame in both.
        at: Pfn,
    },
    /// Part of the range lies in a section without metadata.
    NoSection,
    /// More than 2^31 pages of a zone have metadata, or a zone spans more than 2^31 sections.
    ZoneTooLarge,
    /// The pageblock order is larger than the maximum order.
    BadPageblockOrder,
    /// No CPU was given.
    NoCpu,
    /// A per-CPU batch of zero, or a lower bound of `high` above the upper one.
    BadPerCpuSettings,
    /// A block is not aligned, too large, or on a list that the type of its pageblock or its order does not allow.
    BadBlock {
        /// The first frame of the block.
        at: Pfn,
    },
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MetadataTooSmall { needed, given } => {
                write!(f, "the metadata needs {needed} bytes and was given {given}")
            }
            Self::AlreadySetUp => f.write_str("the memory is set up already"),
            Self::EmptyZone => f.write_str("a zone has no pages"),
            Self::OverlappingZones { at } => write!(f, "two zones contain {at:?}"),
            Self::NoSection => f.write_str("no metadata was set aside for part of the range"),
            Self::ZoneTooLarge => f.write_str("a zone has metadata for more than 2^31 pages"),
            Self::BadPageblockOrder => f.write_str("the pageblock order must not be above the maximum order"),
            Self::NoCpu => f.write_str("at least one CPU is needed"),
            Self::BadBlock { at } => {
                write!(f, "the block at {at:?} is misaligned, too large or on a list that it cannot be on")
            }
            Self::BadPerCpuSettings => f.write_str("batch must be at least 1 and high_min at most high_max"),
        }
    }
}

impl core::error::Error for SetupError {}
