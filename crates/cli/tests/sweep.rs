//! `freehold sweep`: the product of settings, what a killed or failed sweep leaves, and going on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::sweeps::{RUNS, VARY, rows, sweep};
use crate::common::{Ran, finish, folder, guest_trace, made_up_trace, names, small_trace};

fn journal(output: &Path) -> PathBuf {
    output.with_file_name(format!("{}.journal", output.file_name().unwrap().to_str().unwrap()))
}

/// Whole lines of the journal, its first one left out.
fn kept(output: &Path) -> usize {
    let text = fs::read_to_string(journal(output)).unwrap_or_default();
    text.matches('\n').count().saturating_sub(1)
}

/// Starts a sweep and waits until it has kept some runs.
fn started(trace: &Path, output: &Path, runs: usize) -> Child {
    let mut command = sweep(&[trace], output, &VARY);
    let mut child =
        command.args(["--threads", "1"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(2);
    while kept(output) < runs {
        assert!(child.try_wait().unwrap().is_none(), "ended before it was killed");
        assert!(Instant::now() < deadline, "no {runs} runs in two minutes");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn a_killed_sweep_goes_on_and_ends_with_the_same_results() {
    let (folder, trace) = guest_trace();
    let (whole, killed) = (folder.path().join("whole.parquet"), folder.path().join("killed.parquet"));
    let ran = finish(sweep(&[&trace], &whole, &VARY)).ok();
    assert!(
        ran.stdout.contains("era=freehold watermark_boost_factor=15000 pageblock_order=7"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stderr, "", "quiet where standard error is no terminal");
    let expected = rows(&whole);
    assert_eq!(expected.len(), RUNS);
    assert!(
        [
            "error=null",
            "fallback_claims=",
            "replicates_zone_lock_holds_standard_deviation=",
            "over_time_free_pageblocks=",
            "trust_bounds_kept="
        ]
        .iter()
        .all(|words| expected[0].contains(words)),
        "{}",
        expected[0]
    );

    let mut child = started(&trace, &killed, 3);
    let second = finish(sweep(&[&trace], &killed, &VARY));
    second.fails(64, &["another freehold writes", "name another file"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!killed.exists());
    let done = kept(&killed);
    // A line that was torn, as a machine that crashes leaves it.
    let mut text = fs::read(journal(&killed)).unwrap();
    text.extend_from_slice(b"{\"run\":7,\"tra");
    fs::write(journal(&killed), text).unwrap();

    let other = finish(sweep(&[&trace], &killed, &["--vary", "era=freehold"]));
    other.fails(64, &["--restart", "killed.parquet.journal"]);
    let ran = finish(sweep(&[&trace], &killed, &VARY)).ok();
    assert!(ran.stderr.contains(&format!("{done} of {RUNS} runs are finished already")), "{}", ran.stderr);
    let found = rows(&killed);
    assert_eq!(found.len(), RUNS);
    found.iter().zip(&expected).for_each(|(found, expected)| assert_eq!(found, expected));
    assert!(!journal(&killed).exists());

    finish(sweep(&[&trace], &killed, &VARY)).fails(64, &["exists", "--force"]);
    drop(started(&trace, &folder.path().join("new.parquet"), 1).kill());
    let new = folder.path().join("new.parquet");
    let ran = loop {
        // The killed process may hold its lock a moment longer.
        let ran = finish(sweep(&[&trace], &new, &["--vary", "counts=on,off", "--restart", "--json"]));
        if !ran.stderr.contains("another freehold writes") {
            break ran.ok();
        }
    };
    assert_eq!(ran.json().as_array().map(Vec::len), Some(2));
    assert_eq!(rows(&new).len(), 2);
}

#[test]
fn a_trace_that_fails_does_not_lose_the_others() {
    let (folder, trace) = made_up_trace();
    let (text, output) = (folder.path().join("text"), folder.path().join("out.parquet"));
    fs::write(&text, "no trace").unwrap();
    let missing = folder.path().join("missing");
    let ran: Ran = finish(sweep(&[&text, &trace, &missing], &output, &["--vary", "hygiene=on,off", "--csv"]));
    assert_eq!(ran.code, Some(75), "{}", ran.stderr);
    assert!(ran.stderr.contains("4 of 6 runs failed"), "{}", ran.stderr);
    let rows = rows(&output);
    assert_eq!(rows.len(), 6);
    assert_eq!(rows.iter().filter(|row| row.contains("error=null")).count(), 2);
    assert!(rows[4].contains("cannot be opened") && rows[4].contains("fallback_claims=null"), "{}", rows[4]);
    let table: Vec<_> =
        csv::Reader::from_reader(ran.stdout.as_bytes()).records().map(Result::unwrap).collect();
    assert_eq!(table.len(), 6);
    assert!(table[0][2].contains("text") && table[2][2].is_empty(), "{table:?}");
    assert_eq!(names(folder.path()).iter().filter(|name| name.contains("out.parquet")).count(), 1);
}

#[test]
fn settings_that_do_not_exist_are_refused_with_those_that_do() {
    let folder = folder();
    let output = folder.path().join("out.parquet");
    let refused = |vary: &str, words: &[&str]| {
        let ran = finish(sweep(&[Path::new("x.arrows")], &output, &["--vary", vary]));
        ran.fails(64, words);
    };
    refused(
        "swappiness=60",
        &["\"swappiness\" cannot be varied", "min_free_kbytes", "pageblock_order", "era"],
    );
    refused("pageblock_order=9,19", &["\"19\" is no value of pageblock_order, which has 1 to 18"]);
    refused("era=linux-2.6", &["linux-6.12", "freehold"]);
    refused("counts=on,on", &["the value on twice"]);
    refused("counts", &["SETTING=VALUE"]);
    let twice = sweep(&[Path::new("x")], &output, &["--vary", "counts=on", "--vary", "counts=off"]);
    finish(twice).fails(64, &["counts is given twice"]);
    fs::write(journal(&output), "something else\n").unwrap();
    let (_beside, trace) = made_up_trace();
    finish(sweep(&[&trace], &output, &[])).fails(65, &["is not a journal of a sweep", "--restart"]);
    assert_eq!(names(folder.path()), ["out.parquet.journal"], "nothing half-written");
}

#[test]
fn a_setting_for_which_a_trace_cannot_answer_is_refused_by_name() {
    let folder = folder();
    let output = folder.path().join("out.parquet");
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/database-3.arrows");
    let vary = ["--vary", "compaction_proactiveness=20,100"];
    let refused = finish(sweep(&[&recorded], &output, &vary));
    refused.fails(64, &["database-3.arrows", "compaction_proactiveness cannot be varied", "record again"]);
    assert!(names(folder.path()).is_empty(), "nothing is left behind");
    // A trace that does not tell of compaction can answer.
    let (_small, trace) = small_trace();
    finish(sweep(&[&trace], &output, &["--vary", "compaction_proactiveness=100"])).ok();
}

#[test]
fn a_damaged_journal_loses_a_run_and_not_the_sweep() {
    let (folder, trace) = guest_trace();
    let output = folder.path().join("out.parquet");
    let mut child = started(&trace, &output, 4);
    child.kill().unwrap();
    child.wait().unwrap();
    let journal_path = journal(&output);
    let whole = fs::read(&journal_path).unwrap();
    let ends: Vec<_> =
        whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let runs = ends.len() - 1;
    // The first line, a digit of a checksum, the middle of a run, the end of a line.
    for (at, what) in [
        (20, "line 1 is damaged"),
        (ends[0] + 3, "line 2 is damaged"),
        (usize::midpoint(ends[1], ends[2]), "line 3 is damaged"),
        (ends[2], "line 3 is damaged"),
    ] {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        fs::write(&journal_path, flipped).unwrap();
        let ran = finish(sweep(&[&trace], &output, &VARY)).ok();
        assert!(ran.stderr.contains(what), "{at}: {}", ran.stderr);
        assert!(
            ran.stderr.contains(&format!("of {RUNS} runs are finished already")),
            "{runs}: {}",
            ran.stderr
        );
        assert_eq!(rows(&output).len(), RUNS, "{what}");
        fs::remove_file(&output).unwrap();
    }
    // Runs of another sweep are not taken for this one's, though the first line is the same.
    let mut flipped = whole;
    flipped[20] ^= 1;
    fs::write(&journal_path, flipped).unwrap();
    let other = finish(sweep(&[&trace], &output, &["--vary", "era=freehold"]));
    other.fails(65, &["is not a journal of a sweep", "--restart"]);
}

#[test]
fn mistyped_trace_keeps_the_old_output() {
    let (folder, trace) = made_up_trace();
    let output = folder.path().join("out.parquet");
    finish(sweep(&[&trace], &output, &["--vary", "counts=on"])).ok();
    let before = fs::read(&output).unwrap();
    let mistyped = folder.path().join("smal.arrows");
    let ran = finish(sweep(&[&mistyped], &output, &["--vary", "counts=on", "--force"]));
    ran.fails(66, &["smal.arrows", "cannot be opened", "check the path"]);
    assert!(fs::read(&output).unwrap() == before, "the good file stays");
    assert!(!journal(&output).exists());
    // A trace that can be opened and not replayed.
    let cut = folder.path().join("cut.arrows");
    let bytes = fs::read(&trace).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 100]).unwrap();
    let ran = finish(sweep(&[&cut], &output, &["--vary", "counts=on,off", "--force"]));
    ran.fails(65, &["none of 2 runs succeeded", "out.parquet is not written", "cut.arrows"]);
    assert!(fs::read(&output).unwrap() == before, "the good file stays");
    assert_eq!(names(folder.path()), ["cut.arrows", "out.parquet", "small.arrows", "small.txt"]);
}
