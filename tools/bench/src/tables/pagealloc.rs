//! `bench pagealloc`: the cost of a reader of statistics for a task that allocates.
//!
//! The test of the series that introduced counts per migratetype: N blocks are allocated, then freed,
//! without and with a monitor on another processor.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use freehold::{Era, Memory, Order, PAGETYPEINFO_CAP, PageTypeRows, Pfn, Switches};
use freehold_measure::{Cell, Table};

use crate::error::BenchError;
use crate::harness::{
    Digest, FairPlatform, Handle, LockedHandle, OneByOne, OwnedHandle, Pages, START, Setup, Summary,
    add_alternating, calmest, clock_ns, interleave, ns_since, percent_over, pin, processors, sharing_note,
    wrong,
};
use crate::options::{Options, Scale};
use crate::output::{Chart, Report};

/// The monitor's pause in that series.
const PAUSE: Duration = Duration::from_millis(10);

/// Blocks between two readings of the clock.
const CHUNK: usize = 64;

/// The source of the monitor's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Nothing,
    Walk,
    Relaxed,
    Consistent,
    Text,
}

/// A monitor: its source, and how often it reads.
#[derive(Clone, Copy, Debug)]
struct Monitor {
    name: &'static str,
    source: Source,
    pause: Option<Duration>,
}

const MONITORS: [Monitor; 8] = [
    Monitor { name: "no reader", source: Source::Nothing, pause: None },
    Monitor { name: "walk, 10 ms", source: Source::Walk, pause: Some(PAUSE) },
    Monitor { name: "relaxed, 10 ms", source: Source::Relaxed, pause: Some(PAUSE) },
    Monitor { name: "consistent, 10 ms", source: Source::Consistent, pause: Some(PAUSE) },
    Monitor { name: "walk, loop", source: Source::Walk, pause: None },
    Monitor { name: "relaxed, loop", source: Source::Relaxed, pause: None },
    Monitor { name: "consistent, loop", source: Source::Consistent, pause: None },
    Monitor { name: "text, loop", source: Source::Text, pause: None },
];

/// The size of the work.
struct Plan {
    orders: Vec<Order>,
    counts: Vec<usize>,
    /// Free single pages, in addition to the room for the test.
    fragments: u64,
    rounds: usize,
    slice: Duration,
}

impl Plan {
    fn new(options: &Options) -> Self {
        let powers = |last: u32| (0..=last).map(|power| 1 << power).collect();
        let (last, fragments, rounds, slice_ms) = match options.scale {
            Scale::Tiny => (2, 1 << 9, 1, 0),
            Scale::Quick => (10, 1 << 17, 5, 10),
            Scale::Full => (10, 1 << 18, 9, 20),
        };
        let orders = if options.orders.is_empty() {
            [4, 0, 9].into_iter().filter_map(Order::new).collect()
        } else {
            options.orders.clone()
        };
        Self { orders, counts: powers(last), fragments, rounds, slice: Duration::from_millis(slice_ms) }
    }

    /// Returns room for the largest number of blocks of the largest order, and as much again for
    /// per-CPU lists.
    fn pages(&self) -> u64 {
        let largest = self.orders.iter().map(|order| order.pages()).max().unwrap_or(1);
        let most = self.counts.iter().max().copied().unwrap_or(1) as u64;
        (largest * most * 2).max(1 << 12).next_multiple_of(1 << 10)
    }
}

/// Nanoseconds per block of allocating and of freeing.
#[derive(Clone, Copy, Debug)]
struct Sample {
    alloc_ns: f64,
    free_ns: f64,
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<Report, BenchError> {
    let plan = Plan::new(options);
    let room = plan.pages();
    // Every request of order 4 takes the zone's lock and changes its counts, as in Linux.
    let switches = Switches { percpu_large_orders: false, ..Era::Freehold.switches() };
    let setup = Setup::new(room + plan.fragments * 2, 1, switches);
    let mut digest = Digest::default();
    let mut report = Report::new("pagealloc");
    let cpus = processors(2)?;
    report.notes.extend(sharing_note(&cpus));
    setup.with(|memory: &Memory<'_, FairPlatform>| {
        let zone = &memory.zones()[0];
        zone.add_free(START, room)?;
        add_alternating(zone, START.add(room), plan.fragments * 2)?;
        for &order in &plan.orders {
            let samples = both_threads(memory, &plan, order, &cpus, &mut digest)?;
            for (handle, samples) in Handle::ALL.into_iter().zip(&samples) {
                describe(&plan, order, handle, samples, &mut report);
            }
        }
        Ok(())
    })?;
    report.notes.push(format!(
        "{} single free pages lie in the zone, so a walk visits at most {PAGETYPEINFO_CAP} blocks of a list; \
         {} rounds of {} ms a figure; the clock's own cost is subtracted; \
         the reader's text comes from the counts; waiters for the zone lock get it in turn",
        plan.fragments,
        plan.rounds,
        plan.slice.as_millis()
    ));
    Ok(report.finish(digest))
}

/// The state that both threads share.
#[derive(Default)]
struct Board {
    wanted: AtomicUsize,
    running: AtomicUsize,
    done: AtomicBool,
    /// The sum of the numbers read, so that the compiler cannot remove the reading.
    read: AtomicU64,
}

/// Ends the monitor when dropped, also if the allocating thread fails.
struct Finally<'b>(&'b Board);

impl Drop for Finally<'_> {
    fn drop(&mut self) {
        self.0.done.store(true, Ordering::Relaxed);
    }
}

/// One handle's samples by number of blocks, monitor and round.
type Samples = Vec<Vec<Vec<Sample>>>;

/// Returns the samples of each handle.
fn both_threads(
    memory: &Memory<'_, FairPlatform>,
    plan: &Plan,
    order: Order,
    cpus: &[usize],
    digest: &mut Digest,
) -> Result<[Samples; 2], BenchError> {
    let board = Board::default();
    let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
    let samples = thread::scope(|scope| {
        let reader = scope.spawn(|| pin(last).map(|()| read_on(memory, &board)));
        let worker = scope.spawn(|| {
            let _finally = Finally(&board);
            pin(first)?;
            let clock = clock_ns();
            let mut samples = [Vec::new(), Vec::new()];
            for &count in &plan.counts {
                let mut of_count = one_count(memory, plan, order, count, clock, &board, digest)?;
                samples[1].push(of_count.split_off(MONITORS.len()));
                samples[0].push(of_count);
            }
            Ok(samples)
        });
        let samples: Result<_, BenchError> = worker.join().map_err(|_| BenchError::Stopped)?;
        reader.join().map_err(|_| BenchError::Stopped)??;
        samples
    })?;
    digest.add(board.read.load(Ordering::Relaxed));
    Ok(samples)
}

/// Returns samples by handle and monitor, then by round.
fn one_count(
    memory: &Memory<'_, FairPlatform>,
    plan: &Plan,
    order: Order,
    count: usize,
    clock: f64,
    board: &Board,
    digest: &mut Digest,
) -> Result<Vec<Vec<Sample>>, BenchError> {
    let mut places = vec![None; count];
    let mut sides: Vec<(Handle, usize)> = Handle::ALL
        .into_iter()
        .flat_map(|handle| (0..MONITORS.len()).map(move |monitor| (handle, monitor)))
        .collect();
    interleave(plan.rounds, &mut sides, |&mut (handle, monitor)| {
        board.wanted.store(monitor, Ordering::Relaxed);
        while board.running.load(Ordering::Relaxed) != monitor && !board.done.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        calmest(|| match handle {
            Handle::Locked => {
                let mut side = OneByOne(LockedHandle::reclaiming(memory, 0));
                slice(&mut side, plan.slice, order, &mut places, clock, digest)
            }
            Handle::Exclusive => {
                let mut side = OneByOne(OwnedHandle::reclaiming(memory, 0));
                slice(&mut side, plan.slice, order, &mut places, clock, digest)
            }
        })
    })
}

/// Allocates and frees the places repeatedly for a while.
///
/// The clock is read every [`CHUNK`] blocks, so that a monitor that nearly always holds the lock does not
/// make this take minutes.
fn slice(
    side: &mut impl Pages,
    lasts: Duration,
    order: Order,
    places: &mut [Option<Pfn>],
    clock: f64,
    digest: &mut Digest,
) -> Result<Sample, BenchError> {
    let (mut alloc_ns, mut free_ns, mut blocks) = (0.0, 0.0, 0);
    let begin = Instant::now();
    while blocks == 0 || begin.elapsed() < lasts {
        let mut filled = 0;
        for chunk in places.chunks_mut(CHUNK) {
            let start = Instant::now();
            let now = side.alloc_batch(order, chunk);
            alloc_ns += (ns_since(start) - clock).max(0.0);
            filled += now;
            if now < chunk.len() {
                return Err(wrong("has no block left"));
            }
            if begin.elapsed() > lasts {
                break;
            }
        }
        digest.add(places[0].map_or(0, |pfn| pfn.0));
        for chunk in places[..filled].chunks_mut(CHUNK) {
            let start = Instant::now();
            let taken = side.free_batch(order, chunk);
            free_ns += (ns_since(start) - clock).max(0.0);
            if !taken {
                return Err(wrong("did not take back what it handed out"));
            }
        }
        blocks += filled;
    }
    Ok(Sample { alloc_ns: alloc_ns / blocks as f64, free_ns: free_ns / blocks as f64 })
}

/// Runs the monitor until the other thread is done.
fn read_on(memory: &Memory<'_, FairPlatform>, board: &Board) {
    let zone = &memory.zones()[0];
    let mut sum = 0_u64;
    let mut text = String::with_capacity(1 << 14);
    while !board.done.load(Ordering::Relaxed) {
        let number = board.wanted.load(Ordering::Relaxed);
        board.running.store(number, Ordering::Relaxed);
        let Monitor { source, pause, .. } = MONITORS[number];
        let read = match source {
            Source::Nothing => 0,
            Source::Walk => zone.counts_by_walk(PAGETYPEINFO_CAP).0.free_pages(),
            Source::Relaxed => zone.counts_relaxed().free_pages(),
            Source::Consistent => zone.counts_consistent(100).map_or(1, |counts| counts.free_pages()),
            Source::Text => {
                text.clear();
                // Writing to a `String` cannot fail.
                let _ = memory.write_pagetypeinfo(&mut text, PageTypeRows::default());
                text.len() as u64
            }
        };
        sum = sum.wrapping_add(read);
        let pause = if source == Source::Nothing { Some(Duration::from_micros(200)) } else { pause };
        let start = Instant::now();
        while let Some(left) = pause.and_then(|pause| pause.checked_sub(start.elapsed())) {
            if board.wanted.load(Ordering::Relaxed) != number || board.done.load(Ordering::Relaxed) {
                break;
            }
            thread::sleep(left.min(Duration::from_micros(500)));
        }
    }
    board.read.store(sum, Ordering::Relaxed);
}

fn describe(plan: &Plan, order: Order, handle: Handle, samples: &Samples, report: &mut Report) {
    let side = format!("order {order}, {} handle", handle.word());
    let columns =
        ["min", "stddev", "max"].into_iter().chain(MONITORS[1..].iter().map(|monitor| monitor.name));
    let mut table = Table::new(
        format!("pagealloc, {side}: ns a block without a reader, and % lost to one"),
        columns.map(str::to_owned).collect(),
    );
    let detail_columns = MONITORS.iter().flat_map(|monitor| {
        ["min", "median", "stddev", "max"].map(|figure| format!("{}: {figure}", monitor.name))
    });
    let mut details = Table::new(format!("pagealloc, {side}, every side"), detail_columns.collect());
    let mut losses: Vec<Vec<f64>> = vec![Vec::new(); MONITORS.len() - 1];
    for (phase, pick) in [("alloc", alloc_of as fn(&Sample) -> f64), ("free", free_of)] {
        for (count, sides) in plan.counts.iter().zip(samples) {
            let sides: Vec<Vec<f64>> = sides.iter().map(|side| side.iter().map(pick).collect()).collect();
            let quiet = Summary::of(&sides[0]);
            let lost: Vec<f64> = sides[1..].iter().map(|side| percent_over(side, &sides[0])).collect();
            for (all, lost) in losses.iter_mut().zip(&lost) {
                all.push(*lost);
            }
            let cells = [quiet.min, quiet.stddev, quiet.max].into_iter().chain(lost).map(Cell::Real);
            table.push(phase, &format!("N = {count}"), "ns, %", cells.collect());
            let every = sides.iter().map(|side| Summary::of(side));
            let cells = every.flat_map(|side| [side.min, side.median, side.stddev, side.max]).map(Cell::Real);
            details.push(phase, &format!("N = {count}"), "ns", cells.collect());
        }
    }
    let medians = losses.iter().map(|lost| Cell::Real(Summary::of(lost).median));
    table.push("all", "median", "%", [Cell::Empty; 3].into_iter().chain(medians).collect());
    report.tables.push(table);
    report.details.push(details);
    report.charts.push(picture(plan, &side, samples));
}

fn picture(plan: &Plan, side: &str, samples: &Samples) -> Chart {
    let line = |monitor: usize| {
        let both = |sample: &Sample| sample.alloc_ns + sample.free_ns;
        samples
            .iter()
            .map(|sides| Summary::of(&sides[monitor].iter().map(both).collect::<Vec<_>>()).median)
            .collect()
    };
    Chart {
        title: format!("Allocating and freeing N blocks beside a reader: {side}"),
        height: "ns a block".into(),
        points: plan.counts.iter().map(|count| format!("N = {count}")).collect(),
        lines: MONITORS.iter().enumerate().map(|(at, monitor)| (monitor.name.to_owned(), line(at))).collect(),
    }
}

fn alloc_of(sample: &Sample) -> f64 {
    sample.alloc_ns
}

fn free_of(sample: &Sample) -> f64 {
    sample.free_ns
}
