//! `bench refill`: the zone lock's hold times while files are read into fragmented memory.

use freehold::{Era, Memory, Migratetype, Order, Platform, Switch, Switches, Zone, ZoneStats};
use freehold_measure::{Cell, HoldTimer, Table};

use crate::error::BenchError;
use crate::harness::{
    BLOCK, Digest, LockedHandle, Pages, START, Setup, Summary, calmest, interleave, on_one_processor,
};
use crate::options::{Options, Scale};
use crate::output::{Chart, Report};

/// Locks that time the holds of the zone lock.
#[derive(Debug)]
struct TimedPlatform;

impl Platform for TimedPlatform {
    type ZoneLock = spin::Mutex<()>;
    type PerCpuLock = spin::Mutex<()>;
    type Tracepoints = HoldTimer;
    type Rule = ();
}

/// Orders of the free blocks of a pageblock: large enough for an attempt to claim it, with too few pages
/// for the claim to succeed.
const CHUNKS: [u8; 3] = [6, 5, 4];

/// Free single pages of a pageblock.
const SINGLES: u64 = 40;

/// An era with switches, and its measurements.
struct Side {
    name: &'static str,
    switches: Switches,
    /// The shortest time of each hold over all rounds, as the holds do the same work in each round.
    holds_ns: Vec<u32>,
}

/// One round of a side.
struct Round {
    stats: ZoneStats,
    pages: u64,
}

fn sides() -> Vec<Side> {
    let without = |era: Era| Switch::RememberedMode.set(era.switches(), false);
    let by_scan = |switches| Switches { claims_by_counts: false, ..switches };
    [
        ("linux-6.1", Era::Linux6_1.switches()),
        ("linux-6.12 without", without(Era::Linux6_12)),
        ("linux-6.12", Era::Linux6_12.switches()),
        ("freehold, by scan, without", by_scan(without(Era::Freehold))),
        ("freehold, by scan", by_scan(Era::Freehold.switches())),
        ("freehold without", without(Era::Freehold)),
        ("freehold", Era::Freehold.switches()),
    ]
    .map(|(name, switches)| Side { name, switches, holds_ns: Vec::new() })
    .into()
}

/// A figure of the holds: name and field.
type Figure = (&'static str, fn(&Summary) -> f64);

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<Report, BenchError> {
    let (blocks, rounds) = match options.scale {
        Scale::Tiny => (4, 1),
        Scale::Quick => (512, 5),
        Scale::Full => (2048, 15),
    };
    let mut digest = Digest::default();
    let mut sides = sides();
    let samples = on_one_processor(|| {
        interleave(rounds, &mut sides, |side| calmest(|| round(side, blocks, &mut digest)))
    })?;
    let mut report = Report::new("refill");
    describe(&sides, &samples, &mut report);
    report.notes.push(format!(
        "{blocks} unmovable pageblocks, in each {SINGLES} single free pages and free blocks of orders 4 to 6; \
         a reader of files takes 90 % of it page by page; `without` is without the remembered mode; \
         `by scan` decides about a claim by scanning the pageblock's pages instead of by its counts; each hold is \
         the shortest of {rounds} rounds"
    ));
    Ok(report.finish(digest))
}

/// Fragments a machine, reads files into it, and records its lock holds.
fn round(side: &mut Side, blocks: u64, digest: &mut Digest) -> Result<Round, BenchError> {
    let setup = Setup::new(blocks * BLOCK.pages(), 1, side.switches);
    let timer = HoldTimer::default();
    setup.with_tracepoints(&timer, |memory: &Memory<'_, TimedPlatform>| {
        let zone = &memory.zones()[0];
        for block in 0..blocks {
            fragmented_block(zone, block * BLOCK.pages())?;
        }
        zone.reset_stats();
        let wanted = zone.free_pages() * 9 / 10;
        let mut reader = LockedHandle::reclaiming(memory, 0);
        let mut pages = 0;
        timer.begin(true);
        while pages < wanted
            && let Some(pfn) = reader.alloc(Order::ZERO)
        {
            digest.add(pfn.0);
            pages += 1;
        }
        timer.pause();
        keep_shortest(&mut side.holds_ns, timer.log().holds_ns());
        Ok(Round { stats: zone.stats(), pages })
    })
}

/// Makes an unmovable pageblock with a few free blocks; the other pages are in use.
fn fragmented_block<P: Platform>(zone: &Zone<'_, P>, at: u64) -> Result<(), BenchError> {
    let unmovable = Migratetype::Unmovable;
    let start = START.add(at);
    zone.set_block_type(start, unmovable)?;
    let mut offset = 0;
    for order in CHUNKS.into_iter().filter_map(Order::new) {
        zone.add_free_block(start.add(offset), order, unmovable)?;
        offset += order.pages();
    }
    // The first page stays in use, so that the blocks before it cannot merge; then every other page is free.
    for page in offset..BLOCK.pages() {
        let number = page - offset;
        if number % 2 == 1 && number / 2 < SINGLES {
            zone.add_free_block(start.add(page), Order::ZERO, unmovable)?;
        } else {
            zone.add_allocated(start.add(page), Order::ZERO, unmovable)?;
        }
    }
    Ok(())
}

fn keep_shortest(shortest: &mut Vec<u32>, holds: &[u32]) {
    if shortest.is_empty() {
        shortest.extend_from_slice(holds);
    }
    for (shortest, hold) in shortest.iter_mut().zip(holds) {
        *shortest = (*shortest).min(*hold);
    }
}

fn describe(sides: &[Side], samples: &[Vec<Round>], report: &mut Report) {
    let mut table = Table::new(
        "refill: reading files into fragmented memory",
        sides.iter().map(|side| side.name.to_owned()).collect(),
    );
    let last: Vec<&Round> = samples.iter().filter_map(|rounds| rounds.last()).collect();
    let mut count = |measure: &str, pick: fn(&Round) -> u64| {
        table.push("work", measure, "number", last.iter().map(|round| Cell::Count(pick(round))).collect());
    };
    count("pages read", |round| round.pages);
    count("refills", |round| round.stats.refills);
    count("claim attempts", |round| round.stats.claim_attempts);
    count("claims", |round| round.stats.claims);
    count("fallback searches", |round| round.stats.fallback_searches);
    count("steals", |round| round.stats.steals);
    count("longest hold, frames touched", |round| round.stats.longest_hold_touched);
    let holds: Vec<Summary> = sides
        .iter()
        .map(|side| Summary::of(&side.holds_ns.iter().map(|&ns| f64::from(ns)).collect::<Vec<_>>()))
        .collect();
    let picks: [Figure; 4] = [
        ("p50", |holds| holds.median),
        ("p99", |holds| holds.p99),
        ("max", |holds| holds.max),
        ("all together", |holds| holds.mean * holds.samples as f64),
    ];
    for (measure, pick) in picks {
        table.push(
            "zone lock held",
            measure,
            "ns",
            holds.iter().map(|holds| Cell::Real(pick(holds))).collect(),
        );
    }
    report.tables.push(table);
    report.charts.push(Chart {
        title: "Zone lock held in a refill while files are read into fragmented memory".into(),
        height: "ns".into(),
        points: picks[..3].iter().map(|(name, _)| (*name).to_owned()).collect(),
        lines: sides
            .iter()
            .zip(&holds)
            .map(|(side, holds)| (side.name.to_owned(), vec![holds.median, holds.p99, holds.max]))
            .collect(),
    });
}
