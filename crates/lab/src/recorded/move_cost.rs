//! What it costs to move pages, and how many stay where they are after all.

use std::collections::HashMap;

use freehold_trace::{EventKind, PageWork};
use serde::Serialize;

use super::counters::RecordedCounters;
use crate::trace::Trace;

/// The pages that a machine must have moved for its own cost to be told.
const ENOUGH_PAGES: u64 = 1000;

/// Shares of failed moves are parts of so many.
pub(crate) const PARTS: u32 = 1024;

/// What it costs to move pages, and how many stay where they are after all.
///
/// Linux counterpart: the time between `mm_compaction_begin` and `mm_compaction_end`, and `pgmigrate_fail`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct MoveCost {
    /// The time on the clock that moving a page takes, the search for it and for its new place included. Units:
    /// nanoseconds.
    pub ns_a_page: u64,
    /// Of 1024 pages that are to be moved, those that stay: somebody holds on to them.
    pub fails_of_1024: u32,
    /// True if the recorded machine moved enough to tell.
    pub is_recorded: bool,
}

impl Default for MoveCost {
    /// About the medians of the eight recordings in `traces` whose machines moved enough, virtual machines with 2 processors
    /// (AMD EPYC and Intel Xeon) and Linux 6.18: 1.7 to 5.5 µs a page, of which 0.2 to 12.2 % stayed.
    fn default() -> Self {
        Self { ns_a_page: 4_000, fails_of_1024: 61, is_recorded: false }
    }
}

impl MoveCost {
    /// Reads the cost from the compactions of a trace. Where it tells too little, the cost is that of other machines.
    pub(crate) fn new(trace: Trace<'_>) -> Self {
        // Of each task that compacts: since when, and the pages that moved and that stayed.
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
                // The end of a compaction may be among the lost events.
                EventKind::Lost { .. } => begun.clear(),
                _ => {}
            }
        }
        if moved == 0
            && let Some(end) = trace.ending.and_then(|ending| ending.snapshot.as_ref())
        {
            // Without the events of each move, the counters of all moves tell.
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
    fn the_time_of_compactions_goes_to_the_pages_they_tried_to_move() {
        // Two compactions of 2 ms each; what happens between them is not theirs.
        let of = cost(&[BEGIN, moves(1500, 1000), END, moves(0, 0), BEGIN, moves(500, 500), END], [0, 0]);
        assert_eq!(of, MoveCost { ns_a_page: 2000, fails_of_1024: 256, is_recorded: true });
        // Without events of each move, its counters tell.
        let of = cost(&[BEGIN, END], [3000, 1000]);
        assert_eq!(of, MoveCost { ns_a_page: 250, fails_of_1024: 256, is_recorded: true });
    }

    #[test]
    fn few_pages_tell_nothing() {
        assert_eq!(cost(&[BEGIN, moves(999, 999), END], [0, 0]), MoveCost::default());
        assert_eq!(cost(&[moves(5000, 5000)], [0, 0]), MoveCost::default(), "no time is known");
        let lost = cost(&[BEGIN, EventKind::Lost { count: 1 }, moves(5000, 5000), END], [0, 0]);
        assert!(!lost.is_recorded, "when it ended is lost");
    }
}
