//! Analyses of a trace with known numbers, and of random traces, compared with a naive model that keeps a
//! map of single pages.

use std::collections::HashMap;

use crate::common::{PAGES, machine, order};
use fastrand::Rng;
use freehold::{GfpFlags, Migratetype, Order, Pfn};
use freehold_lab::analysis::{Analysis, Analyzer, Arrival, GfpClass, Lifetimes, Scatter, rounded_up};
use freehold_trace::{Event, EventKind, FrameUse, Run, Snapshot};

fn analyze(start: &Snapshot, events: &[Event]) -> Analysis {
    let mut analyzer = Analyzer::new(start).expect("a machine");
    // Batches may have any length.
    events.chunks(7).for_each(|batch| analyzer.add(batch));
    analyzer.finish()
}

fn event(time_ns: u64, cpu: u16, pid: i32, kind: EventKind) -> Event {
    Event { time_ns, cpu, pid, kind }
}

fn alloc(pfn: u64, size: u8, gfp: GfpFlags) -> EventKind {
    EventKind::Alloc { pfn: Some(Pfn(pfn)), order: order(size), migratetype: gfp.migratetype(), gfp }
}

fn free(pfn: u64, size: u8) -> EventKind {
    EventKind::Free { pfn: Pfn(pfn), order: order(size) }
}

/// Eight pageblocks: the first full of slab pages except one page table, the second of movable pages,
/// the others free.
fn start() -> Snapshot {
    let run = |start, pages, used_for| Run { start: Pfn(start), pages, used_for };
    let occupancy = vec![
        run(0, 512, FrameUse::Slab),
        run(512, 511, FrameUse::Movable),
        run(1023, 1, FrameUse::PageTable),
        run(1024, PAGES - 1024, FrameUse::Free),
    ];
    Snapshot { occupancy, ..machine() }
}

const THP: GfpFlags = GfpFlags::TRANSHUGE;
const USER: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;
const KERNEL: GfpFlags = GfpFlags::KERNEL;

fn known_trace() -> Vec<Event> {
    let (ms, gfp) = (1_000_000, KERNEL | GfpFlags::ZERO);
    vec![
        event(0, 0, 1, alloc(1024, 9, THP)),
        event(100, 0, 1, alloc(2048, 0, gfp)),
        event(1100, 1, 2, free(2048, 0)),
        event(1200, 1, 2, alloc(512 + 5, 0, KERNEL)),
        // A page of the huge page, one from before the trace, and one that is not in use.
        event(2 * ms, 0, 1, free(1024, 0)),
        event(3 * ms, 0, 1, free(3, 0)),
        event(3 * ms, 0, 1, free(2048, 0)),
        // Compaction moves a page, and frees an isolated free page.
        event(4 * ms, 0, 9, EventKind::CompactionBegin),
        event(4 * ms, 0, 9, free(1025, 0)),
        event(4 * ms, 0, 9, free(3000, 0)),
        event(4 * ms, 0, 9, EventKind::CompactionEnd),
        // A lost free event: the page is allocated again.
        event(5 * ms, 0, 1, alloc(1026, 0, USER)),
        event(
            6 * ms,
            1,
            2,
            EventKind::Alloc { pfn: None, order: order(10), migratetype: Migratetype::Movable, gfp: USER },
        ),
        event(6 * ms, 1, 2, EventKind::Lost { count: 3 }),
        event(7 * ms, 1, 2, alloc(2051, 1, USER)),
        event(9 * ms + 1, 0, 1, alloc(2560, 0, GfpFlags::GFP_ATOMIC)),
    ]
}

#[test]
fn analysis_of_a_known_trace_has_the_expected_numbers() {
    let found = analyze(&start(), &known_trace());
    assert_eq!((found.events, found.duration_ns, found.misplaced, found.lost_places), (16, 9_000_001, 1, 1));
    let unseen = found.unseen;
    assert_eq!((unseen.freed, unseen.displaced, unseen.moved, unseen.returned), (2, 1, 1, 1));

    let orders: Vec<_> = found.orders.iter().map(|it| (it.allocs, it.failed, it.frees, it.pages)).collect();
    assert_eq!((orders[0], orders[9], orders[10]), ((4, 0, 4, 4), (1, 0, 0, 512), (0, 1, 0, 0)));

    let class = |name: &str| found.classes.iter().find(|class| class.name == name).expect(name);
    let kernel: &GfpClass = class("GFP_KERNEL");
    assert_eq!((kernel.allocs, kernel.freed_elsewhere), (2, 1));
    assert_eq!((kernel.fate.pages, kernel.fate.freed, kernel.fate.alive), (2, 1, 1));
    assert_eq!((kernel.fate.median_ns, kernel.fate.p99_ns), (Some(rounded_up(1000)), Some(rounded_up(1000))));
    let huge = class("GFP_TRANSHUGE");
    assert_eq!((huge.fate.pages, huge.fate.freed, huge.fate.alive), (512, 1, 509));
    assert_eq!((huge.fate.moved, huge.fate.displaced), (1, 1));
    assert_eq!((class("GFP_HIGHUSER_MOVABLE").failed, class("GFP_ATOMIC").fate.alive), (1, 1));

    let row = |kind: &str, order| -> &Lifetimes {
        found.lifetimes.iter().find(|row| (row.migratetype, row.order) == (kind, order)).expect("a row")
    };
    // 1000 ns are below 2^10, 2 ms below 2^21.
    let octaves = &row("Unmovable", 0).octaves;
    assert_eq!((octaves.len(), octaves[10], octaves.iter().sum::<u64>()), (11, 1, 1));
    assert_eq!((row("Movable", 9).octaves.len(), row("Movable", 9).octaves[21]), (22, 1));

    let bursts: Vec<_> = found.bursts.iter().map(|it| (it.windows, it.peak)).collect();
    assert_eq!(bursts, [(10, 3), (1, 5), (1, 5)]);
    // Windows of 3, 1 and 1 among ten: a mean of 0.5, a variance of 1.1 - 0.25.
    assert!((found.bursts[0].dispersion.expect("allocations") - 1.7).abs() < 1e-9);
    let cpus: Vec<_> =
        found.cpus.iter().map(|it| (it.allocs, it.frees, it.pages_freed, it.pages_from_elsewhere)).collect();
    assert_eq!(cpus, [(4, 3, 1, 0), (1, 1, 1, 1)]);
}

#[test]
fn pageblocks_of_a_known_trace_have_the_expected_contents() {
    let found = analyze(&start(), &known_trace()).pageblocks;
    let before = found.start.expect("an occupancy");
    // The movable frame that was allocated first was not in use: it was on a per-CPU list.
    assert_eq!((before.pages, before.used, before.mixed), ([513, 510, 0], 2, 1));
    assert_eq!((before.majority, before.polluted, before.polluting), ([1, 1, 0], [1, 0, 0], [1, 0, 0]));
    // Freed: one slab page, one page of the huge page; moved: another.
    assert_eq!((found.end.pages, found.end.used, found.end.mixed), ([514, 1020, 0], 4, 1));
    assert_eq!(
        (found.end.majority, found.end.polluted, found.end.polluting),
        ([2, 2, 0], [1, 0, 0], [2, 0, 0])
    );
    assert_eq!(
        found.arrivals[1],
        [Arrival { pageblocks: 1, pages: 1 }, Arrival::default(), Arrival::default()]
    );
    let [unmovable, movable, reclaimable] = found.arrivals[3];
    assert_eq!((unmovable.pages, movable.pages, reclaimable.pages), (1, 510, 0));
    assert_eq!(found.alive[0], Scatter { pages: 514, pageblocks: 3, least: 2 });
    assert_eq!(found.long_lived[0], Scatter { pages: 513, pageblocks: 2, least: 2 });

    let without = analyze(&Snapshot { occupancy: Vec::new(), ..start() }, &known_trace()).pageblocks;
    assert_eq!((without.start, without.end.pages), (None, [2, 510, 0]));
}

#[test]
fn empty_traces_and_distant_times_are_analyzed() {
    let empty = analyze(&machine(), &[]);
    assert_eq!((empty.events, empty.classes.len()), (0, 0));
    assert_eq!(empty.pictures().expect("pictures").len(), 3);
    assert!(empty.tables().iter().all(|table| !table.to_text().is_empty()));
    let far =
        analyze(&machine(), &[event(0, 0, 0, alloc(0, 0, USER)), event(u64::MAX, u16::MAX, 0, free(0, 0))]);
    assert_eq!(far.classes[0].fate.median_ns, Some(u64::MAX));
    assert_eq!(far.pictures().expect("pictures").len(), 3);
}

/// A page of the naive model.
#[derive(Clone, Copy)]
struct Page {
    since_ns: u64,
    cpu: u16,
    gfp: GfpFlags,
    order: Order,
}

/// Sums of the naive model.
#[derive(Default, PartialEq, Eq, Debug)]
struct Naive {
    lifetimes: HashMap<(u8, &'static str), Vec<u64>>,
    unseen: u64,
    displaced: u64,
    elsewhere: u64,
    moved: u64,
    alive: HashMap<(u8, &'static str), u64>,
}

fn naive(events: &[Event]) -> Naive {
    let mut pages: HashMap<u64, Page> = HashMap::new();
    let mut found = Naive::default();
    let mut compacting = false;
    for event in events {
        match event.kind {
            EventKind::Alloc { pfn: Some(pfn), order, gfp, .. } => {
                for frame in pfn.0..pfn.0 + order.pages() {
                    let page = Page { since_ns: event.time_ns, cpu: event.cpu, gfp, order };
                    found.displaced += u64::from(pages.insert(frame, page).is_some());
                }
            }
            EventKind::Free { pfn, order } => {
                for frame in pfn.0..pfn.0 + order.pages() {
                    match pages.remove(&frame) {
                        Some(_) if compacting => found.moved += 1,
                        None if compacting => {}
                        None => found.unseen += 1,
                        Some(page) => {
                            found.elsewhere += u64::from(page.cpu != event.cpu);
                            let key = (page.order.get(), page.gfp.migratetype().name());
                            found.lifetimes.entry(key).or_default().push(event.time_ns - page.since_ns);
                        }
                    }
                }
            }
            EventKind::CompactionBegin => compacting = true,
            EventKind::CompactionEnd => compacting = false,
            _ => {}
        }
    }
    for page in pages.values() {
        *found.alive.entry((page.order.get(), page.gfp.migratetype().name())).or_default() += 1;
    }
    found
}

fn events(random: &mut Rng) -> Vec<Event> {
    let mut time_ns = 1 << 40;
    let gfps = [USER, KERNEL, KERNEL | GfpFlags::RECLAIMABLE, THP];
    let count = random.usize(1..400);
    let events = (0..count).map(|_| {
        time_ns += random.u64(..3_000_000);
        let size = match random.u8(..9) {
            0..4 => 0,
            4..7 => random.u8(1..4),
            _ => random.u8(4..=10),
        };
        let pfn = random.u64(..PAGES) & !((1 << size) - 1);
        let kind = match random.u8(..20) {
            0 => EventKind::CompactionBegin,
            1 => EventKind::CompactionEnd,
            2..=10 => alloc(pfn, size, gfps[random.usize(..4)]),
            _ => free(pfn, size),
        };
        event(time_ns, random.u16(..3), 0, kind)
    });
    events.collect()
}

#[test]
fn random_traces_agree_with_the_naive_model() {
    for seed in 0..256 {
        println!("seed {seed}");
        let events = events(&mut Rng::with_seed(seed));
        let expected = naive(&events);
        let found = analyze(&machine(), &events);
        assert_eq!(found.unseen.freed, expected.unseen);
        assert_eq!(found.unseen.displaced, expected.displaced);
        assert_eq!(found.unseen.moved, expected.moved);
        let elsewhere: u64 = found.cpus.iter().map(|cpu| cpu.pages_from_elsewhere).sum();
        assert_eq!(elsewhere, expected.elsewhere);
        for row in &found.lifetimes {
            let key = (row.order, row.migratetype);
            let mut times = expected.lifetimes.get(&key).cloned().unwrap_or_default();
            times.sort_unstable();
            let at = |percent: usize| {
                times.get((times.len() * percent).div_ceil(100).max(1) - 1).map(|&ns| rounded_up(ns))
            };
            assert_eq!(row.fate.freed, times.len() as u64);
            assert_eq!((row.fate.median_ns, row.fate.p99_ns), (at(50), at(99)));
            for (octave, &pages) in row.octaves.iter().enumerate() {
                let inside = times.iter().filter(|&&ns| 64 - ns.leading_zeros() == octave as u32).count();
                assert_eq!(pages, inside as u64);
            }
            assert_eq!(row.fate.alive, expected.alive.get(&key).copied().unwrap_or(0));
            let fate = row.fate;
            assert_eq!(fate.pages, fate.freed + fate.moved + fate.displaced + fate.alive);
        }
        let freed: u64 = found.lifetimes.iter().map(|row| row.fate.freed).sum();
        assert_eq!(freed, expected.lifetimes.values().map(|times| times.len() as u64).sum::<u64>());
        let alive: u64 = found.pageblocks.end.pages.iter().sum();
        assert_eq!(alive, expected.alive.values().sum::<u64>());
    }
}
