//! A full disk ends what writes to it, in good order.

use std::fs;
use std::path::Path;

use freehold_needs::SmallTmpfs;

use crate::common::sweeps::{RUNS, VARY, rows, sweep};
use crate::common::{self, finish, freehold, made_up_trace, names, run, small_trace};

#[test]
fn a_trace_of_a_full_disk() {
    let Some(disk) = SmallTmpfs::mount(64, "a_trace_of_a_full_disk") else { return };
    let output = disk.path().join("out.arrows");
    fs::write(&output, "precious").unwrap();
    let name = output.display().to_string();
    let words = [name.as_str(), "make room on the device", "No space left"];
    run(["trace", "repack", &common::sample("thp-churn.arrows"), "-o", &name, "--effort", "fast", "--force"])
        .fails(74, &words);
    let mut args = common::import_args(Path::new(&common::fixture("trace.txt.xz")), &output);
    args.push("--force".to_owned());
    run(args).fails(74, &words);
    assert_eq!(fs::read(&output).unwrap(), b"precious");
    assert_eq!(names(disk.path()), ["out.arrows"]);
}

#[test]
fn a_report_of_a_full_disk() {
    let Some(disk) = SmallTmpfs::mount(64, "a_report_of_a_full_disk") else { return };
    let (_folder, trace) = made_up_trace();
    let at = |name: &str| disk.path().join(name).display().to_string();
    let words = ["make room on the device", "No space left"];
    let page = finish(freehold([
        "compare",
        trace.to_str().unwrap(),
        "--timing-rounds",
        "1",
        "--html",
        &at("report.html"),
    ]));
    let out =
        finish(freehold(["compare", trace.to_str().unwrap(), "--timing-rounds", "1", "--out", &at("out")]));
    let left = names(disk.path());
    drop(disk);
    page.fails(74, &words);
    out.fails(74, &words);
    assert_eq!(left, [""; 0]);
}

#[test]
fn sweep_continues_after_a_full_disk() {
    let test = "sweep_continues_after_a_full_disk";
    let Some(disk) = SmallTmpfs::mount(16, test) else { return };
    let (_folder, trace) = small_trace();
    let output = disk.path().join("out.parquet");
    let full = finish(sweep(&[&trace], &output, &VARY));
    let left = names(disk.path());
    disk.grow_to(4096);
    let on = finish(sweep(&[&trace], &output, &VARY));
    let found = output.exists().then(|| rows(&output).len());
    full.fails(74, &["out.parquet.journal cannot be written", "make room", "to continue"]);
    assert_eq!(left, ["out.parquet.journal"]);
    assert!(on.ok().stderr.contains(&format!("of {RUNS} runs are finished already")));
    assert_eq!(found, Some(RUNS));
}
