//! Machines with large memory holes are replayed without the holes.

use freehold::Pfn;
use freehold_lab::workload::{Generated, Synthetic};
use freehold_lab::{Lab, LabError, Options, SectionSearch, Trace};
use freehold_trace::{Event, EventKind, EventLog, FrameUse, Run, Snapshot};

/// The number of pages in a section.
const SECTION: u64 = 1 << 15;

/// The distance between sections of the spread machine, in sections: 2^18 pages of memory span 2^34 pages, which is
/// 64 TiB.
const APART: u64 = 1 << 16;

fn made() -> Generated {
    Synthetic { events: 60_000, pages: 1 << 18, ..Synthetic::default() }.generate().expect("a valid workload")
}

/// Returns the frame of the spread machine for a frame of the small machine.
fn spread(pfn: u64) -> u64 {
    (pfn / SECTION) * APART * SECTION + pfn % SECTION
}

fn spread_snapshot(snapshot: &Snapshot) -> Snapshot {
    let mut snapshot = snapshot.clone();
    for zone in &mut snapshot.zones {
        let last = spread(zone.start_pfn + zone.spanned - 1);
        zone.start_pfn = spread(zone.start_pfn);
        zone.spanned = last + 1 - zone.start_pfn;
    }
    let mut occupancy = Vec::new();
    for run in std::mem::take(&mut snapshot.occupancy) {
        let (mut at, end) = (run.start.0, run.start.0 + run.pages);
        while at < end {
            let pages = (SECTION - at % SECTION).min(end - at);
            occupancy.push(Run { start: Pfn(spread(at)), pages, used_for: run.used_for });
            at += pages;
        }
    }
    snapshot.occupancy = occupancy;
    snapshot
}

fn spread_event(mut event: Event) -> Event {
    if let Some(pfn) = event.kind.pfn_mut() {
        *pfn = Pfn(spread(pfn.0));
    }
    event
}

/// Returns the trace as recorded on the spread machine.
fn spread_out(made: &Generated) -> Generated {
    let mut ending = made.ending.clone();
    ending.snapshot = ending.snapshot.as_ref().map(spread_snapshot);
    Generated {
        origin: made.origin.clone(),
        start: spread_snapshot(&made.start),
        events: made.events.iter().map(spread_event).collect(),
        ending,
    }
}

fn without_holes(trace: &Generated) -> Generated {
    let mut search = SectionSearch::new(&trace.start).expect("large holes");
    search.events(&trace.events.iter().collect::<Vec<_>>());
    let mut sections = search.finish();
    let (mut start, mut ending) = (trace.start.clone(), trace.ending.clone());
    sections.start(&mut start);
    sections.ending(&mut ending);
    let events: EventLog = trace.events.iter().map(|event| sections.event(event)).collect();
    for (one, other) in trace.events.iter().zip(events.iter()).take(1000) {
        if let (EventKind::Free { pfn: recorded, .. }, EventKind::Free { pfn, .. }) = (one.kind, other.kind) {
            assert_eq!(sections.recorded(pfn), recorded);
        }
    }
    assert_eq!(sections.spanned().0, trace.start.zones.iter().map(|zone| zone.spanned).sum::<u64>());
    Generated { origin: trace.origin.clone(), start, events, ending }
}

/// Returns the measures of a replay, without frame numbers.
fn measures(trace: Trace<'_>) -> freehold_lab::Measures {
    let lab = Lab::new(trace).expect("a machine that can be replayed");
    let options = Options { runs: 1, ..Options::default() };
    let replay = lab.replay(&freehold::Era::Linux6_12.into(), options).expect("a replay");
    let mut measures = replay.measures.without_timing();
    let parting = measures.agreement.first_difference.as_mut().expect("some frame differs");
    // Frames of the second zone have other numbers.
    (parting.machine_pfn, parting.replay_pfn) = (0, None);
    measures
}

#[test]
fn a_span_of_64_tib_is_replayed_by_its_present_memory() {
    let made = made();
    let large = spread_out(&made);
    let spanned: u64 = large.start.zones.iter().map(|zone| zone.spanned).sum();
    assert!(spanned > 1 << 33, "{spanned}");
    assert!(matches!(Lab::new(large.trace()), Err(LabError::TooLarge { .. })));
    let small = without_holes(&large);
    assert!(small.start.zones.iter().map(|zone| zone.spanned).sum::<u64>() <= 1 << 18);
    assert!(measures(small.trace()) == measures(made.trace()), "equal except for frame numbers");
}

#[test]
fn memory_without_large_holes_keeps_its_frame_numbers() {
    let mut start = made().start;
    assert!(SectionSearch::new(&start).is_none(), "a small machine");
    start.zones[1].spanned = 1 << 23;
    start.zones[1].present = 1 << 23;
    let (pfn, pages) = (Pfn(start.zones[1].start_pfn), 1 << 23);
    start.occupancy = vec![Run { start: pfn, pages, used_for: FrameUse::Free }];
    assert!(SectionSearch::new(&start).is_none(), "no holes");
    start.occupancy[0].pages = 1 << 20;
    assert!(SectionSearch::new(&start).is_some());
    start.occupancy.clear();
    assert!(SectionSearch::new(&start).is_none(), "all of the span is present");
}
