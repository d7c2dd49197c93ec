//! The kinds of rows, and their codes.

use crate::model::PageWork;

/// The kind of a row.
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
    pub(crate) const ALL: [(Self, &'static str); 22] = [
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

    /// Returns the kind of row for work on pages.
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

    /// Returns the work on pages that rows of this kind record, if any.
    pub(super) fn work(self) -> Option<PageWork> {
        PageWork::ALL.into_iter().find(|&work| Self::of_work(work) == self)
    }
}

/// Returns Linux's names of the events that a trace can record, without their groups.
pub fn event_names() -> impl Iterator<Item = &'static str> {
    let is_event = |kind| !matches!(kind, RowKind::Occupancy | RowKind::Lost | RowKind::Ending);
    RowKind::ALL.into_iter().filter(move |&(kind, _)| is_event(kind)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_kinds_agree() {
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
