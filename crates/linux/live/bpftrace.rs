//! The script for bpftrace, compared with the recorder on the same workload at the same time.

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

/// Mounts tracefs where it is not, for one process alone, as bpftrace looks for tracepoints nowhere else.
const WITH_TRACEFS: &str = "mountpoint --quiet /sys/kernel/tracing || mount --types tracefs tracefs /sys/kernel/tracing; exec \"$@\"";

/// bpftrace with the script, for as long as `command` takes, into `text`.
fn bpftrace(text: &Path, command: &str) -> Vec<String> {
    let pages = "BPFTRACE_PERF_RB_PAGES=4096";
    let mounts = ["unshare", "--mount", "--propagation", "private", "sh", "-c", WITH_TRACEFS, "sh"];
    let words = [&mounts[..], &["env", pages, "bpftrace", "-o"]].concat();
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
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

/// How many events an interrupt has in the most.
const NESTED: usize = 64;

/// Two rows of events, laid beside each other.
struct Beside<'e> {
    /// bpftrace's and the recorder's, from where they are the same for the first time to bpftrace's last event.
    traced: &'e [Event],
    all: &'e [Event],
    /// How many of bpftrace's come earlier than the recorder has them.
    early: usize,
    /// The recorder's events that bpftrace does not have, by those that lie together.
    missing: Vec<&'e [Event]>,
}

/// Lays `traced` beside `all`, which must have all of its events.
///
/// The recorder writes an event down before its BPF program runs, and an interrupt may come in between: its events are
/// later there, and earlier with bpftrace. bpftrace does not report an interrupt within the program.
fn beside<'e>(traced: &'e [Event], all: &'e [Event]) -> Beside<'e> {
    let starts = traced.windows(SAME).take(200).enumerate();
    let mut found = starts.filter_map(|(at, wanted)| {
        let place =
            all.windows(SAME).position(|there| there.iter().zip(wanted).all(|(a, b)| is_same(a, b)))?;
        Some((&traced[at..], &all[place..]))
    });
    let (traced, all) = found.next().expect("the same events in a row");
    let mut is_found = vec![false; all.len()];
    let (mut end, mut early) = (0, 0);
    for event in traced {
        let before = (end.max(NESTED) - NESTED..end).find(|&at| !is_found[at] && is_same(event, &all[at]));
        let at = before.or_else(|| (end..all.len()).find(|&at| is_same(event, &all[at])));
        let at = at.unwrap_or_else(|| panic!("the recorder does not have {event:?} after {end} others"));
        is_found[at] = true;
        early += usize::from(before.is_some());
        end = end.max(at + 1);
    }
    let all = &all[..end];
    let mut missing = Vec::new();
    let mut at = 0;
    for part in is_found[..end].chunk_by(|one, other| one == other) {
        if !part[0] {
            missing.push(&all[at..at + part.len()]);
        }
        at += part.len();
    }
    Beside { traced, all, early, missing }
}

fn seconds(events: &[Event]) -> f64 {
    (events[events.len() - 1].time_ns - events[0].time_ns) as f64 / 1e9
}

/// Fails if bpftrace's events of a CPU differ from the recorder's. Returns those of bpftrace that both have.
fn compared_with_recorder<'e>(traced: &'e [Event], all: &'e [Event], cpu: u16) -> &'e [Event] {
    let Beside { traced, all, early, missing } = beside(traced, all);
    let events = traced.len();
    let longest = missing.iter().map(|part| seconds(part)).fold(0.0, f64::max);
    println!(
        "CPU {cpu}: {events} of {} events in {} and {} s; {early} early, {} interrupts missing, the longest of {longest} s",
        all.len(),
        seconds(traced),
        seconds(all),
        missing.len()
    );
    // An interrupt within a program makes one gap, however many pages it frees, and a short one.
    assert!((early + missing.len()) * 500 <= 500 + events, "{early} early, {} missing", missing.len());
    assert!(longest < 0.01, "{longest} s without an event");
    assert!((seconds(traced) - seconds(all)).abs() < 0.005 + 0.05 * seconds(all));
    traced
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
    let (mut allocated, mut freed) = (0, 0);
    for cpu in 0..=imported.events.iter().map(|event| event.cpu).max().unwrap() {
        let [traced, all] = [&imported, &recorded].map(|sink| of_cpu(&sink.events, cpu));
        // bpftrace attaches and detaches one probe after the other: the command's time is when all are attached.
        let is_command = |event: &Event| event.pid == pid;
        let (Some(first), Some(last)) =
            (traced.iter().position(is_command), traced.iter().rposition(is_command))
        else {
            continue;
        };
        if last - first < 1000 {
            continue;
        }
        let traced = compared_with_recorder(&traced[first..=last], &all, cpu);
        allocated += traced.iter().filter(|event| matches!(event.kind, EventKind::Alloc { .. })).count();
        freed += traced.iter().filter(|event| matches!(event.kind, EventKind::Free { .. })).count();
    }
    // CPUs with fewer than 1000 events of the command were skipped.
    assert!(allocated > 6000 && freed > 6000, "{allocated} allocated and {freed} freed");
}
