//! An anonymized trace has the same measures, and none of the texts, pids and times of the original.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fs;

use freehold_lab::{Anonymizer, CompareOptions, Comparison, Differing, Gaps, Loaded, Options, differing};
use freehold_trace::{
    ByType, Disturbance, Ending, Event, EventKind, ExactPart, FreeCount, KernelType, KernelTypes, Origin,
    ReadOptions, Snapshot, TraceReader, TraceWriter, WriteOptions,
};
use serde_json::{Value, to_value};

const BLUR_NS: u64 = 1_000_000;

/// A text that must not remain.
const SECRET: &str = "acme-corp";

/// A trace in memory, with the recorded frame numbers.
#[derive(Clone)]
struct Whole {
    origin: Origin,
    start: Snapshot,
    events: Vec<Event>,
    ending: Option<Ending>,
}

impl Whole {
    fn read(bytes: &[u8]) -> Self {
        let mut reader = TraceReader::open(bytes, ReadOptions::new("a trace")).unwrap();
        let (origin, start) = (reader.origin().clone(), reader.start().clone());
        let mut events = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            events.extend_from_slice(batch);
        }
        Self { origin, start, events, ending: reader.ending().cloned() }
    }

    fn written(&self) -> Vec<u8> {
        let options = WriteOptions::new("a trace");
        let mut writer = TraceWriter::create(Vec::new(), options, &self.origin, &self.start).unwrap();
        for event in &self.events {
            writer.push(event).unwrap();
        }
        match &self.ending {
            Some(ending) => writer.finish(ending).unwrap(),
            None => writer.abandon().unwrap(),
        }
    }
}

fn sample(name: &str) -> Vec<u8> {
    fs::read(format!("{}/../../traces/{name}.arrows", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn loaded(bytes: &[u8]) -> Loaded {
    let open = || TraceReader::open(bytes, ReadOptions::new("a trace"));
    Loaded::read("a trace", open, |_| ()).unwrap()
}

fn compared(bytes: &[u8], replicates: u32) -> Comparison {
    loaded(bytes).lab().unwrap().compare(CompareOptions::in_short(replicates)).unwrap()
}

fn anonymized(bytes: &[u8], blur_ns: u64, seed: u64) -> Vec<u8> {
    let loaded = loaded(bytes);
    let anonymizer = Anonymizer::new(&loaded.lab().unwrap(), blur_ns, seed);
    let reader = TraceReader::open(bytes, ReadOptions::new("a trace")).unwrap();
    anonymizer.write(reader, Vec::new(), WriteOptions::new("a trace")).unwrap()
}

/// Returns true if a file contains a text, compressed or not.
fn contains(bytes: &[u8], text: &str) -> bool {
    let whole = Whole::read(bytes);
    let read = format!("{:?} {:?} {:?}", whole.origin, whole.start, whole.ending);
    read.contains(text) || bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Returns a trace with a secret in each text, other task numbers, and another clock.
fn planted(whole: &Whole, secret: &str, pid: impl Fn(i32) -> i32, later_ns: u64) -> Vec<u8> {
    let mut planted = whole.clone();
    let Origin { kernel_release, architecture, page_bytes, cpus, mut events, .. } = whole.origin.clone();
    events.push(format!("{secret}:mm_page_alloc"));
    let mut numbers = kernel_release.split(['.', '-']);
    let version = [0; 3].map(|_| numbers.next().unwrap()).join(".");
    planted.origin = Origin {
        kernel_release: format!("{version}-{secret}"),
        architecture,
        cpu_model: secret.to_owned(),
        cpus,
        page_bytes,
        command: vec![secret.to_owned(), secret.len().to_string()],
        recorder: secret.to_owned(),
        started_unix_s: secret.len() as u64,
        clock: secret.to_owned(),
        events,
        missing_events: vec![secret.to_owned()],
    };
    let plant = |snapshot: &mut Snapshot| {
        snapshot.time_ns += later_ns;
        snapshot.sysctl.insert("swappiness".to_owned(), secret.to_owned());
        snapshot.sysctl.insert(secret.to_owned(), "1".to_owned());
        snapshot.vmstat.insert(secret.to_owned(), 7);
        for counter in snapshot.vmstat.values_mut() {
            *counter += later_ns;
        }
        for zone in &mut snapshot.pagetypeinfo.zones {
            if zone.name == "DMA" {
                secret.clone_into(&mut zone.name);
            }
        }
        let types = &snapshot.pagetypeinfo.types;
        let names = types.iter().map(KernelType::name).chain([secret]);
        let types = KernelTypes::from_names(names).unwrap();
        for zone in &mut snapshot.pagetypeinfo.zones {
            let mut none = zone.free[0];
            none.fill(FreeCount::default());
            let mut free = ByType::new(&types, none);
            free[..zone.free.len()].clone_from_slice(&zone.free);
            let mut blocks = ByType::new(&types, 0);
            blocks[..zone.blocks.len()].copy_from_slice(&zone.blocks);
            (zone.free, zone.blocks) = (free, blocks);
        }
        snapshot.pagetypeinfo.types = types;
        match &mut snapshot.exact {
            ExactPart::Taken(exact) => {
                exact.begin_ns += later_ns;
                exact.end_ns += later_ns;
            }
            ExactPart::Missing { missing } => secret.clone_into(missing),
        }
    };
    plant(&mut planted.start);
    let ending = planted.ending.as_mut().unwrap();
    ending.snapshot.as_mut().map(plant);
    ending.trigger = Some(secret.to_owned());
    ending.command_exit = Some(secret.len() as i32);
    let wall_ns = ending.disturbance.wall_ns + later_ns;
    ending.disturbance = Disturbance { wall_ns, cpu_ns: later_ns, ..ending.disturbance.clone() };
    for event in &mut planted.events {
        event.time_ns += later_ns;
        event.pid = if event.pid == 0 { 0 } else { pid(event.pid) };
    }
    planted.written()
}

/// Returns the texts of a trace that could identify its machine: all except numbers and the texts listed here.
fn identifying_texts(whole: &Whole) -> BTreeSet<String> {
    let known = |text: &str| {
        let of_kernel = ["kmem:mm_page_", "compaction:mm_", "vmscan:mm_", "page_isolation:", "cma:cma_"];
        text.bytes().all(|byte| byte.is_ascii_digit() || b" .-".contains(&byte))
            || ["x86_64", "aarch64", "mono", "local", "left out", "DMA", "DMA32", "Normal", "Movable"]
                .contains(&text)
            || ["command", "duration", "max-events", "max-size", "request"].contains(&text)
            || of_kernel.iter().any(|begin| text.starts_with(begin))
            || text.starts_with("trace anonymize, freehold ")
    };
    let mut found = BTreeSet::new();
    let parts = [to_value(&whole.origin), to_value(&whole.start), to_value(&whole.ending)];
    let mut rest: Vec<Value> = parts.map(Result::unwrap).into();
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) if !known(&text) => drop(found.insert(text)),
            Value::Array(values) => rest.extend(values),
            Value::Object(fields) => rest.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    found
}

/// Returns for each event the seconds since the first one, and its order relative to each time of the start snapshot.
fn places_in_time(whole: &Whole) -> Vec<(u64, Vec<Ordering>)> {
    let exact = whole.start.exact.taken().map(|exact| [exact.begin_ns, exact.end_ns]);
    let moments: Vec<_> = exact.into_iter().flatten().chain([whole.start.time_ns]).collect();
    let first_ns = whole.events[0].time_ns;
    let events = whole.events.iter().map(|event| event.time_ns);
    let place = |time_ns: u64| {
        let orders = moments.iter().map(|moment_ns| time_ns.cmp(moment_ns)).collect();
        ((time_ns - first_ns) / 1_000_000_000, orders)
    };
    events.map(place).collect()
}

#[test]
fn anonymized_events_do_not_cross_seconds_or_snapshots() {
    for (name, _) in SHARED {
        let bytes = sample(name);
        let [before, after] =
            [bytes.clone(), anonymized(&bytes, 50 * BLUR_NS, 2)].map(|bytes| Whole::read(&bytes));
        let (old, new) = (places_in_time(&before), places_in_time(&after));
        let crossing = (0..old.len()).find(|&at| old[at] != new[at]);
        assert_eq!(crossing, None, "{name}: {:?}", crossing.map(|at| (&old[at], &new[at])));
    }
}

/// A trace with compactions, a trace of an arm64 machine with pages of 16 KiB and large holes, and a small trace.
const SHARED: [(&str, u32); 3] = [("thp-churn-2", 1), ("holes-arm64-16k", 1), ("database-2", 2)];

#[test]
fn anonymization_keeps_measures_and_event_order() {
    for (name, replicates) in SHARED {
        let bytes = sample(name);
        let shared = anonymized(&bytes, BLUR_NS, 1);
        let (measures, differ) = differing(&compared(&bytes, replicates), &compared(&shared, replicates));
        assert!(measures > 500 && differ.is_empty(), "{name}: {measures} measures, {differ:?}");

        let [before, after] = [&bytes, &shared].map(|bytes| Whole::read(bytes));
        assert_eq!(before.events.len(), after.events.len());
        let shift = i128::from(after.events[0].time_ns) - i128::from(before.events[0].time_ns);
        let mut moved = 0;
        for (old, new) in before.events.iter().zip(&after.events) {
            assert_eq!((old.cpu, old.kind), (new.cpu, new.kind), "{name}: the order of events");
            let by = i128::from(new.time_ns) - i128::from(old.time_ns) - shift;
            assert!(by.unsigned_abs() <= u128::from(BLUR_NS), "{name}: {by}");
            moved += usize::from(by != 0);
        }
        assert!(moved * 4 > before.events.len(), "{name}: {moved} of {} moved", before.events.len());
        assert!(after.events.is_sorted_by_key(|event| event.time_ns));
        assert!(!identifying_texts(&before).is_empty());
        assert_eq!(identifying_texts(&after), BTreeSet::new(), "{name}");
        let zero = |counter: &u64| *counter == 0;
        assert!(after.start.vmstat.values().all(zero) && !before.start.vmstat.values().all(zero), "{name}");
        assert_eq!(after.origin.started_unix_s, 0, "{name}");
    }
}

#[test]
fn anonymization_keeps_measures_of_era_parts() {
    let bytes = sample("holes-arm64-16k");
    let whole = |bytes: &[u8]| {
        let options = Options { runs: 1, ..Options::default() };
        let loaded = loaded(bytes);
        let options = CompareOptions { times: false, replicates: 1, ..CompareOptions::from(options) };
        loaded.lab().unwrap().compare(options).unwrap()
    };
    let (measures, differ) = differing(&whole(&bytes), &whole(&anonymized(&bytes, 50 * BLUR_NS, 3)));
    println!("{measures} measures");
    assert!(measures > 2000 && differ.is_empty(), "{measures} measures, {differ:?}");
}

#[test]
fn anonymization_keeps_sentences_on_gaps() {
    let mut whole = Whole::read(&sample("database-2"));
    for at in [70_000, 40_000, 20_001] {
        let Event { time_ns, cpu, .. } = whole.events[at];
        whole.events.insert(at, Event { time_ns, cpu: 1 - cpu, pid: 0, kind: EventKind::Lost { count: 5 } });
    }
    let bytes = whole.written();
    let [before, after] =
        [bytes.clone(), anonymized(&bytes, 20 * BLUR_NS, 5)].map(|bytes| compared(&bytes, 1));
    assert_eq!(before.gaps.places.len(), 3);
    let said = |comparison: &Comparison| comparison.gaps.sentences(&comparison.eras[0].followed);
    assert_eq!(said(&before), said(&after));
    let since_first = |comparison: &Comparison| -> Vec<_> {
        let Gaps { first_ns, places, .. } = &comparison.gaps;
        places.iter().map(|gap| (gap.begin_ns - first_ns, gap.end_ns - first_ns)).collect()
    };
    assert_eq!(since_first(&before), since_first(&after));
    assert_eq!(differing(&before, &after).1, Vec::new());
}

#[test]
fn anonymized_traces_have_no_names_pids_or_clock() {
    let whole = Whole::read(&sample("database-2"));
    // Pids that are no task number in the anonymized trace.
    let secret = planted(&whole, SECRET, |pid| pid + 1_000_000_000, 77_000_000_000);
    let other = planted(&whole, "somebody-else", |pid| i32::MAX - pid, 5_000_000_000);
    assert!(contains(&secret, SECRET) && !contains(&other, SECRET), "the search finds planted secrets");
    let shared = anonymized(&secret, BLUR_NS, 7);
    assert!(!contains(&shared, SECRET));
    assert!(Whole::read(&shared).events.iter().all(|event| (0..1_000_000).contains(&event.pid)));
    assert!(shared == anonymized(&other, BLUR_NS, 7), "two traces that differ only in identifying data");
    assert!(shared != anonymized(&other, BLUR_NS, 8), "another blur");
}

#[test]
fn a_blur_that_changes_replays_is_detected() {
    let bytes = sample("database-2");
    let mut whole = Whole::read(&bytes);
    for event in &mut whole.events {
        event.time_ns -= event.time_ns % (100 * BLUR_NS);
    }
    let unchanged = compared(&bytes, 1);
    let (measures, differ) = differing(&unchanged, &compared(&whole.written(), 1));
    let Some(Differing { what, values }) = differ.first() else { panic!("none of {measures} differ") };
    assert!(!what.is_empty() && values[0] != values[1]);
    assert_eq!(differing(&unchanged, &compared(&bytes, 1)), (measures, Vec::new()));
}

#[test]
fn equal_times_stay_in_order_and_empty_traces_work() {
    let mut whole = Whole::read(&sample("database-2"));
    whole.events.truncate(500);
    whole.ending = None;
    for event in &mut whole.events {
        event.time_ns = 5;
    }
    let shared = Whole::read(&anonymized(&whole.written(), BLUR_NS, 1));
    assert!(shared.events.iter().all(|event| event.time_ns == 1_000_000_000));
    assert!(shared.ending.is_none());
    whole.events.retain(|event| matches!(event.kind, EventKind::Lost { .. }));
    assert!(whole.events.is_empty());
    assert!(Whole::read(&anonymized(&whole.written(), BLUR_NS, 1)).events.is_empty());
}
