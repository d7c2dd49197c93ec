//! What the machine itself did, as far as its trace tells.

use freehold::GfpFlags;
use freehold_trace::EventKind;
use serde::Serialize;

use super::counters::RecordedCounters;
use super::work::RecordedWork;
use crate::counts::ByOrder;
use crate::trace::Trace;

/// Returns true if a request of the size of a pageblock is for a huge page: of these requests, no others have such
/// flags.
pub(crate) fn is_for_huge_page(gfp: GfpFlags) -> bool {
    gfp.contains(GfpFlags::MOVABLE | GfpFlags::COMP | GfpFlags::NOMEMALLOC)
}

/// What the machine itself did, as far as its trace tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Recorded {
    /// Requests that failed, by order.
    pub failures: ByOrder,
    /// Requests answered from another type's block whose pageblock changed its type.
    pub claims: u64,
    /// Requests answered from another type's block that kept its type.
    pub steals: u64,
    /// Pages that left per-CPU lists; `None` where the event was not recorded.
    pub drained_pages: Option<u64>,
    /// Blocks taken to refill per-CPU lists; `None` where the event was not recorded.
    pub refilled_blocks: Option<u64>,
    /// Pages on all per-CPU lists at the end; `None` where the end was not recorded.
    pub percpu_pages_at_end: Option<u64>,
    /// True if the trace has a fallback event.
    pub has_fallbacks: bool,
    /// What the machine's own counters say of reclaim and compaction.
    pub events: RecordedCounters,
    /// What compaction, reclaim and isolation did; `None` where their events were not recorded.
    pub work: Option<RecordedWork>,
}

impl Recorded {
    /// Counts the events of a trace.
    ///
    /// If a trace has no fallback event, either nothing fell back or the event was switched off:
    /// [`Recorded::has_fallbacks`] is false in both cases.
    pub fn new(trace: Trace<'_>) -> Self {
        let end = trace.ending.and_then(|ending| ending.snapshot.as_ref());
        let zones = end.map(|end| &end.zones).filter(|zones| !zones.is_empty());
        let pages = zones.map(|zones| {
            zones.iter().flat_map(|zone| &zone.pagesets).fold(0_u64, |sum, set| sum.saturating_add(set.count))
        });
        let events = end.map(|end| RecordedCounters::between(&trace.start.vmstat, &end.vmstat));
        let (events, work) = (events.unwrap_or_default(), RecordedWork::new(trace));
        let mut recorded = Self { percpu_pages_at_end: pages, events, work, ..Self::default() };
        for event in trace.events.iter() {
            match event.kind {
                EventKind::Alloc { pfn: None, order, .. } => recorded.failures[order.index()] += 1,
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
