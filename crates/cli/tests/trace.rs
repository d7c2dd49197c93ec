//! `freehold trace`: contents in every format, and stronger compression.

use crate::common::{events, names, run, sample, small_trace};

#[test]
fn info_of_a_recorded_trace() {
    let trace = sample("c-build.arrows");
    let text = run(["trace", "info", &trace]).ok().stdout;
    for word in ["kernel", "machine", "command", "Events", "Blocks by order", "Zones at the start"] {
        assert!(text.contains(word), "no {word:?} in {text}");
    }
    let info = run(["trace", "info", &trace, "--json"]).ok().json();
    assert!(info["summary"]["events"].as_u64() >= Some(1_000_000));
    assert_eq!(info["summary"]["lost"], 0);
    assert!(info["zones"].as_array().unwrap().len() >= 2 && info["ending"].is_object());
    let csv = run(["trace", "info", &trace, "--csv"]).ok().stdout;
    assert!(csv.starts_with("# Events\r\ngroup,measure,unit,events\r\n"), "{csv}");
}

#[test]
fn the_first_events() {
    let (_folder, trace) = small_trace();
    let trace = trace.to_str().unwrap();
    let json = run(["trace", "head", trace, "-n", "30", "--json"]).ok().json();
    let rows = json.as_array().unwrap();
    assert_eq!(rows.len(), 30);
    assert!(rows.is_sorted_by_key(|row| row["time_ns"].as_u64()));
    assert_eq!(run(["trace", "head", trace]).ok().stdout.lines().count(), 21);
    let csv = run(["trace", "head", trace, "-n", "30", "--csv"]).ok().stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let lines: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(lines.len(), 30);
    for (line, row) in lines.iter().zip(rows) {
        assert_eq!(line[0].parse().ok(), row["time_ns"].as_u64());
        assert_eq!(Some(&line[3]), row["event"].as_str());
    }
    assert_eq!(run(["trace", "head", trace, "-n", "0", "--json"]).ok().json(), serde_json::json!([]));
    let most = u64::MAX.to_string();
    let all = run(["trace", "head", trace, "-n", &most, "--csv"]).ok().stdout.lines().count() as u64;
    assert_eq!(all, events(trace.as_ref()) + 1);
}

#[test]
fn repacking_keeps_the_events() {
    let (folder, trace) = small_trace();
    let name = |name: &str| folder.path().join(name).display().to_string();
    let head = |trace: &str| run(["trace", "head", trace, "-n", "100000", "--csv"]).ok().stdout;
    let trace = trace.display().to_string();
    for effort in ["small", "fast"] {
        let copy = name(&format!("{effort}-copy.arrows"));
        run(["trace", "repack", &trace, "-o", &copy, "--effort", effort]).ok();
        assert!(head(&copy) == head(&trace), "{effort}");
        let [before, after] = [&trace, &copy].map(|path| run(["trace", "info", path, "--json"]).ok().json());
        assert_eq!((&before["ending"], &before["zones"]), (&after["ending"], &after["zones"]));
    }
    let refused = run(["trace", "repack", &trace, "-o", &name("fast-copy.arrows")]);
    refused.fails(64, &["fast-copy.arrows exists", "--force"]);
    run(["trace", "repack", &trace, "-o", &trace, "--force"]).ok();
    assert!(head(&trace) == head(&name("fast-copy.arrows")), "in place");
    assert_eq!(names(folder.path()), ["fast-copy.arrows", "small-copy.arrows", "small.arrows", "small.txt"]);
}
