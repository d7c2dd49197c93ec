//! The columns, codes, metadata keys and limits of the format; `docs/trace-format.md` in code.

use std::collections::BTreeMap;

use arrow_schema::{DataType, Field, Schema};
use freehold::{GfpFlags, Migratetype};

use crate::{FrameUse, Origin, PageWork, Snapshot};

/// The newest version of the format that this crate reads, and the one that it writes.
///
/// Version 1 had neither the kinds from 9 on nor the column `obtained`; it is still read.
pub const FORMAT_VERSION: u32 = 2;

/// Value of [`KEY_FORMAT`].
pub(crate) const FORMAT_NAME: &str = "freehold-trace";

pub(crate) const KEY_FORMAT: &str = "freehold.format";
pub(crate) const KEY_VERSION: &str = "freehold.version";
pub(crate) const KEY_ORIGIN: &str = "freehold.origin";
pub(crate) const KEY_START: &str = "freehold.start";
const KEY_KINDS: &str = "freehold.kinds";
const KEY_MIGRATETYPES: &str = "freehold.migratetypes";
const KEY_FRAME_USES: &str = "freehold.frame_uses";
const KEY_GFP_BITS: &str = "freehold.gfp_bits";

/// Rows in one record batch. Bounds what a reader allocates.
pub(crate) const MAX_BATCH_ROWS: usize = 1 << 20;
/// Bytes of one message's metadata; the header with its snapshot is the largest.
pub(crate) const MAX_METADATA_BYTES: usize = 16 << 20;
/// Bytes of one message's body: more than [`MAX_BATCH_ROWS`] rows take uncompressed.
pub(crate) const MAX_BODY_BYTES: usize = 128 << 20;
/// Bytes of all notes in one record batch.
pub(crate) const MAX_NOTE_BYTES: usize = 16 << 20;
/// Runs of the start snapshot's occupancy.
pub(crate) const MAX_RUNS: usize = 1 << 25;
/// Zones of a snapshot: more than Linux can have (1024 nodes with 5 zones each).
pub(crate) const MAX_ZONES: usize = 8192;

/// What a row says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum RowKind {
    Occupancy = 0,
    Alloc = 1,
    Free = 2,
    ExtFrag = 3,
    ZoneLocked = 4,
    PcpuDrain = 5,
    Lost = 6,
    CompactionBegin = 7,
    CompactionEnd = 8,
    IsolateMigratePages = 9,
    IsolateFreePages = 10,
    FastIsolateFreePages = 11,
    MigratePages = 12,
    DirectReclaimBegin = 13,
    DirectReclaimEnd = 14,
    ShrinkInactive = 15,
    KswapdWake = 16,
    KswapdSleep = 17,
    TestPagesIsolated = 18,
    CmaAlloc = 19,
    CmaRelease = 20,
    Ending = 255,
}

impl RowKind {
    const ALL: [(Self, &'static str); 22] = [
        (Self::Occupancy, "occupancy"),
        (Self::Alloc, "mm_page_alloc"),
        (Self::Free, "mm_page_free"),
        (Self::ExtFrag, "mm_page_alloc_extfrag"),
        (Self::ZoneLocked, "mm_page_alloc_zone_locked"),
        (Self::PcpuDrain, "mm_page_pcpu_drain"),
        (Self::Lost, "lost"),
        (Self::CompactionBegin, "mm_compaction_begin"),
        (Self::CompactionEnd, "mm_compaction_end"),
        (Self::IsolateMigratePages, PageWork::IsolateMigratePages.event()),
        (Self::IsolateFreePages, PageWork::IsolateFreePages.event()),
        (Self::FastIsolateFreePages, PageWork::FastIsolateFreePages.event()),
        (Self::MigratePages, PageWork::MigratePages.event()),
        (Self::DirectReclaimBegin, "mm_vmscan_direct_reclaim_begin"),
        (Self::DirectReclaimEnd, PageWork::DirectReclaim.event()),
        (Self::ShrinkInactive, PageWork::ShrinkInactive.event()),
        (Self::KswapdWake, "mm_vmscan_kswapd_wake"),
        (Self::KswapdSleep, "mm_vmscan_kswapd_sleep"),
        (Self::TestPagesIsolated, PageWork::TestIsolated.event()),
        (Self::CmaAlloc, PageWork::CmaAlloc.event()),
        (Self::CmaRelease, PageWork::CmaRelease.event()),
        (Self::Ending, "ending"),
    ];

    pub(crate) const fn new(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Occupancy,
            1 => Self::Alloc,
            2 => Self::Free,
            3 => Self::ExtFrag,
            4 => Self::ZoneLocked,
            5 => Self::PcpuDrain,
            6 => Self::Lost,
            7 => Self::CompactionBegin,
            8 => Self::CompactionEnd,
            9 => Self::IsolateMigratePages,
            10 => Self::IsolateFreePages,
            11 => Self::FastIsolateFreePages,
            12 => Self::MigratePages,
            13 => Self::DirectReclaimBegin,
            14 => Self::DirectReclaimEnd,
            15 => Self::ShrinkInactive,
            16 => Self::KswapdWake,
            17 => Self::KswapdSleep,
            18 => Self::TestPagesIsolated,
            19 => Self::CmaAlloc,
            20 => Self::CmaRelease,
            255 => Self::Ending,
            _ => return None,
        })
    }

    /// The kind of a row about work on pages.
    pub(crate) const fn of_work(work: PageWork) -> Self {
        match work {
            PageWork::IsolateMigratePages => Self::IsolateMigratePages,
            PageWork::IsolateFreePages => Self::IsolateFreePages,
            PageWork::FastIsolateFreePages => Self::FastIsolateFreePages,
            PageWork::MigratePages => Self::MigratePages,
            PageWork::DirectReclaim => Self::DirectReclaimEnd,
            PageWork::ShrinkInactive => Self::ShrinkInactive,
            PageWork::TestIsolated => Self::TestPagesIsolated,
            PageWork::CmaAlloc => Self::CmaAlloc,
            PageWork::CmaRelease => Self::CmaRelease,
        }
    }

    /// The work that a row of this kind is about.
    pub(crate) fn work(self) -> Option<PageWork> {
        PageWork::ALL.into_iter().find(|&work| Self::of_work(work) == self)
    }
}

/// A column, by its position in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Column {
    TimeNs,
    Cpu,
    Kind,
    Pfn,
    Order,
    Migratetype,
    Gfp,
    Pid,
    Count,
    FallbackOrder,
    FallbackMigratetype,
    ChangeOwnership,
    PercpuRefill,
    FrameUse,
    Note,
    Obtained,
}

/// How many columns there are.
pub(crate) const COLUMNS: usize = 16;

/// How many columns version 1 had: the first ones.
pub(crate) const COLUMNS_OF_VERSION_1: usize = 15;

impl Column {
    pub(crate) const ALL: [Self; COLUMNS] = [
        Self::TimeNs,
        Self::Cpu,
        Self::Kind,
        Self::Pfn,
        Self::Order,
        Self::Migratetype,
        Self::Gfp,
        Self::Pid,
        Self::Count,
        Self::FallbackOrder,
        Self::FallbackMigratetype,
        Self::ChangeOwnership,
        Self::PercpuRefill,
        Self::FrameUse,
        Self::Note,
        Self::Obtained,
    ];

    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::TimeNs => "time_ns",
            Self::Cpu => "cpu",
            Self::Kind => "kind",
            Self::Pfn => "pfn",
            Self::Order => "order",
            Self::Migratetype => "migratetype",
            Self::Gfp => "gfp",
            Self::Pid => "pid",
            Self::Count => "count",
            Self::FallbackOrder => "fallback_order",
            Self::FallbackMigratetype => "fallback_migratetype",
            Self::ChangeOwnership => "change_ownership",
            Self::PercpuRefill => "percpu_refill",
            Self::FrameUse => "frame_use",
            Self::Note => "note",
            Self::Obtained => "obtained",
        }
    }

    pub(crate) const fn data_type(self) -> DataType {
        match self {
            Self::TimeNs | Self::Pfn | Self::Count | Self::Obtained => DataType::UInt64,
            Self::Gfp => DataType::UInt32,
            Self::Pid => DataType::Int32,
            Self::Cpu => DataType::UInt16,
            Self::ChangeOwnership | Self::PercpuRefill => DataType::Boolean,
            Self::Note => DataType::Utf8,
            Self::Kind
            | Self::Order
            | Self::Migratetype
            | Self::FallbackOrder
            | Self::FallbackMigratetype
            | Self::FrameUse => DataType::UInt8,
        }
    }

    pub(crate) const fn is_nullable(self) -> bool {
        matches!(self, Self::Pfn | Self::Note)
    }

    /// Bytes that `rows` values take, or `None` for text.
    pub(crate) fn data_bytes(self, rows: usize) -> Option<usize> {
        match self.data_type() {
            DataType::UInt64 => Some(rows * 8),
            DataType::UInt32 | DataType::Int32 => Some(rows * 4),
            DataType::UInt16 => Some(rows * 2),
            DataType::UInt8 => Some(rows),
            DataType::Boolean => Some(rows.div_ceil(8)),
            _ => None,
        }
    }
}

/// The Arrow schema of a trace, metadata included.
pub(crate) fn schema(origin: &Origin, start: &Snapshot) -> Result<Schema, serde_json::Error> {
    let fields: Vec<_> =
        Column::ALL.iter().map(|c| Field::new(c.name(), c.data_type(), c.is_nullable())).collect();
    let kinds = RowKind::ALL.iter().map(|&(kind, name)| (kind as u8, name));
    let types = Migratetype::ALL.iter().map(|&t| (t as u8, t.name()));
    let uses = FrameUse::ALL.iter().map(|&u| (u as u8, frame_use_name(u)));
    let bits = GfpFlags::all().iter_names().map(|(name, flag)| (flag.bits().trailing_zeros() as u8, name));
    let metadata = [
        (KEY_FORMAT, FORMAT_NAME.to_owned()),
        (KEY_VERSION, FORMAT_VERSION.to_string()),
        (KEY_KINDS, code_table(kinds)?),
        (KEY_MIGRATETYPES, code_table(types)?),
        (KEY_FRAME_USES, code_table(uses)?),
        (KEY_GFP_BITS, code_table(bits)?),
        (KEY_ORIGIN, serde_json::to_string(origin)?),
        (KEY_START, serde_json::to_string(start)?),
    ];
    let metadata = metadata.into_iter().map(|(key, value)| (key.to_owned(), value));
    Ok(Schema::new_with_metadata(fields, metadata.collect::<arrow_schema::Metadata>()))
}

fn code_table(codes: impl Iterator<Item = (u8, &'static str)>) -> Result<String, serde_json::Error> {
    serde_json::to_string(&codes.collect::<BTreeMap<_, _>>())
}

const fn frame_use_name(used_for: FrameUse) -> &'static str {
    match used_for {
        FrameUse::Absent => "absent",
        FrameUse::Free => "free",
        FrameUse::Movable => "movable",
        FrameUse::Slab => "slab",
        FrameUse::PageTable => "page_table",
        FrameUse::Hugetlb => "hugetlb",
        FrameUse::Unevictable => "unevictable",
        FrameUse::Offline => "offline",
        FrameUse::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_positions_agree() {
        for (position, column) in Column::ALL.into_iter().enumerate() {
            assert_eq!(column.index(), position);
        }
        for (kind, name) in RowKind::ALL {
            assert_eq!(RowKind::new(kind as u8), Some(kind), "{name}");
        }
        assert_eq!(RowKind::new(21), None);
        for work in PageWork::ALL {
            assert_eq!(RowKind::of_work(work).work(), Some(work));
        }
        assert_eq!(RowKind::Lost.work(), None);
    }
}
