//! The machine's compaction, reclaim and isolation, by their events.

use std::collections::HashMap;

use freehold_trace::{Event, EventKind, PageWork};
use serde::Serialize;

use crate::trace::Trace;

/// The machine's compaction, reclaim and isolation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RecordedWork {
    /// Compactions, one for each zone.
    pub compactions: u64,
    /// Pages that the migrate scanner scanned. Linux counterpart: `compact_migrate_scanned`.
    pub migrate_scanned: u64,
    /// Pages that the migrate scanner isolated.
    pub migrate_taken: u64,
    /// Pages that the free scanner scanned. Linux counterpart: `compact_free_scanned`.
    pub free_scanned: u64,
    /// Pages that the free scanner isolated.
    pub free_taken: u64,
    /// Pages that the free scanner took directly from the free lists.
    pub fast_free_taken: u64,
    /// Pages that compaction moved.
    pub migrated: u64,
    /// Pages that compaction could not move.
    pub not_migrated: u64,
    /// Requests that reclaimed directly.
    pub direct_reclaims: u64,
    /// The time of direct reclaim, for requests with a recorded start and end.
    ///
    /// Units: nanoseconds.
    pub direct_reclaim_ns: u64,
    /// The longest time of direct reclaim for one request.
    ///
    /// Units: nanoseconds.
    pub longest_direct_reclaim_ns: u64,
    /// Pages that direct reclaim reclaimed.
    pub direct_reclaimed: u64,
    /// Pages of inactive lists that kswapd and direct reclaim scanned.
    pub inactive_scanned: u64,
    /// Pages of inactive lists that kswapd and direct reclaim reclaimed.
    pub inactive_reclaimed: u64,
    /// Wake-ups of kswapd.
    pub kswapd_wakes: u64,
    /// Ranges whose isolation was attempted.
    pub ranges_tested: u64,
    /// Ranges that were isolated.
    pub ranges_isolated: u64,
    /// Allocations from CMA areas.
    pub cma_allocs: u64,
    /// Allocations from CMA areas that failed.
    pub cma_failed: u64,
}

impl RecordedWork {
    /// Counts the events of a trace; `None` if it has no such events.
    pub fn new(trace: Trace<'_>) -> Option<Self> {
        let mut work = Self::default();
        let mut reclaiming = HashMap::new();
        for event in trace.events.iter() {
            work.add(&event, &mut reclaiming);
        }
        let steps = Self { compactions: 0, ..work };
        let recorded = ["compaction:mm_compaction_migratepages", "vmscan:mm_vmscan_kswapd_wake"];
        let is_recorded = trace.origin.events.iter().any(|event| recorded.contains(&event.as_str()));
        (is_recorded || steps != Self::default()).then_some(work)
    }

    /// Adds an event. `reclaiming` has the time at which each task started to reclaim.
    fn add(&mut self, event: &Event, reclaiming: &mut HashMap<i32, u64>) {
        match event.kind {
            EventKind::CompactionBegin => self.compactions += 1,
            EventKind::KswapdWake { .. } => self.kswapd_wakes += 1,
            EventKind::DirectReclaimBegin { .. } => {
                self.direct_reclaims += 1;
                reclaiming.insert(event.pid, event.time_ns);
            }
            EventKind::Work { work, pages, obtained } => {
                if work == PageWork::DirectReclaim
                    && let Some(since_ns) = reclaiming.remove(&event.pid)
                {
                    let took_ns = event.time_ns.saturating_sub(since_ns);
                    self.direct_reclaim_ns = self.direct_reclaim_ns.saturating_add(took_ns);
                    self.longest_direct_reclaim_ns = self.longest_direct_reclaim_ns.max(took_ns);
                }
                self.add_work(work, pages, obtained);
            }
            _ => {}
        }
    }

    fn add_work(&mut self, work: PageWork, pages: u64, obtained: u64) {
        let add = |sum: &mut u64, number: u64| *sum = sum.saturating_add(number);
        let missing = pages.saturating_sub(obtained);
        match work {
            PageWork::IsolateMigratePages => {
                add(&mut self.migrate_scanned, pages);
                add(&mut self.migrate_taken, obtained);
            }
            PageWork::IsolateFreePages => {
                add(&mut self.free_scanned, pages);
                add(&mut self.free_taken, obtained);
            }
            PageWork::FastIsolateFreePages => add(&mut self.fast_free_taken, obtained),
            PageWork::MigratePages => {
                add(&mut self.migrated, obtained);
                add(&mut self.not_migrated, missing);
            }
            PageWork::DirectReclaim => add(&mut self.direct_reclaimed, obtained),
            PageWork::ShrinkInactive => {
                add(&mut self.inactive_scanned, pages);
                add(&mut self.inactive_reclaimed, obtained);
            }
            PageWork::TestIsolated => {
                self.ranges_tested += 1;
                self.ranges_isolated += u64::from(missing == 0);
            }
            PageWork::CmaAlloc => {
                self.cma_allocs += 1;
                self.cma_failed += u64::from(obtained == 0);
            }
            PageWork::CmaRelease => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use freehold::{GfpFlags, Order};
    use freehold_trace::{Origin, Snapshot};

    use super::*;

    fn recorded(kinds: &[EventKind], origin: &Origin) -> Option<RecordedWork> {
        let event = |(at, &kind)| Event { time_ns: 100 * at as u64, cpu: 0, pid: 7, kind };
        let events = kinds.iter().enumerate().map(event).collect();
        RecordedWork::new(Trace { origin, start: &Snapshot::default(), events: &events, ending: None })
    }

    #[test]
    fn events_of_compaction_and_reclaim_are_summed() {
        let work = |work, pages, obtained| EventKind::Work { work, pages, obtained };
        let begin = EventKind::DirectReclaimBegin { order: Order::ZERO, gfp: GfpFlags::empty() };
        let sums = recorded(
            &[
                begin,
                EventKind::CompactionBegin,
                work(PageWork::IsolateMigratePages, 512, 32),
                work(PageWork::MigratePages, 32, 30),
                work(PageWork::DirectReclaim, 0, 44),
                work(PageWork::DirectReclaim, 0, 1),
                work(PageWork::TestIsolated, 1024, 1024),
                work(PageWork::CmaAlloc, 8, 0),
            ],
            &Origin::default(),
        );
        let sums = sums.expect("events of compaction and reclaim");
        assert_eq!((sums.migrate_scanned, sums.migrated, sums.not_migrated), (512, 30, 2));
        assert_eq!((sums.direct_reclaims, sums.direct_reclaim_ns, sums.direct_reclaimed), (1, 400, 45));
        assert_eq!((sums.ranges_isolated, sums.cma_failed, sums.compactions), (1, 1, 1));
    }

    #[test]
    fn missing_events_are_unknown_not_zero() {
        assert_eq!(recorded(&[EventKind::CompactionBegin], &Origin::default()), None);
        let events = vec!["vmscan:mm_vmscan_kswapd_wake".to_owned()];
        let origin = Origin { events, ..Origin::default() };
        assert_eq!(recorded(&[], &origin), Some(RecordedWork::default()));
    }
}
