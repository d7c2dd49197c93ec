//! The result of a call, as a number and as a sentence.
#![expect(unsafe_code, reason = "a function with a name for C")]

use core::ffi::{CStr, c_char};

use freehold::{AllocAtError, AllocError, BlockError, FreeError, SetupError};

/// The result of a call. After any result other than OK nothing has changed, unless the function says otherwise.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeholdStatus {
    /// The call succeeded.
    Ok = 0,
    /// A required pointer is null.
    NullPointer = 1,
    /// A number is not that of a zone, type, era or flag.
    NoSuchNumber = 2,
    /// No zone that the flags allow has a free block above its watermark.
    NoMemory = 3,
    /// The order exceeds the largest that the memory was set up for.
    OrderTooLarge = 4,
    /// The CPU number is not below the number that the memory was set up for.
    NoSuchCpu = 5,
    /// There is no such node.
    NoSuchNode = 6,
    /// A frame is outside the zones, or in a hole.
    OutsideZones = 7,
    /// The block is free already.
    AlreadyFree = 8,
    /// The frame is not the first of an allocated block.
    NotAllocated = 9,
    /// The block was allocated with another order.
    WrongOrder = 10,
    /// The frame or the range is not aligned.
    Unaligned = 11,
    /// Part of the block is in use, or reserved.
    InUse = 12,
    /// Part of the block is in an isolated pageblock.
    Isolated = 13,
    /// Part of the block is in a CMA pageblock.
    Cma = 14,
    /// A page is in transit to or from its owner. Another try may succeed.
    Busy = 15,
    /// A pageblock reaches outside the zone.
    StraddlesZone = 16,
    /// A pageblock is isolated already, or not isolated when it should be.
    WrongState = 17,
    /// The range has pages that cannot be moved, or holes.
    Unmovable = 18,
    /// The range does not have the requested type.
    WrongType = 19,
    /// The memory has no room outside the range for its pages.
    NoRoom = 20,
    /// There are fewer bytes than `freehold_required_bytes` returns.
    MetadataTooSmall = 21,
    /// A memory is already set up.
    AlreadySetUp = 22,
    /// No zone was given, a zone has no pages, or a frame is in no zone.
    EmptyZone = 23,
    /// Two zones share frames, or a frame is in service already.
    Overlap = 24,
    /// More than 2^31 pages of a zone have metadata.
    ZoneTooLarge = 25,
    /// The pageblock order is larger than the largest order, or an order is above 18.
    BadPageblockOrder = 26,
    /// No CPU was given.
    NoCpu = 27,
    /// The settings of CPUs' lists contradict each other.
    BadPerCpuSettings = 28,
    /// A block is misaligned, too large, or on a list that cannot have it.
    BadBlock = 29,
    /// An invariant is violated. The text of `freehold_check` names the invariant and a frame.
    Broken = 30,
    /// An error without a number in this version.
    Other = 31,
    /// Part of the range lies in a section without metadata.
    NoSection = 32,
}

const STATUSES: [(FreeholdStatus, &CStr); 33] = [
    (FreeholdStatus::Ok, c"success"),
    (FreeholdStatus::NullPointer, c"a pointer is null"),
    (FreeholdStatus::NoSuchNumber, c"a number names nothing"),
    (FreeholdStatus::NoMemory, c"no zone has a free block above its watermark"),
    (FreeholdStatus::OrderTooLarge, c"the order exceeds the largest order set up"),
    (FreeholdStatus::NoSuchCpu, c"there is no such CPU"),
    (FreeholdStatus::NoSuchNode, c"there is no such node"),
    (FreeholdStatus::OutsideZones, c"a frame is outside the zones or in a hole"),
    (FreeholdStatus::AlreadyFree, c"the block is already free"),
    (FreeholdStatus::NotAllocated, c"the frame does not start an allocated block"),
    (FreeholdStatus::WrongOrder, c"the block was allocated with another order"),
    (FreeholdStatus::Unaligned, c"the frame or the range is not aligned"),
    (FreeholdStatus::InUse, c"part of the block is in use"),
    (FreeholdStatus::Isolated, c"part of the block is in an isolated pageblock"),
    (FreeholdStatus::Cma, c"part of the block is in a CMA pageblock"),
    (FreeholdStatus::Busy, c"a page is in transit to or from its owner"),
    (FreeholdStatus::StraddlesZone, c"the pageblock reaches outside the zone"),
    (FreeholdStatus::WrongState, c"the pageblock is in that state already"),
    (FreeholdStatus::Unmovable, c"the range holds unmovable pages or holes"),
    (FreeholdStatus::WrongType, c"the range does not have the requested type"),
    (FreeholdStatus::NoRoom, c"no room elsewhere for the pages of the range"),
    (FreeholdStatus::MetadataTooSmall, c"too few bytes for the metadata"),
    (FreeholdStatus::AlreadySetUp, c"a memory is set up already"),
    (FreeholdStatus::EmptyZone, c"a zone has no pages, or no zone has the frames"),
    (FreeholdStatus::Overlap, c"zones overlap, or a frame is in service already"),
    (FreeholdStatus::ZoneTooLarge, c"a zone has metadata for more than 2^31 pages"),
    (FreeholdStatus::BadPageblockOrder, c"the pageblock order must not be above the largest order"),
    (FreeholdStatus::NoCpu, c"at least one CPU is needed"),
    (FreeholdStatus::BadPerCpuSettings, c"batch must be at least 1 and high_min at most high_max"),
    (FreeholdStatus::BadBlock, c"the block is misaligned, too large or on a wrong list"),
    (FreeholdStatus::Broken, c"an invariant is broken"),
    (FreeholdStatus::Other, c"another error"),
    (FreeholdStatus::NoSection, c"no metadata was set aside for part of the range"),
];

/// Returns a sentence about a status, which is valid for ever. A number without a status has a sentence as well.
#[unsafe(no_mangle)]
pub extern "C" fn freehold_strerror(status: i32) -> *const c_char {
    let known = usize::try_from(status).ok().and_then(|number| STATUSES.get(number));
    known.map_or(c"no such status", |&(_, sentence)| sentence).as_ptr()
}

/// Converts a result into OK or the status of its error.
pub(crate) fn status<E: Into<FreeholdStatus>>(answer: Result<(), E>) -> FreeholdStatus {
    answer.map_or_else(Into::into, |()| FreeholdStatus::Ok)
}

impl From<AllocError> for FreeholdStatus {
    fn from(error: AllocError) -> Self {
        match error {
            AllocError::NoMemory => Self::NoMemory,
            AllocError::OrderTooLarge => Self::OrderTooLarge,
            AllocError::NoSuchCpu => Self::NoSuchCpu,
            AllocError::NoSuchNode => Self::NoSuchNode,
            _ => Self::Other,
        }
    }
}

impl From<AllocAtError> for FreeholdStatus {
    fn from(error: AllocAtError) -> Self {
        match error {
            AllocAtError::OutsideZones => Self::OutsideZones,
            AllocAtError::OrderTooLarge => Self::OrderTooLarge,
            AllocAtError::Unaligned => Self::Unaligned,
            AllocAtError::InUse { .. } => Self::InUse,
            AllocAtError::Isolated => Self::Isolated,
            AllocAtError::Cma => Self::Cma,
            AllocAtError::Busy => Self::Busy,
            _ => Self::Other,
        }
    }
}

impl From<FreeError> for FreeholdStatus {
    fn from(error: FreeError) -> Self {
        match error {
            FreeError::OutsideZones => Self::OutsideZones,
            FreeError::AlreadyFree => Self::AlreadyFree,
            FreeError::NotAllocated => Self::NotAllocated,
            FreeError::WrongOrder { .. } => Self::WrongOrder,
            FreeError::NoSuchCpu => Self::NoSuchCpu,
            _ => Self::Other,
        }
    }
}

impl From<BlockError> for FreeholdStatus {
    fn from(error: BlockError) -> Self {
        match error {
            BlockError::OutsideZone => Self::OutsideZones,
            BlockError::StraddlesZone => Self::StraddlesZone,
            BlockError::WrongState => Self::WrongState,
            BlockError::Unmovable => Self::Unmovable,
            BlockError::Unaligned => Self::Unaligned,
            BlockError::WrongType => Self::WrongType,
            BlockError::Busy => Self::Busy,
            BlockError::NoRoom => Self::NoRoom,
            BlockError::NoSuchCpu => Self::NoSuchCpu,
            _ => Self::Other,
        }
    }
}

impl From<SetupError> for FreeholdStatus {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::MetadataTooSmall { .. } => Self::MetadataTooSmall,
            SetupError::AlreadySetUp => Self::AlreadySetUp,
            SetupError::EmptyZone => Self::EmptyZone,
            SetupError::OverlappingZones { .. } => Self::Overlap,
            SetupError::NoSection => Self::NoSection,
            SetupError::ZoneTooLarge => Self::ZoneTooLarge,
            SetupError::BadPageblockOrder => Self::BadPageblockOrder,
            SetupError::NoCpu => Self::NoCpu,
            SetupError::BadPerCpuSettings => Self::BadPerCpuSettings,
            SetupError::BadBlock { .. } => Self::BadBlock,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_in_the_order_of_the_statuses() {
        for (number, (status, sentence)) in STATUSES.into_iter().enumerate() {
            assert_eq!(status as usize, number, "{sentence:?}");
            assert!(!sentence.is_empty());
        }
    }
}
