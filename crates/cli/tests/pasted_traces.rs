//! Texts of traces as people paste them: of old kernels, with numbers for flags, of one event alone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Ran, folder, run};

fn fixture(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pasted-traces").join(name);
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// Imports a text into a folder, and returns what the import printed and the trace.
fn import(text: &str, more: &[&str]) -> (tempfile::TempDir, Ran, String) {
    let made = folder();
    let trace = made.path().join("made.arrows").to_str().expect("a path in UTF-8").to_owned();
    let (zoneinfo, pagetypeinfo) = (fixture("zoneinfo"), fixture("pagetypeinfo"));
    let args = ["import", text, "--zoneinfo", &zoneinfo, "--pagetypeinfo", &pagetypeinfo, "-o", &trace];
    let ran = run(args.iter().chain(more)).ok();
    (made, ran, trace)
}

#[test]
fn flags_that_are_numbers_are_said_and_read_by_the_release() {
    let (_made, ran, trace) = import(&fixture("gfp-numbers.txt"), &[]);
    assert!(ran.stderr.contains("the flags of 1 event are numbers without names"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--kernel-release"), "{}", ran.stderr);
    assert!(run(["trace", "head", &trace]).ok().stdout.contains("UNKNOWN"));
    let (_made, ran, trace) = import(&fixture("gfp-numbers.txt"), &["--kernel-release", "6.13.0"]);
    assert!(
        ran.stderr.contains("1 event are numbers, read by the bits of --kernel-release"),
        "{}",
        ran.stderr
    );
    let head = run(["trace", "head", &trace]).ok().stdout;
    assert!(head.contains("HIGHMEM|MOVABLE|IO|FS|DIRECT_RECLAIM|KSWAPD_RECLAIM|COMP|HARDWALL"), "{head}");
    let analysis = run(["analyze", &trace]).ok().stdout;
    assert!(analysis.contains("GFP_HIGHUSER_MOVABLE "), "{analysis}");
}

#[test]
fn frees_of_kernels_before_3_3_are_frees() {
    let (made, ran, _) = import(&fixture("free-direct.txt"), &[]);
    assert!(ran.stderr.contains("3 events from 3 lines"), "{}", ran.stderr);
    let text = fs::read_to_string(fixture("free-direct.txt")).expect("a fixture");
    let (frees, vectors) =
        (text.lines().last().expect("a line"), "mm_pagevec_free: page=ffff pfn=1155801 order=0 cold=0");
    let twice = made.path().join("twice.txt");
    fs::write(&twice, format!("{text}{frees}\n  task-1567  [000]  4415.3: {vectors}\n")).expect("a file");
    let (_made, ran, _) = import(twice.to_str().expect("a path in UTF-8"), &[]);
    assert!(ran.stderr.contains("4 events from 5 lines"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 free repeats the line before it"), "{}", ran.stderr);
}

#[test]
fn fallbacks_are_counted_by_types_orders_and_tasks() {
    let text = fixture("extfrag-only.txt");
    let alone = run(["fallbacks", &text]).ok().stdout;
    for part in [
        "3 fallbacks: Unmovable from Movable 2 (1 claimed, 1 stolen); Reclaimable from Movable 1 (0 claimed, 1 stolen)",
        "1 claimed at order 10 for order 0",
        "1 stolen at order 3 for order 0",
        "Reclaimable from Movable: 1 stolen at order 5 for order 2",
        "by task: 2 of pid 99, 1 idle or unknown",
    ] {
        assert!(alone.contains(part), "no {part:?} in: {alone}");
    }
    let (_made, _, trace) = import(&text, &[]);
    assert_eq!(run(["fallbacks", &trace]).ok().stdout, alone);
    assert_eq!(run(["fallbacks", &text, "--json"]).ok().json()["tasks"][0]["pid"], 99);
    let analysis = run(["analyze", &trace]).ok().stdout;
    assert!(
        analysis.contains("UNMOVABLE FROM MOVABLE") && analysis.contains("order 0 from order 10"),
        "{analysis}"
    );
}

#[test]
fn the_kernel_decides_the_numbers_of_types() {
    let text = fixture("extfrag-only.txt");
    let old = run(["fallbacks", &text, "--kernel-release", "3.10.49"]).ok().stdout;
    assert!(old.contains("Unmovable from Reclaimable 2"), "{old}");
    let table = fixture("pagetypeinfo");
    let named =
        run(["fallbacks", &text, "--kernel-release", "3.10.49", "--pagetypeinfo", &table]).ok().stdout;
    assert!(named.contains("Unmovable from Movable 2"), "{named}");
}

#[test]
fn texts_without_events_are_refused() {
    let made = folder();
    let text = made.path().join("text");
    fs::write(&text, "Dear list,\n").expect("a file");
    let text = text.to_str().expect("a path in UTF-8");
    run(["fallbacks", text]).fails(65, &["no page events in 1 lines"]);
    run(["fallbacks", "/no/such/file"]).fails(66, &["cannot read /no/such/file"]);
    run(["fallbacks", &fixture("extfrag-only.txt"), "--pagetypeinfo", text])
        .fails(65, &["text", "Name a whole copy"]);
}
