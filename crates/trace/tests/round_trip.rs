//! A trace that is written and read again is unchanged.

use std::io::{self, Write};

use fastrand::Rng;
use freehold::{GfpFlags, Migratetype, Order, Pfn};
use freehold_trace::{
    ByOrder, Event, EventKind, FreeCount, Origin, PageWork, ReadOptions, Snapshot, StoppedBy, TraceError,
    TraceReader, TraceSummary, TraceWriter, WriteOptions, recompress,
};

use crate::common::{
    Contents, ZONES, ending, every_kind, kinds_of_version_2, origin, read, small_trace, start, trace,
    workload,
};

fn whole(events: Vec<Event>) -> Contents {
    Contents { origin: origin(), start: start(), events, ending: Some(ending()), cut_short: false }
}

fn any_order(random: &mut Rng) -> Order {
    Order::new(random.u8(0..=10)).unwrap()
}

fn any_type(random: &mut Rng) -> Migratetype {
    Migratetype::new(random.u8(0..6)).unwrap()
}

fn any_gfp(random: &mut Rng) -> GfpFlags {
    GfpFlags::from_bits_truncate(random.u32(..))
}

fn any_kind(random: &mut Rng) -> EventKind {
    // The block lies inside one of the zones.
    let (first, pages) = ZONES[random.usize(..ZONES.len())];
    let (order, migratetype) = (any_order(random), any_type(random));
    let pfn = Pfn(first + random.u64(..=pages - order.pages()));
    match random.u8(..12) {
        0 => {
            let gfp = any_gfp(random);
            EventKind::Alloc { pfn: random.bool().then_some(pfn), order, migratetype, gfp }
        }
        1 => EventKind::Free { pfn, order },
        2 => EventKind::ExtFrag {
            pfn,
            order,
            fallback_order: any_order(random),
            migratetype,
            fallback_migratetype: any_type(random),
            change_ownership: random.bool(),
        },
        3 => EventKind::ZoneLocked { pfn, order, migratetype, percpu_refill: random.bool() },
        4 => EventKind::PcpuDrain { pfn, order, migratetype },
        5 => EventKind::Lost { count: random.u64(..) },
        6 => EventKind::CompactionBegin,
        7 => EventKind::CompactionEnd,
        8 => {
            let work = PageWork::ALL[random.usize(..PageWork::ALL.len())];
            EventKind::Work { work, pages: random.u64(..), obtained: random.u64(..) }
        }
        9 => EventKind::DirectReclaimBegin { order, gfp: any_gfp(random) },
        10 => EventKind::KswapdWake { order },
        _ => EventKind::KswapdSleep,
    }
}

fn any_events(random: &mut Rng) -> Vec<Event> {
    let mut time_ns = 0;
    let count = random.usize(..100);
    let event = |_| {
        time_ns += random.u64(..u64::MAX / 100);
        Event { time_ns, cpu: random.u16(..), pid: random.i32(..), kind: any_kind(random) }
    };
    (0..count).map(event).collect()
}

#[test]
fn random_events_survive_a_round_trip() {
    for seed in 0..256 {
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        let events = any_events(&mut random);
        let options = WriteOptions { batch_rows: random.usize(1..50), ..WriteOptions::new("random") };
        let bytes = trace(&events, options, random.usize(1..50));
        assert_eq!(read(&bytes, false).unwrap(), whole(events));
    }
}

#[test]
fn every_kind_survives_a_round_trip() {
    assert_eq!(read(&small_trace(), false).unwrap(), whole(every_kind()));
}

#[test]
fn equal_traces_have_equal_bytes() {
    assert_eq!(small_trace(), small_trace());
}

#[test]
fn empty_trace_survives_a_round_trip() {
    let nothing = Snapshot::default();
    let writer = TraceWriter::create(Vec::new(), WriteOptions::new("empty"), &origin(), &nothing).unwrap();
    let bytes = writer.finish(&ending()).unwrap();
    let contents = read(&bytes, false).unwrap();
    assert_eq!(contents, Contents { start: nothing, ..whole(Vec::new()) });
}

#[test]
fn without_zones_any_block_within_64_bits_is_allowed() {
    let nothing = Snapshot::default();
    let mut writer = TraceWriter::create(Vec::new(), WriteOptions::new("z"), &origin(), &nothing).unwrap();
    let free = |pfn| Event {
        time_ns: 0,
        cpu: 0,
        pid: 0,
        kind: EventKind::Free { pfn: Pfn(pfn), order: Order::MAX_PAGE_ORDER },
    };
    writer.push(&free(1 << 50)).unwrap();
    let refused = writer.push(&free(u64::MAX - 5));
    assert!(matches!(refused, Err(TraceError::PfnOutsideZones { row: 1, .. })), "{refused:?}");
}

#[test]
fn recompressed_is_equal_and_smaller() {
    let events = workload(50_000);
    let bytes = trace(&events, WriteOptions::new("flushed often"), 1000);
    let reader = TraceReader::open(&bytes[..], ReadOptions::new("t")).unwrap();
    let small = recompress(reader, Vec::new(), WriteOptions::small("small")).unwrap();
    assert!(small.len() < bytes.len(), "{} bytes from {}", small.len(), bytes.len());
    assert_eq!(read(&small, false).unwrap(), whole(events));
}

#[test]
fn recompressed_truncated_trace_stays_cut_short() {
    let mut writer =
        TraceWriter::create(Vec::new(), WriteOptions::new("killed"), &origin(), &start()).unwrap();
    for event in every_kind() {
        writer.push(&event).unwrap();
    }
    let bytes = writer.abandon().unwrap();
    let reader = TraceReader::open(&bytes[..], ReadOptions::new("t")).unwrap();
    let small = recompress(reader, Vec::new(), WriteOptions::small("small")).unwrap();
    let expected = Contents { ending: None, cut_short: true, ..whole(every_kind()) };
    assert_eq!(read(&bytes, false).unwrap(), expected);
    assert_eq!(read(&small, false).unwrap(), expected);
}

#[test]
fn writer_refuses_invalid_events_and_continues() {
    let mut writer = TraceWriter::create(Vec::new(), WriteOptions::new("w"), &origin(), &start()).unwrap();
    let events = every_kind();
    writer.push(&events[7]).unwrap();
    let refused = writer.push(&events[0]);
    assert!(matches!(refused, Err(TraceError::TimeBackwards { row: 4, .. })), "{refused:?}");
    let outside =
        Event { kind: EventKind::Free { pfn: Pfn(4095), order: Order::MAX_PAGE_ORDER }, ..events[7] };
    let refused = writer.push(&outside);
    assert!(matches!(refused, Err(TraceError::PfnOutsideZones { pfn: 4095, .. })), "{refused:?}");
    writer.push(&events[7]).unwrap();
    assert_eq!(writer.events(), 2);
    let bytes = writer.finish(&ending()).unwrap();
    assert_eq!(read(&bytes, false).unwrap(), whole(vec![events[7], events[7]]));
}

#[test]
fn kinds_of_version_2_survive_a_round_trip() {
    let events = kinds_of_version_2();
    // The batches have only work, no work, or both.
    for flush_every in [usize::MAX, 9, 1] {
        let bytes = trace(&events, WriteOptions::new("two"), flush_every);
        assert_eq!(read(&bytes, false).unwrap(), whole(events.clone()));
    }
    let mut summary = TraceSummary::default();
    summary.add(&events);
    let kinds = summary.kinds;
    assert_eq!((kinds.compaction_steps, kinds.direct_reclaim, kinds.shrink_inactive), (4, 1, 1));
    assert_eq!((kinds.kswapd_wake, kinds.isolation, kinds.cma, kinds.compaction), (1, 1, 2, 1));
}

/// Returns the snapshot of a machine with pages of 64 KiB, whose pageblocks are as large as its largest blocks.
fn wide_start() -> Snapshot {
    let order = Order::new(13).unwrap();
    let mut start = start();
    start.pagetypeinfo.pageblock_order = order.get();
    start.pagetypeinfo.zones[0].free.fill(ByOrder::new(order));
    start.pagetypeinfo.zones[0].free[1][13] = FreeCount { blocks: 3, capped: false };
    start
}

fn wide_free(order: u8) -> Event {
    let (pfn, order) = (Pfn(ZONES[1].0), Order::new(order).unwrap());
    Event { time_ns: 20, cpu: 0, pid: 0, kind: EventKind::Free { pfn, order } }
}

#[test]
fn large_orders_survive_a_round_trip_and_larger_are_refused() {
    let origin = Origin { page_bytes: 65_536, ..origin() };
    let mut writer =
        TraceWriter::create(Vec::new(), WriteOptions::new("wide"), &origin, &wide_start()).unwrap();
    writer.push(&wide_free(13)).unwrap();
    let refused = writer.push(&wide_free(14)).unwrap_err().to_string();
    assert!(refused.contains("order is 14, which must be 0 to 13"), "{refused}");
    let bytes = writer.finish(&ending()).unwrap();
    let expected = Contents { origin, start: wide_start(), ..whole(vec![wide_free(13)]) };
    assert_eq!(read(&bytes, false).unwrap(), expected);
    let mut summary = TraceSummary::default();
    summary.add(&[wide_free(13)]);
    assert_eq!((summary.free_orders.len(), summary.free_orders[13]), (14, 1));
}

#[test]
fn zones_with_unequal_orders_are_refused() {
    let mut start = wide_start();
    start.pagetypeinfo.zones[0].free[2] = ByOrder::default();
    let refused = TraceWriter::create(Vec::new(), WriteOptions::new("wide"), &origin(), &start);
    let refused = refused.map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("11 orders where others have 14"), "{refused}");
}

/// The files were written before the kinds from 9 on existed.
#[test]
fn traces_of_version_1_are_read() {
    for name in ["c-build.arrows", "thp-churn.arrows"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name);
        let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        let mut reader = TraceReader::open(file, ReadOptions::new(name)).unwrap();
        let summary = TraceSummary::read(&mut reader).unwrap();
        assert!(summary.events > 100_000 && !summary.cut_short, "{name}");
        let ending = reader.ending().unwrap();
        assert_eq!((ending.stopped_by, ending.disturbance.effect), (None, None));
        assert!(reader.origin().events.is_empty());
    }
}

#[test]
fn an_unknown_reason_for_the_end_is_read() {
    let parse = |word: &str| serde_json::from_str::<StoppedBy>(&format!("\"{word}\"")).unwrap();
    assert_eq!((parse("max-size"), parse("duration")), (StoppedBy::MaxSize, StoppedBy::Duration));
    assert_eq!(parse("the-moon"), StoppedBy::Unknown);
}

#[test]
fn summary_counts_events() {
    let bytes = small_trace();
    let mut reader = TraceReader::open(&bytes[..], ReadOptions::new("t")).unwrap();
    let summary = TraceSummary::read(&mut reader).unwrap();
    assert_eq!((summary.events, summary.bytes, summary.batches), (8, bytes.len() as u64, 5));
    assert_eq!((summary.kinds.alloc, summary.kinds.lost, summary.failed()), (2, 2, 1));
    assert_eq!((summary.lost, summary.lost_at_end, summary.occupancy_runs), (u64::MAX, 3, 3));
    assert_eq!((summary.duration_ns(), summary.cpus[&3], summary.cut_short), (3, 8, false));
    assert_eq!((summary.alloc_orders[10], summary.free_orders[0]), (1, 1));
}

/// Records each write, and fails at the `fail_at`-th.
struct Sink {
    writes: Vec<usize>,
    bytes: Vec<u8>,
    fail_at: usize,
}

impl Write for &mut Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.writes.len() == self.fail_at {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.writes.push(bytes.len());
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_into(sink: &mut Sink) -> Result<(), TraceError> {
    let mut writer = TraceWriter::create(sink, WriteOptions::new("sink"), &origin(), &start())?;
    for events in every_kind().chunks(3) {
        events.iter().try_for_each(|event| writer.push(event))?;
        writer.flush()?;
    }
    writer.finish(&ending())?;
    Ok(())
}

#[test]
fn every_batch_is_one_write_and_a_killed_recorder_leaves_whole_batches() {
    let mut sink = Sink { writes: Vec::new(), bytes: Vec::new(), fail_at: usize::MAX };
    write_into(&mut sink).unwrap();
    assert_eq!(sink.writes.len(), 6, "header, occupancy, three batches, ending with end of stream");
    let mut end = 0;
    let mut events_found = Vec::new();
    for length in &sink.writes {
        end += length;
        let contents = read(&sink.bytes[..end], false).unwrap();
        let whole_file = end == sink.bytes.len();
        assert_eq!((contents.ending.is_some(), contents.cut_short), (whole_file, !whole_file));
        assert_eq!(contents.events, every_kind()[..contents.events.len()]);
        events_found.push(contents.events.len());
    }
    assert_eq!(events_found, [0, 0, 3, 6, 8, 8]);
}

#[test]
fn a_failed_write_is_reported_and_nothing_follows_it() {
    for fail_at in 0..6 {
        let mut sink = Sink { writes: Vec::new(), bytes: Vec::new(), fail_at };
        let result = write_into(&mut sink);
        assert!(matches!(result, Err(TraceError::Io { .. })), "{fail_at}: {result:?}");
        assert_eq!(sink.writes.len(), fail_at);
    }
}
