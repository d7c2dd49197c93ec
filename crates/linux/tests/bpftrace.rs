//! The script for bpftrace, held against the recorder on the same workload at the same time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use freehold_linux::ftrace_text::PfnRadix;
use freehold_linux::procfs::Occupancy;
use freehold_linux::{ImportOptions, Imported, MemorySink, RecordOptions, import, record};
use freehold_needs::{can, has_program, is_root};
use freehold_trace::{Event, EventKind, PageWork};

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/bpftrace/freehold.bt")
}

/// bpftrace with the script, for as long as `command` takes, into `text`.
fn bpftrace(text: &Path, command: &str) -> Vec<String> {
    let pages = "BPFTRACE_PERF_RB_PAGES=4096";
    let words = ["env", pages, "bpftrace", "-o"].map(str::to_owned);
    let [text, script] = [text, &script()].map(|path| path.display().to_string());
    [&words[..], &[text, script, "-c".to_owned(), command.to_owned()]].concat()
}

/// Returns true if bpftrace can run the script here; otherwise says that `test` is skipped.
fn can_bpftrace(test: &str) -> bool {
    let attempt = || {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let words = bpftrace(&folder.path().join("text"), "/bin/true");
        let ran = Command::new(&words[0]).args(&words[1..]).output().map_err(|error| error.to_string())?;
        if ran.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&ran.stderr).into_owned()) }
    };
    is_root(test) && has_program("bpftrace", test) && can(test, attempt)
}

/// How many events of one CPU have to be the same for two rows of events to be laid beside each other.
const SAME: usize = 8;

/// The events of a CPU that the script prints.
fn of_cpu(events: &[Event], cpu: u16) -> Vec<Event> {
    let is_printed = |kind: &EventKind| match kind {
        EventKind::Work { work, .. } => *work == PageWork::DirectReclaim,
        EventKind::Lost { .. } => false,
        _ => true,
    };
    events.iter().copied().filter(|event| event.cpu == cpu && is_printed(&event.kind)).collect()
}

/// Returns true if two events are the same. The tracers have clocks of their own.
fn is_same(one: &Event, other: &Event) -> bool {
    (one.cpu, one.pid, one.kind) == (other.cpu, other.pid, other.kind)
}

/// Lays `told` beside `all`. Returns the events of both from where they are the same for the first time to the
/// last event of `told`, which are all in `all` and in the same order.
fn beside<'e>(told: &'e [Event], all: &'e [Event]) -> (&'e [Event], &'e [Event]) {
    let starts = told.windows(SAME).take(200).enumerate();
    let mut found = starts.filter_map(|(at, wanted)| {
        let place =
            all.windows(SAME).position(|there| there.iter().zip(wanted).all(|(a, b)| is_same(a, b)))?;
        Some((&told[at..], &all[place..]))
    });
    let (told, all) = found.next().expect("the same events in a row");
    let mut end = 0;
    for event in told {
        let further = all[end..].iter().position(|other| is_same(event, other));
        end +=
            1 + further.unwrap_or_else(|| panic!("the recorder does not have {event:?} after {end} others"));
    }
    (told, &all[..end])
}

fn seconds(events: &[Event]) -> f64 {
    (events[events.len() - 1].time_ns - events[0].time_ns) as f64 / 1e9
}

#[test]
fn the_script_tells_what_the_recorder_tells() {
    let test = "the_script_tells_what_the_recorder_tells";
    if !can_bpftrace(test) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    for name in ["zoneinfo", "pagetypeinfo"] {
        fs::write(folder.path().join(name), fs::read(Path::new("/proc").join(name)).unwrap()).unwrap();
    }
    // 8192 pages are allocated, written and freed.
    let [load, pid] = ["load", "pid"].map(|name| folder.path().join(name));
    let dd = "exec dd if=/dev/zero of=/dev/null bs=32M count=1";
    fs::write(&load, format!("echo $$ > {}; {dd}", pid.display())).unwrap();
    let command = bpftrace(&text, &format!("/bin/sh {}", load.display()));
    let recording = RecordOptions {
        command,
        occupancy: Occupancy::Skip,
        exact: false,
        handle_signals: false,
        ..RecordOptions::default()
    };
    let mut recorded = MemorySink::default();
    record(&recording, &mut recorded, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    let options = ImportOptions {
        source: text,
        zoneinfo: folder.path().join("zoneinfo"),
        pagetypeinfo: folder.path().join("pagetypeinfo"),
        kpageflags: None,
        pagetypeinfo_end: None,
        kernel_release: String::new(),
        pfn_radix: PfnRadix::Auto,
        page_bytes: 4096,
    };
    let mut imported = MemorySink::default();
    let Imported::Text(counts) = import(&options, &mut imported).unwrap() else { panic!("a text") };
    let is_lost = |event: &Event| matches!(event.kind, EventKind::Lost { .. });
    if counts.lost > 0 || recorded.events.iter().any(is_lost) {
        freehold_needs::skip(test, "one of the two lost events");
        return;
    }
    let pid: i32 = fs::read_to_string(pid).unwrap().trim().parse().unwrap();
    let mut most = 0;
    for cpu in 0..=imported.events.iter().map(|event| event.cpu).max().unwrap() {
        let [told, all] = [&imported, &recorded].map(|sink| of_cpu(&sink.events, cpu));
        // bpftrace attaches and detaches one probe after the other: the command's time is when all are attached.
        let is_command = |event: &Event| event.pid == pid;
        let (Some(first), Some(last)) = (told.iter().position(is_command), told.iter().rposition(is_command))
        else {
            continue;
        };
        if last - first < 1000 {
            continue;
        }
        let (told, all) = beside(&told[first..=last], &all);
        let (events, of) = (told.len(), all.len());
        println!("CPU {cpu}: {events} of {of} events in {} and {} s", seconds(told), seconds(all));
        // The kernel runs no program for what an interrupt does within another event's program.
        assert!(events * 100 >= of * 98, "{events} of {of}");
        assert!((seconds(told) - seconds(all)).abs() < 0.005 + 0.05 * seconds(all));
        most = most.max(events);
    }
    assert!(most > 8000, "half of the command's events were on one CPU");
}
