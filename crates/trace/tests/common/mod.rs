//! Traces for the tests.
#![allow(dead_code, reason = "every test binary uses its own part")]

use freehold::{GfpFlags, MIGRATETYPES, Migratetype, Order, Pfn};
use freehold_trace::{
    Disturbance, EXACT_VERSION, Ending, Event, EventKind, ExactList, ExactPart, ExactState, ExactZone,
    FrameUse, FreeCount, ObserverEffect, Origin, PageTypeInfo, PageTypeZone, PageWork, Pageset, ReadOptions,
    Run, Snapshot, StoppedBy, TraceError, TraceReader, TraceWriter, WriteOptions, ZoneSnapshot,
};

/// The zones of [`start`]: first frame and size.
pub(crate) const ZONES: [(u64, u64); 2] = [(1, 4095), (0x10_0000, 0x8_0000)];

pub(crate) fn origin() -> Origin {
    Origin {
        kernel_release: "7.3.0-test".to_owned(),
        architecture: "x86_64".to_owned(),
        cpu_model: "test \"machine\"\n\u{1F600}".to_owned(),
        cpus: 4,
        page_bytes: 4096,
        command: vec!["make".to_owned(), "-j4".to_owned()],
        recorder: "test".to_owned(),
        started_unix_s: 1_700_000_000,
        clock: "mono".to_owned(),
        events: vec!["kmem:mm_page_alloc".to_owned()],
        missing_events: vec!["cma:cma_release".to_owned()],
    }
}

pub(crate) fn start() -> Snapshot {
    let zone = |name: &str, (start_pfn, spanned): (u64, u64)| ZoneSnapshot {
        name: name.to_owned(),
        start_pfn,
        spanned,
        present: spanned,
        managed: spanned - 1,
        protection: vec![0, 0, 1982],
        pagesets: vec![Pageset { cpu: 1, count: 3, high: 14, batch: 7, high_min: 14, high_max: u64::MAX }],
        ..ZoneSnapshot::default()
    };
    let blocks = [1; MIGRATETYPES].into();
    let mut of_zone = PageTypeZone { node: 0, name: "DMA".to_owned(), blocks, ..Default::default() };
    let types = Migratetype::ALL.into_iter().filter(|&kind| kind != Migratetype::Cma).collect();
    of_zone.free[1][10] = FreeCount { blocks: 100_000, capped: true };
    Snapshot {
        time_ns: 17,
        zones: vec![zone("DMA", ZONES[0]), zone("Normal", ZONES[1])],
        pagetypeinfo: PageTypeInfo { pageblock_order: 9, zones: vec![of_zone], types },
        vmstat: [("nr_free_pages".to_owned(), u64::MAX)].into(),
        sysctl: [("min_free_kbytes".to_owned(), "67584".to_owned())].into(),
        occupancy: vec![
            Run { start: Pfn(0), pages: 1, used_for: FrameUse::Absent },
            Run { start: Pfn(1), pages: 99, used_for: FrameUse::Slab },
            Run { start: Pfn(0x10_0000), pages: 0x8_0000, used_for: FrameUse::Other },
        ],
        exact: ExactPart::Taken(Box::new(exact())),
    }
}

fn exact() -> ExactState {
    let list = ExactList { order: 3, migratetype: 1, pfns: vec![16, 8], ..ExactList::default() };
    let zone = ExactZone { name: "DMA".to_owned(), lists: vec![list], ..ExactZone::default() };
    ExactState {
        version: EXACT_VERSION,
        begin_ns: 15,
        end_ns: 16,
        zones: vec![zone],
        ..ExactState::default()
    }
}

pub(crate) fn ending() -> Ending {
    Ending {
        snapshot: Some(Snapshot { occupancy: Vec::new(), time_ns: 99, ..start() }),
        lost_by_cpu: vec![0, 3],
        command_exit: Some(-1),
        disturbance: Disturbance {
            cpu_ns: 1,
            wall_ns: 2,
            own_events: 3,
            buffer_pages: 4,
            effect: Some(ObserverEffect { runs: 5, ..ObserverEffect::default() }),
        },
        stopped_by: Some(StoppedBy::MaxSize),
        trigger: Some("a request of order 4 failed".to_owned()),
    }
}

/// Returns events of every kind and shape.
pub(crate) fn every_kind() -> Vec<Event> {
    let pfn = Pfn(0x10_0400);
    let order = Order::MAX_PAGE_ORDER;
    let migratetype = Migratetype::Reclaimable;
    let gfp = GfpFlags::TRANSHUGE | GfpFlags::UNKNOWN;
    let kinds = [
        EventKind::Alloc { pfn: Some(pfn), order, migratetype, gfp },
        EventKind::Alloc { pfn: None, order: Order::ZERO, migratetype: Migratetype::Movable, gfp },
        EventKind::Free { pfn: Pfn(1), order: Order::ZERO },
        EventKind::ExtFrag {
            pfn,
            order: Order::ZERO,
            fallback_order: order,
            migratetype,
            fallback_migratetype: Migratetype::Unmovable,
            change_ownership: true,
        },
        EventKind::ZoneLocked { pfn, order, migratetype, percpu_refill: true },
        EventKind::PcpuDrain { pfn, order, migratetype: Migratetype::Isolate },
        EventKind::Lost { count: 0 },
        EventKind::Lost { count: u64::MAX },
    ];
    let event = |(i, kind)| Event { time_ns: 20 + i as u64 / 2, cpu: 3, pid: -1, kind };
    kinds.into_iter().enumerate().map(event).collect()
}

/// Returns one event of every kind that version 2 added.
pub(crate) fn kinds_of_version_2() -> Vec<Event> {
    let works =
        PageWork::ALL.map(|work| EventKind::Work { work, pages: u64::MAX, obtained: 5 + work as u64 });
    let others = [
        EventKind::DirectReclaimBegin { order: Order::MAX_PAGE_ORDER, gfp: GfpFlags::TRANSHUGE },
        EventKind::KswapdWake { order: Order::ZERO },
        EventKind::KswapdSleep,
        EventKind::CompactionBegin,
        EventKind::CompactionEnd,
    ];
    let event = |(i, kind)| Event { time_ns: 20 + i as u64, cpu: 1, pid: 9, kind };
    works.into_iter().chain(others).enumerate().map(event).collect()
}

/// Returns a workload: pages are allocated and freed, the most recent first, at a realistic rate.
pub(crate) fn workload(events: usize) -> Vec<Event> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut free: Vec<u64> = (0..0x8_0000).map(|page| ZONES[1].0 + (page * 7919) % 0x8_0000).collect();
    let mut in_use = Vec::new();
    let mut time_ns = 1_000_000_000;
    let mut out = Vec::with_capacity(events);
    let (mut allocate, mut left, mut cpu) = (true, 0, 0);
    while out.len() < events {
        if left == 0 {
            (left, allocate, cpu) = (random(200) + 1, random(2) == 0, random(4) as u16);
            time_ns += random(50_000);
        }
        left -= 1;
        time_ns += 150 + random(600);
        let order = Order::ZERO;
        let kind = if (allocate || in_use.is_empty()) && free.len() > 1 {
            let Some(page) = free.pop() else { break };
            in_use.push(page);
            let gfp = GfpFlags::HIGHUSER_MOVABLE;
            EventKind::Alloc { pfn: Some(Pfn(page)), order, migratetype: gfp.migratetype(), gfp }
        } else {
            let near_end = in_use.len() - 1 - random(in_use.len().min(400) as u64) as usize;
            let page = in_use.swap_remove(near_end);
            free.push(page);
            EventKind::Free { pfn: Pfn(page), order }
        };
        out.push(Event { time_ns, cpu, pid: 1000 + i32::from(cpu), kind });
    }
    out
}

/// Returns the bytes of a trace of these events. The writer is flushed after every `flush_every` events.
pub(crate) fn trace(events: &[Event], options: WriteOptions, flush_every: usize) -> Vec<u8> {
    let mut writer = TraceWriter::create(Vec::new(), options, &origin(), &start()).unwrap();
    for events in events.chunks(flush_every) {
        for event in events {
            writer.push(event).unwrap();
        }
        writer.flush().unwrap();
    }
    writer.finish(&ending()).unwrap()
}

/// Returns a trace of [`every_kind`] in three batches.
pub(crate) fn small_trace() -> Vec<u8> {
    trace(&every_kind(), WriteOptions::new("small"), 3)
}

/// All data that a reader returns.
#[derive(PartialEq, Debug)]
pub(crate) struct Contents {
    pub(crate) origin: Origin,
    pub(crate) start: Snapshot,
    pub(crate) events: Vec<Event>,
    pub(crate) ending: Option<Ending>,
    pub(crate) cut_short: bool,
}

pub(crate) fn read(bytes: &[u8], partial: bool) -> Result<Contents, TraceError> {
    let mut reader = TraceReader::open(bytes, ReadOptions { file: "t.arrows".to_owned(), partial })?;
    let mut events = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        assert!(!batch.is_empty());
        events.extend_from_slice(batch);
    }
    assert!(reader.next_batch()?.is_none());
    Ok(Contents {
        origin: reader.origin().clone(),
        start: reader.start().clone(),
        events,
        ending: reader.ending().cloned(),
        cut_short: reader.is_cut_short(),
    })
}
