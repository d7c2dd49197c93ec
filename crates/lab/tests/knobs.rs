//! Knobs at their recorded values give the recorded machine, and every knob can be changed.

use std::fs::File;
use std::path::Path;

use freehold_lab::sweep::{Knob, Settings, Value};
use freehold_lab::workload::{Generated, Synthetic};
use freehold_lab::{Lab, Trace};
use freehold_measure::Cell;
use freehold_trace::{EventLog, Origin, ReadOptions, Snapshot, TraceReader};

fn knob(name: &str) -> Knob {
    Knob::from_name(name).expect(name)
}

fn recorded(name: &str) -> (Origin, Snapshot) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name);
    let reader = TraceReader::open(File::open(path).expect(name), ReadOptions::new(name)).expect("a trace");
    (reader.origin().clone(), reader.start().clone())
}

#[test]
fn recorded_sysctls_give_the_recorded_watermarks_and_lists() {
    for name in ["c-build.arrows", "thp-churn.arrows"] {
        let (origin, start) = recorded(name);
        let events = EventLog::default();
        let trace = Trace { origin: &origin, start: &start, events: &events, ending: None };
        let lab = Lab::new(trace).expect("a lab");
        for sysctl in ["min_free_kbytes", "watermark_scale_factor", "percpu_pagelist_high_fraction"] {
            let text = start.sysctl.get(sysctl).expect(sysctl);
            let value = knob(sysctl).parse(text).expect(text);
            let found = Settings::new(&lab, &[(knob(sysctl), value)]).machine;
            for (found, expected) in found.zones.iter().zip(&lab.machine.zones) {
                assert_eq!(
                    found.watermarks, expected.watermarks,
                    "{name}: {sysctl}={text}, {:?}",
                    found.kind
                );
                assert_eq!(found.percpu, expected.percpu, "{name}: {sysctl}={text}, {:?}", found.kind);
            }
        }
    }
}

fn made() -> Generated {
    Synthetic { events: 20_000, ..Synthetic::default() }.generate().expect("a trace")
}

#[test]
fn every_knob_can_be_changed_and_replayed() {
    let made = made();
    let lab = Lab::new(made.trace()).expect("a lab");
    let turned = [
        ("era", "linux-6.1"),
        ("hygiene", "off"),
        ("remembered-mode", "on"),
        ("batched-draining", "on"),
        ("counts", "on"),
        ("claims-by-counts", "on"),
        ("claims-used-first", "on"),
        ("retypes-pageblocks", "on"),
        ("unmixes-pageblocks", "on"),
        ("empties-pageblocks", "on"),
        ("defrag_mode", "1"),
        ("compaction_proactiveness", "0"),
        ("extfrag_threshold", "0"),
        ("watermark_boost_factor", "0"),
        ("pageblock_order", "7"),
        ("pageblock_order", "10"),
        ("min_free_kbytes", "4096"),
        ("watermark_scale_factor", "100"),
        ("percpu_pagelist_high_fraction", "64"),
    ];
    for knob in Knob::all() {
        assert!(turned.iter().any(|(name, _)| *name == knob.name), "no value for {}", knob.name);
    }
    let names = |measures: &[(String, Cell)]| measures.len();
    let plain = lab.measure(&[], 2).expect("a replay");
    for (name, text) in turned {
        let value = knob(name).parse(text).expect(text);
        let measures = lab.measure(&[(knob(name), value)], 2).expect(name);
        assert_eq!(names(&measures), names(&plain), "{name}={text}");
        assert!(measures.iter().all(|(name, _)| {
            name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
        }));
    }
}

#[test]
fn a_replay_as_recorded_is_the_replay_of_the_nearest_era() {
    let made = made();
    let lab = Lab::new(made.trace()).expect("a lab");
    let value = |name: &str| Value::Word(name.to_owned());
    let untimed = |settings: &[(Knob, Value)]| {
        let measures = lab.measure(settings, 1).expect("a replay");
        measures
            .into_iter()
            .filter(|(name, _)| !name.ends_with("_ns") && !name.starts_with("replay_speed"))
            .collect::<Vec<_>>()
    };
    let plain = untimed(&[]);
    assert_eq!(
        plain,
        untimed(&[(knob("era"), value("linux-6.12")), (knob("pageblock_order"), Value::Number(9))])
    );
    assert_ne!(plain, untimed(&[(knob("era"), value("linux-6.1"))]));
    assert_ne!(plain, untimed(&[(knob("pageblock_order"), Value::Number(6))]));
}

#[test]
fn a_row_has_means_over_time_replicates_and_trust() {
    let made = made();
    let lab = Lab::new(made.trace()).expect("a lab");
    let (one, several) = (lab.measure(&[], 1).expect("a replay"), lab.measure(&[], 3).expect("replays"));
    let cell = |row: &[(String, Cell)], name: &str| {
        let found = row.iter().find(|(column, _)| column == name);
        found.unwrap_or_else(|| panic!("no column {name}")).1
    };
    for name in ["over_time_free_pageblocks", "over_time_mixed_pageblocks", "over_time_free_pages"] {
        // In this trace no pageblock is ever mixed or free.
        let least = if name.contains("pageblocks") { 0.0 } else { 1.0 };
        assert!(
            matches!(cell(&one, name), Cell::Real(mean) if mean >= least),
            "{name}: {:?}",
            cell(&one, name)
        );
    }
    assert_eq!(one.len(), several.len(), "the same columns");
    let sd = "replicates_zone_lock_holds_standard_deviation";
    assert_eq!(cell(&one, sd), Cell::Empty, "one replay has no standard deviation");
    assert!(matches!(cell(&several, sd), Cell::Real(_)));
    assert!(matches!(cell(&several, "replicates_zone_lock_holds_mean"), Cell::Real(mean) if mean > 0.0));
    let trust = lab.trust_columns().expect("a replay");
    assert!(matches!(cell(&trust, "trust_free_pageblocks_percent_off"), Cell::Real(_)), "{trust:?}");
    assert!(matches!(cell(&trust, "trust_bounds_kept"), Cell::Count(kept) if kept <= 5), "{trust:?}");
    let pairs = cell(&trust, "trust_fallback_events_by_pair_of_types_percent_off");
    assert!(matches!(pairs, Cell::Real(_)), "{pairs:?}");
}
