//! The trace events that Freehold knows, by Linux's names.

/// Which events are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// Allocations, frees and fallbacks: all that a replay needs.
    #[default]
    Requests,
    /// These and the traffic between per-CPU lists and free lists.
    Lists,
}

impl Detail {
    /// The events' names below `events/kmem`.
    pub fn events(self) -> &'static [&'static str] {
        match self {
            Self::Requests => &KMEM[..3],
            Self::Lists => &KMEM,
        }
    }
}

/// The events of `kmem`, those that a replay needs first.
const KMEM: [&str; 5] = [
    "mm_page_alloc",
    "mm_page_free",
    "mm_page_alloc_extfrag",
    "mm_page_alloc_zone_locked",
    "mm_page_pcpu_drain",
];

/// A group of trace events besides those of `kmem`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventGroup {
    /// What the scanners of compaction take, and what is moved.
    Compaction,
    /// Reclaim: direct, by kswapd, and the scans of inactive lists.
    Vmscan,
    /// Ranges that are to be isolated.
    PageIsolation,
    /// Allocations from CMA areas.
    Cma,
}

impl EventGroup {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Compaction, Self::Vmscan, Self::PageIsolation, Self::Cma];

    /// The group's folder below `events`.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::Vmscan => "vmscan",
            Self::PageIsolation => "page_isolation",
            Self::Cma => "cma",
        }
    }

    /// The events' names.
    pub const fn events(self) -> &'static [&'static str] {
        match self {
            Self::Compaction => &[
                "mm_compaction_isolate_migratepages",
                "mm_compaction_isolate_freepages",
                "mm_compaction_fast_isolate_freepages",
                "mm_compaction_migratepages",
            ],
            Self::Vmscan => &[
                "mm_vmscan_direct_reclaim_begin",
                "mm_vmscan_direct_reclaim_end",
                "mm_vmscan_lru_shrink_inactive",
                "mm_vmscan_kswapd_wake",
                "mm_vmscan_kswapd_sleep",
            ],
            Self::PageIsolation => &["test_pages_isolated"],
            Self::Cma => &["cma_alloc_finish", "cma_release"],
        }
    }
}

/// The events that tell when a task compacts, which a replay needs; kernels without compaction have none.
const COMPACTION_MARKS: [&str; 2] = ["mm_compaction_begin", "mm_compaction_end"];

/// The events that a recording goes without where the kernel lacks them, as folder and name: all but those of
/// `kmem`.
pub(super) fn optional_events(groups: &[EventGroup]) -> Vec<(&'static str, &'static str)> {
    let marks = COMPACTION_MARKS.iter().map(|&event| ("compaction", event));
    let chosen = EventGroup::ALL.into_iter().filter(|group| groups.contains(group));
    let chosen = chosen.flat_map(|group| group.events().iter().map(move |&event| (group.folder(), event)));
    marks.chain(chosen).collect()
}

/// Every group of events that a trace can hold.
pub(super) fn every_group() -> impl Iterator<Item = &'static str> {
    ["kmem"].into_iter().chain(EventGroup::ALL.into_iter().map(EventGroup::folder))
}

/// Every event that a trace can hold, the commonest first.
pub(super) fn every_event() -> impl Iterator<Item = &'static str> {
    let groups = EventGroup::ALL.into_iter().flat_map(|group| group.events().iter().copied());
    KMEM.into_iter().chain(COMPACTION_MARKS).chain(groups)
}
