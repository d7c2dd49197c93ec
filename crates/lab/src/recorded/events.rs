//! The measures of the recorded machine.

use std::collections::HashSet;

use freehold::GfpFlags;
use freehold_trace::{EventKind, Snapshot};
use serde::Serialize;

use super::counters::RecordedCounters;
use super::work::RecordedWork;
use crate::counts::CountsByOrder;
use crate::trace::Trace;

/// Returns true if a request of the size of a pageblock is for a huge page. Other requests of that size do not have
/// such flags.
pub(crate) fn is_for_huge_page(gfp: GfpFlags) -> bool {
    gfp.contains(GfpFlags::MOVABLE | GfpFlags::COMP | GfpFlags::NOMEMALLOC)
}

/// The measures of the recorded machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Recorded {
    /// Requests that failed, by order.
    pub failures: CountsByOrder,
    /// Requests answered from another type's block whose pageblock changed its type.
    pub claims: u64,
    /// Requests answered from another type's block that kept its type.
    pub steals: u64,
    /// Pages drained from per-CPU lists; `None` if the event was not recorded.
    pub drained_pages: Option<u64>,
    /// Blocks moved to per-CPU lists by refills; `None` if the event was not recorded.
    pub refilled_blocks: Option<u64>,
    /// Refills of per-CPU lists: runs of blocks that a CPU took without another event of that CPU in between. `None`
    /// if the event was not recorded.
    pub refills: Option<u64>,
    /// Pages on all per-CPU lists at the end; `None` if the end was not recorded.
    pub percpu_pages_at_end: Option<u64>,
    /// True if the trace has a fallback event.
    pub has_fallbacks: bool,
    /// The counters of reclaim and compaction.
    pub events: RecordedCounters,
    /// The events of compaction, reclaim and isolation; `None` if they were not recorded.
    pub work: Option<RecordedWork>,
}

/// Returns the pages on all per-CPU lists in a snapshot; `None` if it has no zones.
pub(crate) fn percpu_pages(snapshot: &Snapshot) -> Option<u64> {
    let sets = snapshot.zones.iter().flat_map(|zone| &zone.pagesets);
    let pages = sets.fold(0_u64, |sum, set| sum.saturating_add(set.count));
    (!snapshot.zones.is_empty()).then_some(pages)
}

impl Recorded {
    /// Counts the events of a trace.
    ///
    /// [`Recorded::has_fallbacks`] is false if there was no fallback, and also if the fallback event was not enabled.
    pub fn new(trace: Trace<'_>) -> Self {
        let end = trace.ending.and_then(|ending| ending.snapshot.as_ref());
        let pages = end.and_then(percpu_pages);
        let events = end.map(|end| RecordedCounters::between(&trace.start.vmstat, &end.vmstat));
        let (events, work) = (events.unwrap_or_default(), RecordedWork::new(trace));
        let mut recorded = Self { percpu_pages_at_end: pages, events, work, ..Self::default() };
        // The CPUs in a refill. A fallback is a part of the refill.
        let mut refilling = HashSet::new();
        for event in trace.events.iter() {
            let is_refill = matches!(event.kind, EventKind::ZoneLocked { percpu_refill: true, .. });
            if is_refill && refilling.insert(event.cpu) {
                recorded.refills = Some(recorded.refills.unwrap_or(0) + 1);
            } else if !is_refill && !matches!(event.kind, EventKind::ExtFrag { .. }) {
                refilling.remove(&event.cpu);
            }
            match event.kind {
                EventKind::Alloc { pfn: None, order, .. } => *recorded.failures.widened(order) += 1,
                EventKind::ExtFrag { change_ownership, .. } => {
                    recorded.has_fallbacks = true;
                    if change_ownership {
                        recorded.claims += 1;
                    } else {
                        recorded.steals += 1;
                    }
                }
                EventKind::PcpuDrain { order, .. } => {
                    recorded.drained_pages = Some(recorded.drained_pages.unwrap_or(0) + order.pages());
                }
                EventKind::ZoneLocked { percpu_refill: true, .. } => {
                    recorded.refilled_blocks = Some(recorded.refilled_blocks.unwrap_or(0) + 1);
                }
                _ => {}
            }
        }
        recorded
    }
}

#[cfg(test)]
mod tests {
    use freehold::{Migratetype, Order, Pfn};
    use freehold_trace::{Event, EventLog, Origin};

    use super::*;

    #[test]
    fn consecutive_blocks_of_a_cpu_are_one_refill() {
        let (pfn, order, migratetype) = (Pfn(9), Order::ZERO, Migratetype::Movable);
        let taken = |percpu_refill| EventKind::ZoneLocked { pfn, order, migratetype, percpu_refill };
        let fallback = EventKind::ExtFrag {
            pfn,
            order,
            fallback_order: order,
            migratetype,
            fallback_migratetype: Migratetype::Unmovable,
            change_ownership: false,
        };
        let freed = EventKind::Free { pfn, order };
        let events: EventLog = [
            (0, taken(true)),
            (0, fallback),
            (1, taken(true)),
            (0, taken(true)),
            (1, freed),
            (0, taken(true)),
            (1, taken(true)),
            (0, freed),
            (0, taken(false)),
            (0, taken(true)),
        ]
        .into_iter()
        .map(|(cpu, kind)| Event { time_ns: 0, cpu, pid: 1, kind })
        .collect();
        let (origin, start) = (Origin::default(), Snapshot::default());
        let recorded = Recorded::new(Trace { origin: &origin, start: &start, events: &events, ending: None });
        assert_eq!((recorded.refills, recorded.refilled_blocks), (Some(4), Some(6)));
        let none = EventLog::default();
        let recorded = Recorded::new(Trace { origin: &origin, start: &start, events: &none, ending: None });
        assert_eq!(recorded.refills, None);
    }
}
