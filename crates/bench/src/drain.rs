//! `bench drain`: threads that free all they have at their exit, and wait for each other.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use freehold::{Era, Memory, Order, Pfn, Switch, Switches, ZoneStats};
use freehold_lab::{Cell, ReplayLocks, Table, hold_log};

use crate::chart::Chart;
use crate::harness::{Digest, Pages, interleave, ns_since, wrong};
use crate::pin::{pin, processors, sharing_note};
use crate::setup::{START, Setup, Shared};
use crate::summary::Summary;
use crate::{BenchError, Options, Report, Scale};

/// How many threads exit at once.
const THREADS: [u16; 2] = [2, 8];

/// What one thread saw of the zone lock, in nanoseconds.
#[derive(Clone, Copy, Default, Debug)]
struct Exit {
    longest_hold: f64,
    p99_hold: f64,
    waited: f64,
    longest_wait: f64,
}

/// One round: the worst of all threads, and the sum of their waiting.
#[derive(Clone, Copy, Default, Debug)]
struct Round {
    worst: Exit,
    wall_ns: f64,
    stats: ZoneStats,
}

fn sides() -> [(&'static str, Switches); 4] {
    let without = Switch::BatchedDraining.set(Era::Freehold.switches(), false);
    [
        ("linux-6.12", Era::Linux6_12.switches()),
        ("linux-7.3", Era::Linux7_3.switches()),
        ("freehold without", without),
        ("freehold", Era::Freehold.switches()),
    ]
}

/// A figure of a round: its name, its unit, and where it is.
type Figure = (&'static str, &'static str, fn(&Round) -> f64);

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<Report, BenchError> {
    let (pages, rounds) = match options.scale {
        Scale::Tiny => (1 << 10, 1),
        Scale::Quick => (1 << 16, 7),
        Scale::Full => (1 << 18, 31),
    };
    let cpus = processors(usize::from(THREADS[1]))?;
    let mut digest = Digest::default();
    let mut report = Report::new("drain");
    let mut table = Table::new(
        "drain: threads that free all their pages at exit",
        sides().iter().map(|side| side.0.to_owned()).collect(),
    );
    for threads in THREADS {
        let samples = interleave(rounds, &mut sides(), |(_, switches)| {
            let setup = Setup::new(pages * 2, threads, *switches);
            round(setup, pages / u64::from(threads), &cpus, &mut digest)
        })?;
        describe(threads, &samples, &mut table);
        report.charts.push(picture(threads, &samples));
    }
    report.tables.push(table);
    report.notes.extend(sharing_note(&cpus));
    report.notes.push(format!(
        "{pages} pages in all, freed page by page by as many threads on {} processors, then each drains its \
         lists; medians of {rounds} rounds of the worst thread; a hold or wait during which the system ran \
         somebody else is as long as that; `without` is without batched draining",
        cpus.len()
    ));
    Ok(report.finish(digest))
}

/// All threads begin to free at the same moment.
fn round(setup: Setup, pages_each: u64, cpus: &[usize], digest: &mut Digest) -> Result<Round, BenchError> {
    setup.with(|memory: &Memory<'_, ReplayLocks>| {
        let zone = &memory.zones()[0];
        zone.add_free(START, setup.pages)?;
        let mut owned: Vec<Vec<Pfn>> = vec![Vec::new(); usize::from(setup.cpus)];
        // As processes that run at the same time: each has pages from all over.
        for _ in 0..pages_each {
            for (cpu, pages) in owned.iter_mut().enumerate() {
                let pfn = Shared { memory, cpu: cpu as u16 }.alloc(Order::ZERO);
                pages.push(pfn.ok_or_else(|| wrong("has no block left"))?);
            }
        }
        owned.iter().flatten().for_each(|pfn| digest.add(pfn.0));
        memory.drain_all();
        zone.reset_stats();
        let barrier = Barrier::new(owned.len());
        let start = Instant::now();
        let exits = thread::scope(|scope| {
            let threads: Vec<_> = owned
                .iter()
                .enumerate()
                .map(|(cpu, pages)| {
                    let (barrier, processor) = (&barrier, cpus[cpu % cpus.len()]);
                    scope.spawn(move || exit(memory, cpu as u16, processor, pages, barrier))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| BenchError::Stopped)?)
                .collect::<Result<Vec<_>, _>>()
        })?;
        let wall_ns = ns_since(start);
        if zone.free_pages() != setup.pages {
            return Err(wrong("has lost pages"));
        }
        let worst = |pick: fn(&Exit) -> f64| exits.iter().map(pick).fold(0.0, f64::max);
        let worst = Exit {
            longest_hold: worst(|exit| exit.longest_hold),
            p99_hold: worst(|exit| exit.p99_hold),
            waited: worst(|exit| exit.waited),
            longest_wait: worst(|exit| exit.longest_wait),
        };
        Ok(Round { worst, wall_ns, stats: zone.stats() })
    })
}

/// One thread's exit.
fn exit(
    memory: &Memory<'_, ReplayLocks>,
    cpu: u16,
    processor: usize,
    pages: &[Pfn],
    barrier: &Barrier,
) -> Result<Exit, BenchError> {
    let pinned = pin(processor);
    // The others wait for this thread, whatever happened to it.
    barrier.wait();
    pinned?;
    hold_log::start(true);
    let mut freed = Ok(());
    for &pfn in pages {
        freed = freed.and(memory.free(cpu, pfn, Order::ZERO));
    }
    memory.zones()[0].drain_cpu(cpu);
    hold_log::record(false);
    freed?;
    let holds = Summary::of(&hold_log::holds_ns().into_iter().map(f64::from).collect::<Vec<_>>());
    let waits = hold_log::waits();
    Ok(Exit {
        longest_hold: holds.max,
        p99_hold: holds.p99,
        waited: waits.total_ns as f64,
        longest_wait: waits.longest_ns as f64,
    })
}

fn median(rounds: &[Round], pick: fn(&Round) -> f64) -> f64 {
    Summary::of(&rounds.iter().map(pick).collect::<Vec<_>>()).median
}

fn describe(threads: u16, samples: &[Vec<Round>], table: &mut Table) {
    let group = format!("{threads} threads");
    let picks: [Figure; 6] = [
        ("longest hold", "µs", |round| round.worst.longest_hold / 1e3),
        ("p99 of the holds", "µs", |round| round.worst.p99_hold / 1e3),
        ("a thread waited, in all", "µs", |round| round.worst.waited / 1e3),
        ("longest wait", "µs", |round| round.worst.longest_wait / 1e3),
        ("from the first free to the last exit", "µs", |round| round.wall_ns / 1e3),
        ("largest drain", "pages", |round| round.stats.largest_drain as f64),
    ];
    for (measure, unit, pick) in picks {
        let cells = samples.iter().map(|rounds| Cell::Real(median(rounds, pick)));
        table.push(&group, measure, unit, cells.collect());
    }
}

fn picture(threads: u16, samples: &[Vec<Round>]) -> Chart {
    let lines = sides().into_iter().zip(samples).map(|((name, _), rounds)| {
        let values = vec![
            median(rounds, |round| round.worst.p99_hold / 1e3),
            median(rounds, |round| round.worst.longest_hold / 1e3),
            median(rounds, |round| round.worst.longest_wait / 1e3),
            median(rounds, |round| round.worst.waited / 1e3),
        ];
        (name.to_owned(), values)
    });
    Chart {
        title: format!("{threads} threads free all their pages at exit"),
        height: "µs".into(),
        points: ["p99 hold", "longest hold", "longest wait", "all waits"].map(str::to_owned).into(),
        lines: lines.collect(),
    }
}
