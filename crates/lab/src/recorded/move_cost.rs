//! The cost of moving pages, and the share of moves that fail.

use std::collections::HashMap;

use freehold_trace::{EventKind, PageWork};
use serde::Serialize;

use super::counters::RecordedCounters;
use crate::trace::Trace;

/// The number of moved pages from which the recorded cost is used.
const ENOUGH_PAGES: u64 = 1000;

/// The denominator of the share of failed moves.
pub(crate) const PARTS: u32 = 1024;

/// The cost of moving pages, and the share of moves that fail.
///
/// Linux counterpart: the time between `mm_compaction_begin` and `mm_compaction_end`, and `pgmigrate_fail`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct MoveCost {
    /// The wall-clock time of moving a page, including the search for the page and for its new place.
    ///
    /// Units: nanoseconds.
    pub ns_a_page: u64,
    /// Failed moves of 1024 attempted ones, for example because of additional references to the page.
    pub fails_of_1024: u32,
    /// True if the recorded machine moved enough pages; false for the default.
    pub is_recorded: bool,
}

impl Default for MoveCost {
    /// About the medians of the eight recordings in `traces` whose machines moved enough, virtual machines with 2
    /// processors (AMD EPYC and Intel Xeon) and Linux 6.18: 1.7 to 5.5 µs a page, of which 0.2 to 12.2 % stayed.
    fn default() -> Self {
        Self { ns_a_page: 4_000, fails_of_1024: 61, is_recorded: false }
    }
}

impl MoveCost {
    /// Reads the cost from the compactions of a trace. With too few moves, returns the default, which is the cost on
    /// other machines.
    pub(crate) fn new(trace: Trace<'_>) -> Self {
        // For each compacting task: the start time, and the pages that moved and that did not.
        let mut begun: HashMap<i32, (u64, u64, u64)> = HashMap::new();
        let (mut spent_ns, mut moved, mut stayed) = (0_u64, 0_u64, 0_u64);
        for event in trace.events.iter() {
            match event.kind {
                EventKind::CompactionBegin => {
                    begun.insert(event.pid, (event.time_ns, 0, 0));
                }
                EventKind::CompactionEnd => {
                    if let Some((since_ns, went, remained)) = begun.remove(&event.pid) {
                        spent_ns = spent_ns.saturating_add(event.time_ns.saturating_sub(since_ns));
                        moved = moved.saturating_add(went);
                        stayed = stayed.saturating_add(remained);
                    }
                }
                EventKind::Work { work: PageWork::MigratePages, pages, obtained } => {
                    if let Some((_, went, remained)) = begun.get_mut(&event.pid) {
                        *went = went.saturating_add(obtained);
                        *remained = remained.saturating_add(pages.saturating_sub(obtained));
                    }
                }
                // The event that ends a compaction may be lost.
                EventKind::Lost { .. } => begun.clear(),
                _ => {}
            }
        }
        if moved == 0
            && let Some(end) = trace.ending.and_then(|ending| ending.snapshot.as_ref())
        {
            // Without events of each move, uses the counters of all moves.
            let counted = RecordedCounters::between(&trace.start.vmstat, &end.vmstat);
            moved = counted.pgmigrate_success.unwrap_or(0);
            stayed = counted.pgmigrate_fail.unwrap_or(0);
        }
        if moved < ENOUGH_PAGES || spent_ns == 0 {
            return Self::default();
        }
        let tried = moved.saturating_add(stayed);
        let fails = u128::from(stayed) * u128::from(PARTS) / u128::from(tried);
        Self { ns_a_page: (spent_ns / tried).max(1), fails_of_1024: fails as u32, is_recorded: true }
    }
}

#[cfg(test)]
mod tests {
    use freehold_trace::{Ending, Event, Origin, Snapshot};

    use super::*;

    const BEGIN: EventKind = EventKind::CompactionBegin;
    const END: EventKind = EventKind::CompactionEnd;

    fn moves(pages: u64, obtained: u64) -> EventKind {
        EventKind::Work { work: PageWork::MigratePages, pages, obtained }
    }

    fn cost(kinds: &[EventKind], counted: [u64; 2]) -> MoveCost {
        let event = |(at, &kind)| Event { time_ns: 1_000_000 * at as u64, cpu: 0, pid: 7, kind };
        let events = kinds.iter().enumerate().map(event).collect();
        let of = |values: [u64; 2]| Snapshot {
            vmstat: ["pgmigrate_success", "pgmigrate_fail"]
                .map(str::to_owned)
                .into_iter()
                .zip(values)
                .collect(),
            ..Snapshot::default()
        };
        let ending = Ending { snapshot: Some(of(counted)), ..Ending::default() };
        let trace =
            Trace { origin: &Origin::default(), start: &of([0, 0]), events: &events, ending: Some(&ending) };
        MoveCost::new(trace)
    }

    #[test]
    fn compaction_time_is_divided_by_attempted_moves() {
        // Two compactions of 2 ms each, and moves between them that do not count.
        let of = cost(&[BEGIN, moves(1500, 1000), END, moves(0, 0), BEGIN, moves(500, 500), END], [0, 0]);
        assert_eq!(of, MoveCost { ns_a_page: 2000, fails_of_1024: 256, is_recorded: true });
        // Without events of each move, the counters are used.
        let of = cost(&[BEGIN, END], [3000, 1000]);
        assert_eq!(of, MoveCost { ns_a_page: 250, fails_of_1024: 256, is_recorded: true });
    }

    #[test]
    fn few_moves_give_the_default() {
        assert_eq!(cost(&[BEGIN, moves(999, 999), END], [0, 0]), MoveCost::default());
        assert_eq!(cost(&[moves(5000, 5000)], [0, 0]), MoveCost::default(), "unknown time");
        let lost = cost(&[BEGIN, EventKind::Lost { count: 1 }, moves(5000, 5000), END], [0, 0]);
        assert!(!lost.is_recorded, "lost end of the compaction");
    }
}
