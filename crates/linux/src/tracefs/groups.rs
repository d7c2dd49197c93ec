//! Which events are recorded besides allocations and frees.

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
pub(crate) const COMPACTION_MARKS: [&str; 2] = ["mm_compaction_begin", "mm_compaction_end"];

/// The events that are recorded whether the kernel has them or not, as folder and name; those of `kmem`, which
/// every kernel must have, are not among them.
pub(crate) fn optional_events(groups: &[EventGroup]) -> Vec<(&'static str, &'static str)> {
    let marks = COMPACTION_MARKS.iter().map(|&event| ("compaction", event));
    let chosen = EventGroup::ALL.into_iter().filter(|group| groups.contains(group));
    let chosen = chosen.flat_map(|group| group.events().iter().map(move |&event| (group.folder(), event)));
    marks.chain(chosen).collect()
}
