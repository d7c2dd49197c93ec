//! `bench drain`: how long threads that exit and free all their pages wait for each other.

use std::marker::PhantomData;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use freehold::{Era, Memory, Order, Pfn, Platform, Switch, Switches, Tracepoints, ZoneStats};
use freehold_measure::{Cell, HoldTimer, Table};
use spin::mutex::TicketMutex;

use super::by_processor::ByProcessor;
use super::queue::{Turn, in_turn};
use crate::error::BenchError;
use crate::harness::{
    Digest, LockedHandle, Pages, START, Setup, Summary, calmest, clock_ns, interleave, ns_since,
    on_one_processor, pin, processors, sharing_note, wrong,
};
use crate::options::{Options, Scale};
use crate::output::{Chart, Report};

/// Locks as in Linux, with tracepoints: waiters for the zone lock spin and get it in turn.
#[derive(Debug)]
struct FairPlatform<T>(PhantomData<T>);

impl<T: Tracepoints> Platform for FairPlatform<T> {
    type ZoneLock = TicketMutex<()>;
    type PerCpuLock = spin::Mutex<()>;
    type Tracepoints = T;
    type Rule = ();
}

/// The numbers of CPUs that exit at once.
const CPUS: [u16; 2] = [2, 8];

/// The zone lock's times on one CPU, in nanoseconds.
#[derive(Clone, Copy, Default, Debug)]
struct Exit {
    /// The number of holds, and their total time.
    holds: f64,
    lock_held_ns: f64,
    longest_hold: f64,
    p99_hold: f64,
    waited: f64,
    longest_wait: f64,
}

impl Exit {
    fn new(holds: &[f64], waited: f64, longest_wait: f64) -> Self {
        let sum = Summary::of(holds);
        Self {
            holds: sum.samples as f64,
            lock_held_ns: holds.iter().sum(),
            longest_hold: sum.max,
            p99_hold: sum.p99,
            waited,
            longest_wait,
        }
    }
}

/// A round: the largest value of all CPUs, but the sum of their holds.
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

/// A figure of a round: name, unit, and field.
type Figure = (&'static str, &'static str, fn(&Round) -> f64);

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<Report, BenchError> {
    let (pages, rounds) = match options.scale {
        Scale::Tiny => (1 << 10, 1),
        Scale::Quick => (1 << 16, 7),
        Scale::Full => (1 << 18, 31),
    };
    let processors = processors(usize::from(CPUS[1]))?;
    let mut digest = Digest::default();
    let mut report = Report::new("drain");
    let mut table = Table::new(
        "drain: CPUs that free all their pages at exit",
        sides().iter().map(|side| side.0.to_owned()).collect(),
    );
    let mut add = |title: &str, samples: &[Vec<Round>]| {
        describe(title, samples, &mut table);
        report.charts.push(picture(title, samples));
    };
    // If threads share a processor, they wait for time slices, not for the lock.
    for threads in CPUS.into_iter().filter(|&threads| usize::from(threads) <= processors.len()) {
        let samples = interleave(rounds, &mut sides(), |(_, switches)| {
            let setup = Setup::new(pages * 2, threads, *switches);
            at_once(setup, pages / u64::from(threads), &processors, &mut digest)
        })?;
        add(&format!("{threads} threads"), &samples);
    }
    for cpus in CPUS {
        let samples = on_one_processor(|| {
            interleave(rounds, &mut sides(), |(_, switches)| {
                let setup = Setup::new(pages * 2, cpus, *switches);
                calmest(|| computed(setup, pages / u64::from(cpus), &mut digest))
            })
        })?;
        add(&format!("{cpus} CPUs, computed"), &samples);
    }
    report.tables.push(table);
    report.notes.extend(sharing_note(&processors));
    report.notes.push(format!(
        "{pages} pages in all, freed page by page by as many CPUs, which then drain their lists; medians of \
         {rounds} rounds of the worst CPU; threads spin for the zone lock and get it in turn; the time in which \
         the system ran other threads is part of their holds and waits; `without` is without batched draining"
    ));
    report.notes.push(
        "computed: one thread does the work of all CPUs and times it; then a simulation with one processor per \
         CPU grants the lock in the order of the requests; batching takes the lock more often; the rows of all \
         holds and of all waits say what that costs"
            .to_owned(),
    );
    Ok(report.finish(digest))
}

/// Runs threads that all start to free at the same time.
fn at_once(
    setup: Setup,
    pages_each: u64,
    processors: &[usize],
    digest: &mut Digest,
) -> Result<Round, BenchError> {
    let times = ByProcessor::new(processors);
    setup.with_tracepoints(&times, |memory: &Memory<'_, FairPlatform<ByProcessor>>| {
        let owned = everybodys_pages(memory, setup, pages_each, digest)?;
        let times = &times;
        let barrier = Barrier::new(owned.len());
        let start = Instant::now();
        let exits = thread::scope(|scope| {
            let threads: Vec<_> = owned
                .iter()
                .zip(processors)
                .enumerate()
                .map(|(cpu, (pages, &processor))| {
                    let barrier = &barrier;
                    scope.spawn(move || exit(memory, times, cpu as u16, processor, pages, barrier))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| BenchError::Stopped)?)
                .collect::<Result<Vec<_>, _>>()
        })?;
        judge(memory, setup, &exits, ns_since(start))
    })
}

/// Computes the times of CPUs that all start to free at the same time.
fn computed(setup: Setup, pages_each: u64, digest: &mut Digest) -> Result<Round, BenchError> {
    let timer = HoldTimer::default();
    setup.with_tracepoints(&timer, |memory: &Memory<'_, FairPlatform<HoldTimer>>| {
        let owned = everybodys_pages(memory, setup, pages_each, digest)?;
        let mut freed = vec![0; owned.len()];
        let (clock, mut noted) = (clock_ns(), 0);
        timer.begin(true);
        let outcomes = in_turn(owned.len(), |cpu| {
            let mut before = 0.0;
            // Repeats until the lock was taken; the last call drains the lists.
            while freed[cpu] <= owned[cpu].len() {
                let start = Instant::now();
                match owned[cpu].get(freed[cpu]) {
                    Some(&pfn) => memory.free(cpu as u16, pfn, Order::ZERO)?,
                    None => memory.zones()[0].drain_cpu(cpu as u16),
                }
                let took = (ns_since(start) - clock).max(0.0);
                freed[cpu] += 1;
                let holds = timer.holds_since(noted);
                noted += holds.len();
                if holds.is_empty() {
                    before += took;
                    continue;
                }
                let lock_held_ns: f64 = holds.iter().map(|&hold| f64::from(hold)).sum();
                let between = (took - lock_held_ns).max(0.0) / holds.len() as f64;
                let mut turns: Vec<_> =
                    holds.iter().map(|&hold| Turn { before: between, hold: f64::from(hold) }).collect();
                turns[0].before += before;
                return Ok(turns);
            }
            Ok(if before > 0.0 { vec![Turn { before, hold: 0.0 }] } else { Vec::new() })
        });
        timer.pause();
        let outcomes = outcomes?;
        let exits: Vec<_> = outcomes
            .iter()
            .map(|outcome| Exit::new(&outcome.holds, outcome.waited, outcome.longest_wait))
            .collect();
        let end = outcomes.iter().map(|outcome| outcome.end).fold(0.0, f64::max);
        judge(memory, setup, &exits, end)
    })
}

/// Returns the pages of each CPU; half of the zone stays free.
fn everybodys_pages<T: Tracepoints>(
    memory: &Memory<'_, FairPlatform<T>>,
    setup: Setup,
    pages_each: u64,
    digest: &mut Digest,
) -> Result<Vec<Vec<Pfn>>, BenchError> {
    let zone = &memory.zones()[0];
    zone.add_free(START, setup.pages)?;
    let mut owned: Vec<Vec<Pfn>> = vec![Vec::new(); usize::from(setup.cpus)];
    // Pages are scattered, as those of processes that run at the same time.
    for _ in 0..pages_each {
        for (cpu, pages) in owned.iter_mut().enumerate() {
            let pfn = LockedHandle::reclaiming(memory, cpu as u16).alloc(Order::ZERO);
            pages.push(pfn.ok_or_else(|| wrong("has no block left"))?);
        }
    }
    for pfn in owned.iter().flatten() {
        digest.add(pfn.0);
    }
    memory.drain_all();
    zone.reset_stats();
    Ok(owned)
}

/// Summarises a round.
fn judge<T: Tracepoints>(
    memory: &Memory<'_, FairPlatform<T>>,
    setup: Setup,
    exits: &[Exit],
    wall_ns: f64,
) -> Result<Round, BenchError> {
    let zone = &memory.zones()[0];
    if zone.free_pages() != setup.pages {
        return Err(wrong("has lost pages"));
    }
    let worst = |pick: fn(&Exit) -> f64| exits.iter().map(pick).fold(0.0, f64::max);
    let sum = |pick: fn(&Exit) -> f64| exits.iter().map(pick).sum::<f64>();
    let worst = Exit {
        holds: sum(|exit| exit.holds),
        lock_held_ns: sum(|exit| exit.lock_held_ns),
        longest_hold: worst(|exit| exit.longest_hold),
        p99_hold: worst(|exit| exit.p99_hold),
        waited: worst(|exit| exit.waited),
        longest_wait: worst(|exit| exit.longest_wait),
    };
    Ok(Round { worst, wall_ns, stats: zone.stats() })
}

/// Runs one thread's exit.
fn exit(
    memory: &Memory<'_, FairPlatform<ByProcessor>>,
    times: &ByProcessor,
    cpu: u16,
    processor: usize,
    pages: &[Pfn],
    barrier: &Barrier,
) -> Result<Exit, BenchError> {
    let pinned = pin(processor);
    // The other threads wait for this one even if it failed.
    barrier.wait();
    pinned?;
    times.begin(processor);
    let mut freed = Ok(());
    for &pfn in pages {
        freed = freed.and(memory.free(cpu, pfn, Order::ZERO));
    }
    memory.zones()[0].drain_cpu(cpu);
    let log = times.end(processor);
    freed?;
    let holds: Vec<f64> = log.holds_ns().iter().copied().map(f64::from).collect();
    let waits = log.waits();
    Ok(Exit::new(&holds, waits.total_ns as f64, waits.longest_ns as f64))
}

fn median(rounds: &[Round], pick: fn(&Round) -> f64) -> f64 {
    Summary::of(&rounds.iter().map(pick).collect::<Vec<_>>()).median
}

fn describe(group: &str, samples: &[Vec<Round>], table: &mut Table) {
    let picks: [Figure; 8] = [
        ("zone lock taken", "times", |round| round.worst.holds),
        ("zone lock held, in all", "µs", |round| round.worst.lock_held_ns / 1e3),
        ("longest hold", "µs", |round| round.worst.longest_hold / 1e3),
        ("p99 of the holds", "µs", |round| round.worst.p99_hold / 1e3),
        ("a CPU waited, in all", "µs", |round| round.worst.waited / 1e3),
        ("longest wait", "µs", |round| round.worst.longest_wait / 1e3),
        ("from the first free to the last exit", "µs", |round| round.wall_ns / 1e3),
        ("largest drain", "pages", |round| round.stats.largest_drain as f64),
    ];
    for (measure, unit, pick) in picks {
        let cells = samples.iter().map(|rounds| Cell::Real(median(rounds, pick)));
        table.push(group, measure, unit, cells.collect());
    }
}

fn picture(title: &str, samples: &[Vec<Round>]) -> Chart {
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
        title: format!("{title}: all pages are freed at exit"),
        height: "µs".into(),
        points: ["p99 hold", "longest hold", "longest wait", "all waits"].map(str::to_owned).into(),
        lines: lines.collect(),
    }
}
