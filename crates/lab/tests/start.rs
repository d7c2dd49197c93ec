//! The start of a replay does not depend on later events.

use crate::common::recorded;
use freehold_lab::workload::Synthetic;
use freehold_lab::{Lab, Start, Trace};
use freehold_trace::{EventLog, FrameUse};

/// Divisors of the number of events, for cut traces that must have the same start as the whole trace.
const PARTS: [usize; 3] = [2, 10, 100];

/// Asserts that a cut trace has the same free frames and pageblock types at the start as the whole trace.
///
/// Later events may decide which pages in use were on lists, and which pages were one block: no other data contains
/// this. All cuts are longer than the reading of the snapshot, whose events belong to the snapshot.
fn assert_starts_alike(name: &str, trace: Trace<'_>) {
    let start = |events: &EventLog| Lab::new(Trace { events, ..trace }).expect("a valid trace").start;
    let whole = start(trace.events);
    let reading = trace.events.iter().filter(|event| event.time_ns <= trace.start.time_ns).count();
    for part in PARTS {
        let length = (trace.events.len() / part).max(reading);
        let cut = start(&trace.events.iter().take(length).collect());
        assert!(whole.block_types == cut.block_types, "{name}: types of pageblocks, cut to {length} events");
        assert!(free_frames(&whole) == free_frames(&cut), "{name}: free frames, cut to {length} events");
        assert_eq!(whole.report.fit, cut.report.fit, "{name}: cut to {length} events");
    }
}

fn free_frames(start: &Start) -> Vec<Vec<bool>> {
    let zones = start.occupancy.zones.iter();
    zones.map(|frames| frames.iter().map(|&frame| frame == FrameUse::Free).collect()).collect()
}

#[test]
fn cut_recorded_traces_have_the_same_start() {
    // Memory shortage, enough memory, a long reading of the snapshot, and huge pages.
    for name in ["file-churn-3", "database", "database-3", "thp-churn-2"] {
        let loaded = recorded(name);
        assert_starts_alike(name, loaded.trace());
    }
}

#[test]
fn cut_generated_traces_have_the_same_start() {
    let made = Synthetic { events: 40_000, ..Synthetic::default() }.generate().expect("a trace");
    assert_starts_alike("synthetic", made.trace());
}

#[test]
fn free_frames_at_the_start_are_those_of_the_snapshot() {
    let loaded = recorded("database-3");
    let lab = Lab::new(loaded.trace()).expect("a valid trace");
    let corrections = lab.start_report().corrections;
    let free = free_frames(&lab.start).iter().flatten().filter(|&&is_free| is_free).count() as u64;
    let shown = loaded.trace().start.occupancy.iter().filter(|run| run.used_for == FrameUse::Free);
    let shown: u64 = shown.map(|run| run.pages).sum();
    assert!(corrections.free_but_used > 0 && corrections.freed_unseen > 0, "{corrections:?}");
    assert_eq!(free, shown + corrections.used_but_free - corrections.free_but_used);
}
