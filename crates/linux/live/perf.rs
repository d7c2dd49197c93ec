//! Recordings by perf of this machine, compared with the text that perf writes of them.

use std::fs;
use std::path::Path;
use std::process::Command;

use freehold_linux::Imported;
use freehold_needs::{can, has_program, is_root};

use crate::perf_files::{assert_same, import_from};

/// Returns true if perf can record the machine's page events; otherwise says that `test` is skipped.
fn can_perf(test: &str) -> bool {
    let attempt = || {
        let args = ["record", "-a", "-e", "kmem:mm_page_alloc", "-o", "-", "--", "true"];
        let ran = Command::new("perf").args(args).output().map_err(|error| error.to_string())?;
        if ran.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&ran.stderr).into_owned()) }
    };
    is_root(test) && has_program("perf", test) && can(test, attempt)
}

/// Records a command that works for a moment, into `file`; returns false if perf has no such option.
fn perf_record(file: &Path, options: &[&str]) -> bool {
    let mut perf = Command::new("perf");
    let events =
        ["kmem:mm_page_*", "kmem:rss_stat", "compaction:mm_compaction_begin", "compaction:mm_compaction_end"];
    let events = events.into_iter().flat_map(|event| ["-e", event]);
    perf.args(["record", "-a"]).args(events).args(options).arg("-o").arg(file);
    // 4096 pages are allocated, written and freed.
    perf.args(["--", "dd", "if=/dev/zero", "of=/dev/null", "bs=16M", "count=1"]);
    let ran = perf.output().unwrap();
    let message = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() || message.contains("not compiled in"), "{message}");
    ran.status.success()
}

#[test]
fn live_recordings_hold_what_perf_prints_of_them() {
    let test = "live_recordings_hold_what_perf_prints_of_them";
    if !can_perf(test) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["zoneinfo", "pagetypeinfo"] {
        fs::write(folder.path().join(name), fs::read(Path::new("/proc").join(name)).unwrap()).unwrap();
    }
    let [file, text] = ["perf.data", "perf.txt"].map(|name| folder.path().join(name));
    // A ring of one page cannot but lose events.
    for (options, loses) in
        [(&["-m", "4M"][..], None), (&["-m", "1"], Some(true)), (&["-z", "-m", "4M"], None), (&["-g"], None)]
    {
        if !perf_record(&file, options) {
            continue;
        }
        let script = ["script", "--ns", "-F", "tid,cpu,time,event,trace", "-i"];
        let script = Command::new("perf").args(script).arg(&file).output().unwrap();
        fs::write(&text, script.stdout).unwrap();
        let (counts, events) =
            import_from(&file, folder.path()).unwrap_or_else(|error| panic!("{options:?}: {error}"));
        let (_, of_text) =
            import_from(&text, folder.path()).unwrap_or_else(|error| panic!("{options:?}: {error}"));
        assert_same(&events, &of_text);
        let Imported::PerfData(counts) = counts else { panic!() };
        println!("{options:?}: {counts:?}");
        assert!(counts.events > 100 && loses.is_none_or(|loses| loses == (counts.lost > 0)), "{counts:?}");
        let report = Command::new("perf").args(["report", "-D", "-i"]).arg(&file).output().unwrap();
        let report = String::from_utf8_lossy(&report.stdout);
        let lost = report.lines().filter(|line| line.contains(": PERF_RECORD_LOST: "));
        let lost = lost.filter_map(|line| line.rsplit_once(':')?.1.parse::<u64>().ok()).sum::<u64>();
        assert!(counts.lost >= lost && (lost > 0) == (counts.lost > 0), "{lost} of {counts:?}");
    }
}
