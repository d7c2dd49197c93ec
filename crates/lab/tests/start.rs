//! The start of a replay does not depend on what happens later.

use crate::common::recorded;
use freehold_lab::workload::Synthetic;
use freehold_lab::{Lab, Start, Trace};
use freehold_trace::{EventLog, FrameUse};

/// The parts of a trace that must start as the whole of it, as divisors of its number of events.
const PARTS: [usize; 3] = [2, 10, 100];

/// Asserts that a trace cut short starts with the free frames and the types of pageblocks of the whole one.
///
/// Which pages in use lay on lists, and which were one block, may depend on later events: nothing else tells it.
/// No cut is shorter than the snapshot took, since the events of that time belong to it.
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
fn a_recorded_trace_cut_short_starts_in_the_same_state() {
    // Memory that runs short, memory to spare, long reading of the snapshot, huge pages.
    for name in ["file-churn-3", "database", "database-3", "thp-churn-2"] {
        let loaded = recorded(name);
        assert_starts_alike(name, loaded.trace());
    }
}

#[test]
fn a_made_up_trace_cut_short_starts_in_the_same_state() {
    let made = Synthetic { events: 40_000, ..Synthetic::default() }.generate().expect("a trace");
    assert_starts_alike("synthetic", made.trace());
}

#[test]
fn free_frames_of_a_recorded_trace_are_those_of_the_snapshot() {
    let loaded = recorded("database-3");
    let lab = Lab::new(loaded.trace()).expect("a valid trace");
    let corrections = lab.start_report().corrections;
    let free = free_frames(&lab.start).iter().flatten().filter(|&&is_free| is_free).count() as u64;
    let shown = loaded.trace().start.occupancy.iter().filter(|run| run.used_for == FrameUse::Free);
    let shown: u64 = shown.map(|run| run.pages).sum();
    assert!(corrections.free_but_used > 0 && corrections.freed_unseen > 0, "{corrections:?}");
    assert_eq!(free, shown + corrections.used_but_free - corrections.free_but_used);
}
