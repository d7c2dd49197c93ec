//! Recordings of the machine that the tests run on. They need root and tracefs; without
//! them each test says by name that it is skipped.

use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use freehold::Order;
use freehold_linux::procfs::Occupancy;
use freehold_linux::tracefs::Detail;
use freehold_linux::{
    Error, EventSink, MemorySink, Progress, RecordOptions, RingOptions, RingSink, TraceSink, record,
    record_measured,
};
use freehold_needs::{MemoryCgroup, can, has_file, has_program, is_root, skip};
use freehold_trace::{Event, EventKind, PageWork, ReadOptions, StoppedBy, TraceReader, WriteOptions};

/// One test at a time, except where two recordings at once are the point.
static MACHINE: Mutex<()> = Mutex::new(());

fn instances() -> PathBuf {
    PathBuf::from("/sys/kernel/tracing/instances")
}

/// Our instances that belong to this process.
fn own_instances() -> Vec<String> {
    let prefix = format!("freehold-{}", std::process::id());
    let entries = fs::read_dir(instances()).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().into_string().ok()).filter(|n| n.starts_with(&prefix)).collect()
}

/// Returns true if this machine can be recorded; otherwise says that `test` is skipped.
fn can_record(test: &str) -> bool {
    is_root(test) && can(test, attempt_to_record)
}

/// Why this machine cannot be recorded.
fn attempt_to_record() -> Result<(), String> {
    let options = RecordOptions {
        duration: Some(Duration::ZERO),
        occupancy: Occupancy::Skip,
        buffer_kib_per_cpu: Some(1024),
        ..RecordOptions::default()
    };
    match record(&options, &mut MemorySink::default(), &mut go_on) {
        Ok(_) => Ok(()),
        Err(error @ (Error::NoTracefs { .. } | Error::NoKmemEvents { .. } | Error::NotRoot { .. })) => {
            Err(error.to_string())
        }
        Err(error) => panic!("{error}"),
    }
}

/// Lets a recording go on.
fn go_on(_: &Progress) -> ControlFlow<String> {
    ControlFlow::Continue(())
}

fn shell(script: &str) -> RecordOptions {
    RecordOptions {
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        occupancy: Occupancy::Skip,
        buffer_kib_per_cpu: Some(8192),
        ..RecordOptions::default()
    }
}

fn allocations_and_frees(events: &[Event]) -> (usize, usize) {
    let allocations = events.iter().filter(|e| matches!(e.kind, EventKind::Alloc { .. })).count();
    let frees = events.iter().filter(|e| matches!(e.kind, EventKind::Free { .. })).count();
    (allocations, frees)
}

fn assert_sorted(events: &[Event]) {
    assert!(events.is_sorted_by_key(|e| e.time_ns), "the events are in the order of time");
}

#[test]
fn a_command_is_recorded() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("a_command_is_recorded") {
        return;
    }
    let mut sink = MemorySink::default();
    let options = RecordOptions {
        occupancy: Occupancy::Read,
        detail: Detail::Lists,
        ..shell(
            "for i in 1 2 3 4 5 6; do ls /; done | head -c 100 >/dev/null; head -c 64M /dev/zero | tail -c 60M >/dev/null; exit 7",
        )
    };
    let report = record(&options, &mut sink, &mut go_on).unwrap();
    assert_eq!(own_instances(), Vec::<String>::new(), "the instance is gone");
    let (allocations, frees) = allocations_and_frees(&sink.events);
    assert!(allocations > 500 && frees > 500, "{allocations} allocations, {frees} frees");
    assert!(sink.events.iter().any(|e| matches!(e.kind, EventKind::ZoneLocked { .. })));
    assert_sorted(&sink.events);
    assert_eq!(sink.events.len() as u64, report.events + report.unreadable);
    assert_eq!((report.unreadable, report.lost), (0, 0));
    assert_eq!(report.ending.command_exit, Some(7));
    assert!(report.ending.disturbance.cpu_ns > 0 && report.ending.disturbance.buffer_pages > 0);
    let start = sink.start.unwrap();
    let first = sink.events.first().unwrap();
    assert!(first.time_ns < start.time_ns, "tracing starts before the start snapshot");
    assert!(!start.occupancy.is_empty());
    assert_eq!(sink.ending.unwrap(), report.ending);
}

#[test]
fn compaction_is_recorded() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("compaction_is_recorded") {
        return;
    }
    let needed = ["/proc/sys/vm/compact_memory", "/sys/kernel/tracing/events/compaction"];
    if !needed.iter().all(|file| has_file(file, "compaction_is_recorded")) {
        return;
    }
    let mut sink = MemorySink::default();
    record(&shell("echo 1 > /proc/sys/vm/compact_memory"), &mut sink, &mut go_on).unwrap();
    let count = |kind| sink.events.iter().filter(|e| e.kind == kind).count();
    let (begun, ended) = (count(EventKind::CompactionBegin), count(EventKind::CompactionEnd));
    assert!(begun > 0 && ended > 0, "{begun} begun, {ended} ended");
}

#[test]
fn compaction_steps_are_recorded_and_can_be_left_out() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let test = "compaction_steps_are_recorded_and_can_be_left_out";
    if !can_record(test) {
        return;
    }
    let options = shell("echo 1 > /proc/sys/vm/compact_memory");
    let mut sink = MemorySink::default();
    let report = record(&options, &mut sink, &mut go_on).unwrap();
    let origin = sink.origin.as_ref().unwrap();
    assert_eq!(origin.missing_events, report.missing_events);
    assert!(origin.events.contains(&"kmem:mm_page_alloc".to_owned()), "{origin:?}");
    if report.missing_events.iter().any(|event| event.starts_with("compaction:mm_compaction_isolate_m")) {
        return skip(test, "the kernel has no compaction");
    }
    let sums = |events: &[Event], wanted| {
        events.iter().fold((0, 0), |(all, got), event| match event.kind {
            EventKind::Work { work, pages, obtained } if work == wanted => (all + pages, got + obtained),
            _ => (all, got),
        })
    };
    let (scanned, taken) = sums(&sink.events, PageWork::IsolateMigratePages);
    assert!(scanned >= taken && scanned > 0, "{taken} of {scanned}");
    let (to_move, moved) = sums(&sink.events, PageWork::MigratePages);
    assert!(to_move >= moved, "{moved} of {to_move}");

    let mut sink = MemorySink::default();
    record(&RecordOptions { groups: Vec::new(), ..options }, &mut sink, &mut go_on).unwrap();
    assert!(
        sink.events.iter().any(|event| event.kind == EventKind::CompactionBegin),
        "a replay needs the marks"
    );
    assert_eq!(sums(&sink.events, PageWork::IsolateMigratePages), (0, 0));
}

#[test]
fn limits_end_a_recording_and_its_command() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("limits_end_a_recording_and_its_command") {
        return;
    }
    let busy = || shell("while true; do ls / >/dev/null; done");
    let options = RecordOptions { max_events: Some(20_000), ..busy() };
    let mut sink = MemorySink::default();
    let report = record(&options, &mut sink, &mut go_on).unwrap();
    assert!(sink.events.len() >= 20_000, "{} events", sink.events.len());
    assert_eq!(report.ending.stopped_by, Some(StoppedBy::MaxEvents));
    assert_eq!(report.ending.command_exit, Some(128 + 15));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limited.arrows");
    let limit = 3 << 20;
    let options = RecordOptions { max_bytes: Some(limit), ..busy() };
    let mut sink = TraceSink::new(fs::File::create(&path).unwrap(), WriteOptions::new("trace"));
    let report = record(&options, &mut sink, &mut go_on).unwrap();
    let bytes = path.metadata().unwrap().len();
    println!("{bytes} of {limit} bytes");
    assert!(bytes <= limit && bytes > limit / 4, "{bytes} bytes");
    assert_eq!(report.ending.stopped_by, Some(StoppedBy::MaxSize));
    let mut reader = TraceReader::open(fs::File::open(&path).unwrap(), ReadOptions::new("trace")).unwrap();
    while reader.next_batch().unwrap().is_some() {}
    assert_eq!(reader.ending(), Some(&report.ending), "the trace is whole");

    let mut called = 0;
    let trigger = &mut |_: &Progress| {
        called += 1;
        if called < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break("seen twice".to_owned()) }
    };
    let options = RecordOptions { command: Vec::new(), ..busy() };
    let ending = record(&options, &mut MemorySink::default(), trigger).unwrap().ending;
    assert_eq!(
        (ending.stopped_by, ending.trigger.as_deref()),
        (Some(StoppedBy::Trigger), Some("seen twice"))
    );
}

#[test]
fn the_effect_of_recording_is_measured() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("the_effect_of_recording_is_measured") {
        return;
    }
    let mut kept = MemorySink::default();
    let others = std::cell::Cell::new(0);
    let mut discarded = || {
        others.set(others.get() + 1);
        Ok(Box::new(MemorySink::default()) as Box<dyn EventSink>)
    };
    let options = shell("for i in 1 2 3; do ls / >/dev/null; done; sleep 0.05");
    let report = record_measured(&options, 3, &mut discarded, &mut kept, &mut go_on).unwrap();
    let effect = report.ending.disturbance.effect.unwrap();
    assert_eq!((others.get(), effect.runs), (2, 3));
    for times in [effect.without, effect.with] {
        let (wall, cpu) = (times.wall_ns, times.cpu_ns);
        assert!(wall.first <= wall.median && wall.median <= wall.third && wall.first > 50e6, "{wall:?}");
        assert!(cpu.first > 0.0 && cpu.third < wall.third * 16.0, "{cpu:?}");
    }
    assert_eq!(kept.ending.unwrap(), report.ending);
    assert!(allocations_and_frees(&kept.events).0 > 100);
    let began = std::time::Instant::now();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let stopped = RecordOptions { stop: Some(stop), ..shell("sleep 5") };
    let error = record_measured(&stopped, 2, &mut discarded, &mut MemorySink::default(), &mut go_on);
    assert!(matches!(error, Err(Error::StoppedEarly)), "{error:?}");
    assert!(began.elapsed() < Duration::from_secs(4), "the command received the signal to end");
    assert_eq!(own_instances(), Vec::<String>::new());
}

#[test]
fn a_ring_keeps_the_last_seconds() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("a_ring_keeps_the_last_seconds") {
        return;
    }
    let options = RecordOptions {
        duration: Some(Duration::from_secs(6)),
        ..shell("while true; do ls / >/dev/null; sleep 0.05; done")
    };
    let ring = RingOptions { keep: Duration::from_secs(1), memory_bytes: 64 << 20 };
    let mut kept = MemorySink::default();
    let report = record(&options, &mut RingSink::new(&mut kept, ring), &mut go_on).unwrap();
    assert_sorted(&kept.events);
    let (first, last) = (kept.events.first().unwrap().time_ns, kept.events.last().unwrap().time_ns);
    let seconds = (last - first) as f64 / 1e9;
    assert!((0.9..5.0).contains(&seconds), "{seconds} s of 6 s are kept");
    assert!((kept.events.len() as u64) < report.events);
    let start = kept.start.as_ref().unwrap();
    // Whether anything was allocated while the state was read is the machine's affair.
    let quiet_s = first.saturating_sub(start.time_ns) as f64 / 1e9;
    assert!(
        start.time_ns < last && quiet_s < 0.5,
        "the segment's own state: {} {first} {last}",
        start.time_ns
    );
    assert_eq!(kept.ending.unwrap().stopped_by, Some(StoppedBy::Duration));
}

#[test]
fn a_failed_request_ends_a_recording() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let test = "a_failed_request_ends_a_recording";
    if !can_record(test) {
        return;
    }
    // Other shells cannot open any descriptor.
    if !has_program("bash", test) {
        return;
    }
    let Some(group) = MemoryCgroup::new(96 << 10, test) else { return };
    // The table of so many descriptors is one block of 128 KiB, which is charged to the group; the single pages that
    // are taken instead are the end of this shell.
    let script = format!("{}; exec 16000</dev/null; sleep 5", group.join());
    let options = RecordOptions {
        command: ["bash", "-c", script.as_str()].map(str::to_owned).to_vec(),
        until_failure: Order::new(4),
        duration: Some(Duration::from_secs(20)),
        ..shell("")
    };
    let ring = RingOptions { keep: Duration::from_secs(2), memory_bytes: 64 << 20 };
    let mut kept = MemorySink::default();
    let report = record(&options, &mut RingSink::new(&mut kept, ring), &mut go_on).unwrap();
    drop(group);
    let failed = kept.events.iter().filter_map(|event| match event.kind {
        EventKind::Alloc { pfn: None, order, .. } => Some(order.get()),
        _ => None,
    });
    let largest = failed.max().filter(|&order| order > 0);
    if largest.is_none() && report.ending.stopped_by == Some(StoppedBy::Command) {
        return skip(test, "this kernel does not charge a table of descriptors to its group");
    }
    assert_eq!(report.ending.stopped_by, Some(StoppedBy::Trigger));
    assert!(largest >= Some(4), "{largest:?}");
    assert!(report.ending.trigger.unwrap().contains("a request of order"));
}

#[test]
fn allocations_carry_known_flags_and_frames() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("allocations_carry_known_flags_and_frames") {
        return;
    }
    let mut sink = MemorySink::default();
    record(&shell("ls / >/dev/null"), &mut sink, &mut go_on).unwrap();
    let zones = &sink.start.as_ref().unwrap().zones;
    let mut types = HashSet::new();
    for event in &sink.events {
        let EventKind::Alloc { pfn: Some(pfn), migratetype, gfp, order } = event.kind else { continue };
        assert!(zones.iter().any(|z| (z.start_pfn..z.start_pfn + z.spanned).contains(&pfn.0)), "{pfn}");
        assert!(pfn.is_aligned(order), "{pfn} {order}");
        assert!(!gfp.contains(freehold::GfpFlags::UNKNOWN), "{gfp:?}");
        assert_eq!(gfp.migratetype(), migratetype, "{gfp:?}");
        types.insert(migratetype);
    }
    assert!(types.len() >= 2, "{types:?}");
}

#[test]
fn two_recordings_at_once_work() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("two_recordings_at_once_work") {
        return;
    }
    let run = || {
        let mut sink = MemorySink::default();
        record(&shell("for i in 1 2 3 4; do ls / >/dev/null; sleep 0.05; done"), &mut sink, &mut go_on)
            .unwrap();
        sink.events
    };
    let (one, other) = std::thread::scope(|scope| {
        let (one, other) = (scope.spawn(run), scope.spawn(run));
        (one.join().unwrap(), other.join().unwrap())
    });
    for events in [one, other] {
        assert_sorted(&events);
        let (allocations, frees) = allocations_and_frees(&events);
        assert!(allocations > 500 && frees > 500, "{allocations} allocations, {frees} frees");
    }
    assert_eq!(own_instances(), Vec::<String>::new());
}

#[test]
fn a_duration_and_a_flag_end_a_recording() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("a_duration_and_a_flag_end_a_recording") {
        return;
    }
    let began = std::time::Instant::now();
    let options = RecordOptions { duration: Some(Duration::from_millis(300)), ..shell("exec sleep 60") };
    let report = record(&options, &mut MemorySink::default(), &mut go_on).unwrap();
    assert_eq!(report.ending.command_exit, Some(128 + 15), "the command got SIGTERM");

    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let options = RecordOptions { command: Vec::new(), stop: Some(stop), ..shell("") };
    let report = record(&options, &mut MemorySink::default(), &mut go_on).unwrap();
    assert_eq!(report.ending.command_exit, None);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_command_that_does_not_exist_leaves_nothing_behind() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("a_command_that_does_not_exist_leaves_nothing_behind") {
        return;
    }
    let options = RecordOptions { command: vec!["/no/such/program".into()], ..shell("") };
    let error = record(&options, &mut MemorySink::default(), &mut go_on).unwrap_err();
    assert!(matches!(error, Error::Command { .. }), "{error}");
    assert_eq!(own_instances(), Vec::<String>::new());
}

#[test]
fn a_tiny_buffer_tells_what_it_lost() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("a_tiny_buffer_tells_what_it_lost") {
        return;
    }
    let mut sink = MemorySink::default();
    let options = RecordOptions {
        buffer_kib_per_cpu: Some(16),
        ..shell("head -c 300000000 /dev/zero | tail -c 250000000 >/dev/null")
    };
    let report = record(&options, &mut sink, &mut go_on).unwrap();
    let lost = sink.events.iter().map(|e| if let EventKind::Lost { count } = e.kind { count } else { 0 });
    let in_trace: u64 = lost.sum();
    println!("{} events, {} lost, {in_trace} of them in the trace", report.events, report.lost);
    assert!(report.lost > 0 && in_trace > 0);
    assert!(in_trace <= report.lost, "where a page is full it says that events are missing, not how many");
    assert_sorted(&sink.events);
}

#[test]
fn a_stale_instance_is_removed() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("a_stale_instance_is_removed") || !instances().is_dir() {
        return;
    }
    let mut dead = std::process::Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let stale = instances().join(format!("freehold-{}", dead.id()));
    fs::create_dir(&stale).unwrap();
    let report = record(&shell("true"), &mut MemorySink::default(), &mut go_on).unwrap();
    assert!(!stale.exists());
    assert!(report.stale_removed.contains(&format!("freehold-{}", dead.id())));
}

/// Not a test by itself: what `a_killed_recorder_leaves_nothing_behind` kills.
#[test]
fn recorder_to_be_killed() {
    let Some(path) = std::env::var_os("FREEHOLD_RECORD_TO") else { return };
    let mut sink = TraceSink::new(fs::File::create(&path).unwrap(), WriteOptions::new("trace"));
    record(&shell("for i in $(seq 150); do ls / >/dev/null; sleep 0.03; done"), &mut sink, &mut go_on)
        .unwrap();
}

#[test]
fn a_killed_recorder_leaves_nothing_behind() {
    let _machine = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !can_record("a_killed_recorder_leaves_nothing_behind") || !instances().is_dir() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.arrows");
    let mut recorder = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "record::recorder_to_be_killed"])
        .env("FREEHOLD_RECORD_TO", &path)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let instance = instances().join(format!("freehold-{}", recorder.id()));
    wait_until("the instance is there", || instance.exists());
    std::thread::sleep(Duration::from_millis(2500));
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    wait_until("the instance is gone", || !instance.exists());
    let mut reader = TraceReader::open(fs::File::open(&path).unwrap(), ReadOptions::new("trace")).unwrap();
    let mut events = 0;
    while let Some(batch) = reader.next_batch().unwrap() {
        events += batch.len();
    }
    assert!(events > 1000, "{events} events");
    assert!(reader.is_cut_short() && reader.ending().is_none());
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..1000 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited ten seconds until {what}");
}
