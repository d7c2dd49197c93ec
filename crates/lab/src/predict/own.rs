//! The measures of the machine itself in a recording.

use freehold::{MIGRATETYPES, Migratetype};
use freehold_trace::{EventKind, Snapshot};

use super::requests::RequestCounts;
use crate::recorded::{Recorded, is_for_huge_page, percpu_pages};
use crate::start::{RecordedMachine, free_pageblocks};
use crate::trace::Trace;

/// Fallbacks by requested type, then by the type of the found block.
pub(super) type ByPair = [[u64; MIGRATETYPES]; MIGRATETYPES];

/// The measures of the machine itself in a recording; `None` for measures that the recording lacks.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// The counters and events of the machine.
    pub(super) recorded: Recorded,
    /// Whole pageblocks in free blocks at the end.
    pub(super) free_pageblocks: Option<u64>,
    /// Whole pageblocks in free blocks at the start.
    pub(super) free_pageblocks_at_start: Option<u64>,
    /// Pages on all per-CPU lists at the start.
    pub(super) percpu_pages_at_start: Option<u64>,
    /// Fallbacks by pair of types.
    pub(super) fallbacks: Option<ByPair>,
    /// Fallbacks that changed the type of the pageblock (claims), and fallbacks that did not (steals).
    pub(super) claims_and_steals: Option<(u64, u64)>,
    /// Failed requests for huge pages, counted by events.
    pub(super) huge_pages_refused: Option<u64>,
    /// Blocks taken to refill per-CPU lists.
    pub(super) refilled_blocks: Option<u64>,
    /// Refills of per-CPU lists.
    pub(super) refills: Option<u64>,
    /// Pages that left per-CPU lists.
    pub(super) drained_pages: Option<u64>,
    /// The requests of the recording.
    pub(super) request_counts: RequestCounts,
}

impl Own {
    /// Reads the machine's own measures from a recording.
    ///
    /// If events were lost, all counts of events are unknown.
    pub(super) fn new(machine: &RecordedMachine, trace: Trace<'_>) -> Self {
        let recorded = Recorded::new(trace);
        let end = trace.ending.and_then(|ending| ending.snapshot.as_ref());
        let free_in = |snapshot: Option<&Snapshot>| {
            let known = snapshot.filter(|snapshot| !snapshot.pagetypeinfo.zones.is_empty());
            known.map(|snapshot| free_pageblocks(machine, &snapshot.pagetypeinfo))
        };
        let mut own = Self {
            free_pageblocks: free_in(end),
            free_pageblocks_at_start: free_in(Some(trace.start)),
            percpu_pages_at_start: percpu_pages(trace.start),
            ..Self::default()
        };
        let mut pairs = ByPair::default();
        let (mut refused, mut lost) = (0, false);
        trace.events.for_each(|event| match event.kind {
            EventKind::Alloc { pfn, order, gfp, .. } => {
                own.request_counts.add_request(event.cpu, pfn, order);
                let is_refused = pfn.is_none() && order == machine.pageblock_order;
                refused += u64::from(is_refused && is_for_huge_page(gfp));
            }
            EventKind::Free { pfn, order } => own.request_counts.add_free(event.cpu, pfn, order),
            EventKind::ExtFrag { migratetype, fallback_migratetype, .. } => {
                pairs[migratetype.index()][fallback_migratetype.index()] += 1;
            }
            EventKind::Lost { .. } => lost = true,
            _ => {}
        });
        let is_recorded = |name: &str| trace.origin.events.iter().any(|event| event == name);
        if !lost {
            let has_fallbacks = recorded.has_fallbacks || is_recorded("kmem:mm_page_alloc_extfrag");
            own.fallbacks = has_fallbacks.then_some(pairs);
            own.claims_and_steals = has_fallbacks.then_some((recorded.claims, recorded.steals));
            own.huge_pages_refused = Some(refused);
            let or_none = |number: Option<u64>, event: &str| number.or(is_recorded(event).then_some(0));
            own.refilled_blocks = or_none(recorded.refilled_blocks, "kmem:mm_page_alloc_zone_locked");
            own.refills = or_none(recorded.refills, "kmem:mm_page_alloc_zone_locked");
            own.drained_pages = or_none(recorded.drained_pages, "kmem:mm_page_pcpu_drain");
        }
        Self { recorded, request_counts: own.request_counts.without_holders(), ..own }
    }
}

/// Returns every pair of a requested type and another type.
pub(super) fn pairs() -> impl Iterator<Item = (Migratetype, Migratetype)> {
    let wanted = Migratetype::ALL.into_iter();
    let all = wanted.flat_map(|wanted| Migratetype::ALL.map(|found| (wanted, found)));
    all.filter(|(wanted, found)| wanted != found)
}
