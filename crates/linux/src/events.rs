//! The trace events that Freehold knows, by Linux's names.

/// The events of `kmem` that are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// Allocations, frees and fallbacks: all that a replay needs.
    #[default]
    Requests,
    /// All of `Requests`, and the traffic between per-CPU lists and free lists.
    Lists,
}

impl Detail {
    /// Returns the events' names below `events/kmem`.
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
    /// What compaction's scanners isolate, and what is migrated.
    Compaction,
    /// Reclaim: direct, by kswapd, and the scans of inactive lists.
    Vmscan,
    /// Ranges that are to be isolated.
    PageIsolation,
    /// Allocations from CMA areas.
    Cma,
}

impl EventGroup {
    /// Every group.
    pub const ALL: [Self; 4] = [Self::Compaction, Self::Vmscan, Self::PageIsolation, Self::Cma];

    /// Returns the group's folder below `events`.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::Vmscan => "vmscan",
            Self::PageIsolation => "page_isolation",
            Self::Cma => "cma",
        }
    }

    /// Returns the events' names.
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

/// The events around a task's compaction, which a replay needs. Kernels without compaction lack them.
const COMPACTION_MARKS: [&str; 2] = ["mm_compaction_begin", "mm_compaction_end"];

/// Returns folder and name of the events that a recording can do without: all but those of `kmem`.
pub(super) fn optional_events(groups: &[EventGroup]) -> Vec<(&'static str, &'static str)> {
    let marks = COMPACTION_MARKS.iter().map(|&event| ("compaction", event));
    let chosen = EventGroup::ALL.into_iter().filter(|group| groups.contains(group));
    let chosen = chosen.flat_map(|group| group.events().iter().map(move |&event| (group.folder(), event)));
    marks.chain(chosen).collect()
}

/// Returns the folder of every group of events that a trace can hold.
pub(super) fn every_group() -> impl Iterator<Item = &'static str> {
    ["kmem"].into_iter().chain(EventGroup::ALL.into_iter().map(EventGroup::folder))
}

/// Returns every event that a trace can hold, the most frequent first.
pub(super) fn every_event() -> impl Iterator<Item = &'static str> {
    let groups = EventGroup::ALL.into_iter().flat_map(|group| group.events().iter().copied());
    KMEM.into_iter().chain(COMPACTION_MARKS).chain(groups)
}
