//! Small traces, built by hand.

use std::fs::File;
use std::io::BufReader;

use freehold::{GfpFlags, Migratetype, Order, Pfn};
use freehold_lab::workload::{Plan, write};
use freehold_lab::{Lab, Loaded, Measures, Options, Trace, Variant};
use freehold_trace::{
    Event, EventKind, EventLog, FrameUse, Origin, Pageset, ReadOptions, Run, Snapshot, TraceReader,
    WriteOptions, ZoneSnapshot,
};

/// The number of pages of the small machine.
pub(crate) const PAGES: u64 = 4096;

/// The order with this number.
pub(crate) fn order(value: u8) -> Order {
    Order::new(value).expect("an order up to 10")
}

/// A machine of one zone, all free, whose per-CPU lists keep no pages.
pub(crate) fn machine() -> Snapshot {
    let set = Pageset { batch: 1, ..Pageset::default() };
    let zone = ZoneSnapshot {
        name: "Normal".to_owned(),
        spanned: PAGES,
        present: PAGES,
        managed: PAGES,
        pagesets: vec![set],
        ..ZoneSnapshot::default()
    };
    let occupancy = vec![Run { start: Pfn(0), pages: PAGES, used_for: FrameUse::Free }];
    // Set by the user, otherwise the lists would be tuned automatically.
    let sysctl = [("percpu_pagelist_high_fraction".to_owned(), PAGES.to_string())].into();
    // The snapshot is one second after the start of the scripts, so that their first frees affect the start state.
    Snapshot { time_ns: 1_000_000_000, zones: vec![zone], occupancy, sysctl, ..Snapshot::default() }
}

/// Events, one in each microsecond.
#[derive(Default)]
pub(crate) struct Script {
    /// The events so far.
    pub(crate) events: Vec<Event>,
}

impl Script {
    /// Adds an event on CPU 0, one microsecond after the last.
    pub(crate) fn push(mut self, kind: EventKind) -> Self {
        let time_ns = self.events.last().map_or(0, |event| event.time_ns) + 1000;
        self.events.push(Event { time_ns, cpu: 0, pid: 0, kind });
        self
    }

    /// Adds the allocation of a movable block.
    pub(crate) fn alloc(self, pfn: u64, size: u8) -> Self {
        let (migratetype, gfp) = (Migratetype::Movable, GfpFlags::HIGHUSER_MOVABLE);
        self.push(EventKind::Alloc { pfn: Some(Pfn(pfn)), order: order(size), migratetype, gfp })
    }

    /// Adds the free of a block.
    pub(crate) fn free(self, pfn: u64, size: u8) -> Self {
        self.push(EventKind::Free { pfn: Pfn(pfn), order: order(size) })
    }

    /// Advances the time.
    pub(crate) fn wait_ns(mut self, ns: u64) -> Self {
        if let Some(last) = self.events.last_mut() {
            last.time_ns += ns;
        }
        self
    }
}

impl From<&Script> for EventLog {
    fn from(script: &Script) -> Self {
        script.events[..].into()
    }
}

/// Reads one of the repository's traces.
pub(crate) fn recorded(name: &str) -> Loaded {
    let path = format!("{}/../../traces/{name}.arrows", env!("CARGO_MANIFEST_DIR"));
    let open = || {
        let file = File::open(&path).expect("a trace of the repository");
        TraceReader::open(BufReader::new(file), ReadOptions::new(&path))
    };
    Loaded::read(name, open, |_| ()).expect("a whole trace")
}

/// Generates the trace of a plan and reads it.
pub(crate) fn generated(plan: &Plan) -> Loaded {
    let (bytes, _) = write(plan, Vec::new(), WriteOptions::new("made")).expect("a trace");
    let open = || TraceReader::open(&bytes[..], ReadOptions::new("made"));
    Loaded::read("made", open, |_| ()).expect("a whole trace")
}

/// Replays events on a machine.
pub(crate) fn replay(start: &Snapshot, script: &Script, variant: &Variant) -> Measures {
    let origin = Origin::default();
    let trace = Trace { origin: &origin, start, events: &script.into(), ending: None };
    let lab = Lab::new(trace).expect("a valid trace");
    lab.replay(variant, Options { runs: 1, ..Options::default() }).expect("a replay").measures
}
