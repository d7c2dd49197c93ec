//! The words of a transcript.

use std::fmt;

use freehold::{Migratetype, Order, Pfn};

/// A decoded word of a transcript.
///
/// The fields are the columns of the table in `docs/reference/oracle-format.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Word {
    /// A number of the zone.
    Value { field: u16, value: u64 },
    /// A number of one CPU's lists.
    CpuValue { cpu: u8, field: u8, value: u64 },
    /// All pageblocks from this one on have this type, up to the next word of this kind.
    BlockType { migratetype: Migratetype, block: u64 },
    /// A block on a free list.
    Free { order: Order, migratetype: Migratetype, pfn: Pfn },
    /// A block on a per-CPU list, and the type recorded with the block, if any.
    PerCpu { cpu: u8, order: Order, migratetype: Migratetype, pfn: Pfn, origin: Option<Migratetype> },
    /// The first frame of a run of frames that the allocator never managed.
    Reserved { pfn: Pfn },
    /// The length of the run of the last [`Word::Reserved`].
    Length { pages: u64 },
    /// An allocated page that compaction may move.
    Movable { pfn: Pfn },
    /// The two counts of a pageblock.
    Use { block: u64, free: u16, movable: u16 },
    /// A dump of the state starts.
    Dump { reason: u16 },
    /// The dump is complete.
    DumpEnd,
    /// A request got this block.
    Answer { pfn: Pfn },
    /// A request failed.
    Refused,
    /// A call returned this error number, 0 for success, and this value.
    Outcome { errno: u16, number: u64 },
    /// `mm_page_alloc_extfrag`.
    ExtFrag { pfn: Pfn, orders: (Order, Order), types: (Migratetype, Migratetype), change_ownership: bool },
    /// `mm_page_alloc_zone_locked`.
    Taken { order: Order, migratetype: Migratetype, pfn: Pfn },
    /// `mm_page_pcpu_drain`.
    Drained { order: Order, migratetype: Migratetype, pfn: Pfn },
    /// The operation is complete. The fields are the state of the lists of its CPU.
    PerCpuNow { count: u16, high: u16, free_count: u16, factor: u8 },
    /// The digest of the state.
    Digest(u64),
    /// This many bytes of text follow, rounded up to whole words.
    Text { bytes: u64 },
    /// Tidying has moved a block from this frame.
    Moved { order: Order, pfn: Pfn },
    /// The block of the last [`Word::Moved`] is now at this frame.
    MovedTo { pfn: Pfn },
    /// Tidying has given the pageblock this type.
    Retyped { migratetype: Migratetype, block: u64 },
    /// Another user of the allocator allocated or freed a block.
    Foreign { freed: bool, pfn: Pfn },
    /// The end of the transcript, with the number of operations played.
    End { operations: u64 },
}

const B_BITS: u32 = 40;
const B_MASK: u64 = (1 << B_BITS) - 1;
const BLOCK_BITS: u32 = 24;
const BLOCK_MASK: u64 = (1 << BLOCK_BITS) - 1;
const NO_ORIGIN: u64 = 7;

/// The bits of a digest.
pub(super) const DIGEST_MASK: u64 = (1 << 56) - 1;

const fn raw(tag: u8, a: u16, b: u64) -> u64 {
    (tag as u64) << 56 | (a as u64) << B_BITS | b & B_MASK
}

impl Word {
    /// Decodes a word. Returns `None` if it is not valid.
    pub fn decode(word: u64) -> Option<Self> {
        let tag = (word >> 56) as u8;
        let a = (word >> B_BITS) as u16;
        let b = word & B_MASK;
        let order = |bits: u16| Order::of_linux((bits & 0xf) as u8);
        let kind = |bits: u16| Migratetype::new((bits & 0xf) as u8);
        let pfn = Pfn(b);
        Some(match tag {
            0x01 => Self::Value { field: a, value: b },
            0x02 => Self::CpuValue { cpu: (a >> 8) as u8, field: a as u8, value: b },
            0x03 => Self::BlockType { migratetype: kind(a)?, block: b },
            0x04 => Self::Free { order: order(a >> 8)?, migratetype: kind(a)?, pfn },
            0x05 => Self::PerCpu {
                cpu: (a >> 8) as u8,
                order: order(a >> 4)?,
                migratetype: kind(a)?,
                pfn: Pfn(b & ((1 << 36) - 1)),
                origin: match b >> 36 {
                    NO_ORIGIN => None,
                    origin => Some(Migratetype::new(origin as u8)?),
                },
            },
            0x06 => Self::Reserved { pfn },
            0x07 => Self::Length { pages: b },
            0x08 => Self::Movable { pfn },
            0x09 => Self::Use { block: b & BLOCK_MASK, free: a, movable: (b >> BLOCK_BITS) as u16 },
            0x0e => Self::Dump { reason: a },
            0x0f => Self::DumpEnd,
            0x10 => Self::Answer { pfn },
            0x11 => Self::Refused,
            0x12 => Self::Outcome { errno: a, number: b },
            0x13 => Self::ExtFrag {
                pfn: Pfn(b >> 1),
                orders: (order(a >> 12)?, order(a >> 8)?),
                types: (kind(a >> 4)?, kind(a)?),
                change_ownership: b & 1 != 0,
            },
            0x14 => Self::Taken { order: order(a >> 8)?, migratetype: kind(a)?, pfn },
            0x15 => Self::Drained { order: order(a >> 8)?, migratetype: kind(a)?, pfn },
            0x16 => Self::PerCpuNow {
                count: a,
                high: (b >> 24) as u16,
                free_count: (b >> 8) as u16,
                factor: b as u8,
            },
            0x17 => Self::Digest(word & DIGEST_MASK),
            0x18 => Self::Text { bytes: b },
            0x19 => Self::Moved { order: order(a)?, pfn },
            0x1a => Self::MovedTo { pfn },
            0x1b => Self::Retyped { migratetype: kind(a)?, block: b },
            0x20 => Self::Foreign { freed: a == 2, pfn },
            0x3f => Self::End { operations: b },
            _ => return None,
        })
    }

    /// Encodes the word as the oracle does. Fields that the engine cannot know are 0.
    pub fn encode(self) -> u64 {
        let listed =
            |order: Order, migratetype: Migratetype| u16::from(order.get()) << 8 | migratetype.index() as u16;
        match self {
            Self::Value { field, value } => raw(0x01, field, value),
            Self::CpuValue { cpu, field, value } => raw(0x02, u16::from(cpu) << 8 | u16::from(field), value),
            Self::BlockType { migratetype, block } => raw(0x03, migratetype.index() as u16, block),
            Self::Free { order, migratetype, pfn } => raw(0x04, listed(order, migratetype), pfn.0),
            Self::PerCpu { cpu, order, migratetype, pfn, origin } => raw(
                0x05,
                u16::from(cpu) << 8 | u16::from(order.get()) << 4 | migratetype.index() as u16,
                origin.map_or(NO_ORIGIN, |origin| origin.index() as u64) << 36 | pfn.0,
            ),
            Self::Reserved { pfn } => raw(0x06, 0, pfn.0),
            Self::Length { pages } => raw(0x07, 0, pages),
            Self::Movable { pfn } => raw(0x08, 0, pfn.0),
            Self::Use { block, free, movable } => raw(0x09, free, u64::from(movable) << BLOCK_BITS | block),
            Self::Dump { reason } => raw(0x0e, reason, 0),
            Self::DumpEnd => raw(0x0f, 0, 0),
            Self::Answer { pfn } => raw(0x10, 0, pfn.0),
            Self::Refused => raw(0x11, 0, 0),
            Self::Outcome { errno, number } => raw(0x12, errno, number),
            Self::ExtFrag { pfn, orders, types, change_ownership } => raw(
                0x13,
                u16::from(orders.0.get()) << 12
                    | u16::from(orders.1.get()) << 8
                    | (types.0.index() as u16) << 4
                    | types.1.index() as u16,
                pfn.0 << 1 | u64::from(change_ownership),
            ),
            Self::Taken { order, migratetype, pfn } => raw(0x14, listed(order, migratetype), pfn.0),
            Self::Drained { order, migratetype, pfn } => raw(0x15, listed(order, migratetype), pfn.0),
            Self::PerCpuNow { count, high, free_count, factor } => {
                raw(0x16, count, u64::from(high) << 24 | u64::from(free_count) << 8 | u64::from(factor))
            }
            Self::Digest(digest) => 0x17 << 56 | digest & DIGEST_MASK,
            Self::Text { bytes } => raw(0x18, 0, bytes),
            Self::Moved { order, pfn } => raw(0x19, order.get().into(), pfn.0),
            Self::MovedTo { pfn } => raw(0x1a, 0, pfn.0),
            Self::Retyped { migratetype, block } => raw(0x1b, migratetype.index() as u16, block),
            Self::Foreign { freed, pfn } => raw(0x20, 1 + u16::from(freed), pfn.0),
            Self::End { operations } => raw(0x3f, 0, operations),
        }
    }
}

/// Names of a zone's numbers by their identifiers.
const VALUES: [&str; 21] = [
    "?",
    "zone_start_pfn",
    "spanned_pages",
    "present_pages",
    "managed_pages",
    "pageblock_order",
    "the largest order",
    "min mark",
    "low mark",
    "high mark",
    "watermark_boost",
    "nr_reserved_highatomic",
    "nr_free_highatomic",
    "NR_FREE_PAGES",
    "NR_FREE_CMA_PAGES",
    "zone flags",
    "watermark_boost_factor",
    "zone type",
    "CPUs",
    "nr_isolate_pageblock",
    "lowmem_reserve",
];

/// Names of the numbers of a CPU's lists by their identifiers.
const CPU_VALUES: [&str; 10] = [
    "?",
    "count",
    "high",
    "high_min",
    "high_max",
    "batch",
    "flags",
    "alloc_factor",
    "free_count",
    "free_factor",
];

/// Prints numbers with their names, and all other words in debug format.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |names: &[&'static str], field: usize| names.get(field).copied().unwrap_or("?");
        match *self {
            Self::Value { field, value } => write!(f, "{} {value}", name(&VALUES, field.into())),
            Self::CpuValue { cpu, field, value } => {
                write!(f, "cpu {cpu} {} {value}", name(&CPU_VALUES, field.into()))
            }
            other => write!(f, "{other:?}"),
        }
    }
}

/// A digest over words, as the oracle computes it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Digest(u64);

impl Digest {
    /// Adds a word.
    pub fn add(&mut self, word: Word) {
        let mixed = (self.0 ^ word.encode()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }

    /// Returns the digest.
    pub fn finish(self) -> u64 {
        self.0 & DIGEST_MASK
    }
}
