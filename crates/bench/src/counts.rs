//! `bench counts`: what counting per migratetype costs an allocation and a free.

use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use freehold::{Era, Memory, Migratetype, Order, Switch};
use freehold_lab::{Cell, Table};

use crate::chart::Chart;
use crate::harness::{Digest, batch, calmest, interleave, pairs};
use crate::pin::on_one_processor;
use crate::setup::{Owned, START, Setup, Shared, SharedBulk, SpinLocks};
use crate::summary::Summary;
use crate::{BenchError, Options, Report, Scale};

/// Pages of the zone: small enough for the caches, so that instructions are what counts.
const PAGES: u64 = 1 << 15;

/// Blocks of a batch.
const BATCH: usize = 1024;

/// How the blocks are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Handle {
    Locked,
    Exclusive,
}

impl Handle {
    const ALL: [Self; 2] = [Self::Locked, Self::Exclusive];

    fn word(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Exclusive => "exclusive",
        }
    }
}

/// A side: how blocks are asked for, and whether they are counted.
const SIDES: [(Handle, bool); 4] =
    [(Handle::Locked, false), (Handle::Locked, true), (Handle::Exclusive, false), (Handle::Exclusive, true)];

/// A way through the allocator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Route {
    PerCpu,
    RefillAndDrain,
    ListToList,
    SplitAndMerge,
}

impl Route {
    const ALL: [Self; 4] = [Self::PerCpu, Self::RefillAndDrain, Self::ListToList, Self::SplitAndMerge];

    fn name(self) -> &'static str {
        match self {
            Self::PerCpu => "order 0, a CPU's list",
            Self::RefillAndDrain => "order 0, refill and drain",
            Self::ListToList => "order 4, list to list",
            Self::SplitAndMerge => "order 4, split and merge",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::PerCpu => "percpu",
            Self::RefillAndDrain => "refill",
            Self::ListToList => "list",
            Self::SplitAndMerge => "split",
        }
    }

    fn order(self) -> Order {
        let number = if matches!(self, Self::PerCpu | Self::RefillAndDrain) { 0 } else { 4 };
        Order::new(number).unwrap_or(Order::ZERO)
    }

    /// How often a block enters or leaves a free list in an allocation and a free, where that
    /// is the same each time.
    fn movements(self) -> Option<f64> {
        match self {
            Self::PerCpu => Some(0.0),
            Self::RefillAndDrain => None,
            // Out, and in again.
            Self::ListToList => Some(2.0),
            // One of order 10 out, six halves in; six halves out, one of order 10 in.
            Self::SplitAndMerge => Some(14.0),
        }
    }

    /// Brings the machine's frames into service.
    fn prepare(self, memory: &Memory<'_, SpinLocks>) -> Result<(), BenchError> {
        let zone = &memory.zones()[0];
        if self != Self::ListToList {
            return Ok(zone.add_free(START, PAGES)?);
        }
        let order = self.order();
        for block in (0..PAGES).step_by(2 << order.get()) {
            zone.add_free_block(START.add(block), order, Migratetype::Movable)?;
            zone.add_allocated(START.add(block + order.pages()), order, Migratetype::Movable)?;
        }
        Ok(())
    }

    /// Allocates and frees; nanoseconds for one block's two calls.
    fn work(
        self,
        handle: Handle,
        memory: &Memory<'_, SpinLocks>,
        times: u32,
        digest: &mut Digest,
    ) -> Result<f64, BenchError> {
        let shared = || Shared { memory, cpu: 0 };
        let owned = || Owned::of(memory, 0);
        if self != Self::RefillAndDrain {
            return match handle {
                Handle::Locked => pairs(&mut shared(), self.order(), times, digest),
                Handle::Exclusive => pairs(&mut owned()?, self.order(), times, digest),
            };
        }
        let mut places = [None; BATCH];
        let mut sum = 0.0;
        let batches = times.div_ceil(BATCH as u32);
        for _ in 0..batches {
            // Whoever owns the lists has to let go before they can be drained.
            let (alloc_ns, free_ns) = match handle {
                Handle::Locked => batch(&mut SharedBulk(shared()), Order::ZERO, &mut places, digest)?,
                Handle::Exclusive => batch(&mut owned()?, Order::ZERO, &mut places, digest)?,
            };
            sum += alloc_ns + free_ns;
            memory.drain_all();
        }
        Ok(sum / f64::from(batches))
    }
}

fn setup(counts: bool) -> Setup {
    Setup::new(PAGES, 1, Switch::Counts.set(Era::Freehold.switches(), counts))
}

/// One side's work, for a run of its own under a tool that counts instructions.
///
/// Written as the route, `with` or `without`, the number of times and, where it is not
/// `locked`, the handle, with colons between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    route: Route,
    handle: Handle,
    counts: bool,
    times: u32,
}

impl FromStr for Work {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = || {
            let mut words = text.split(':');
            let (route, counts, times) = (words.next()?, words.next()?, words.next()?);
            let route = Route::ALL.into_iter().find(|known| known.word() == route)?;
            let counts = matches!(counts, "with" | "without").then_some(counts == "with")?;
            let handle = words.next().unwrap_or(Handle::Locked.word());
            let handle = Handle::ALL.into_iter().find(|known| known.word() == handle)?;
            Some(Self { route, handle, counts, times: times.parse().ok()? })
        };
        parsed().ok_or_else(|| "route:with:times or route:without:times, and :exclusive if so".to_owned())
    }
}

impl Work {
    /// Does it, and returns the digest.
    ///
    /// # Errors
    /// See [`BenchError`].
    pub fn run(self) -> Result<u64, BenchError> {
        setup(self.counts).with(|memory| {
            let mut digest = Digest::default();
            self.route.prepare(memory)?;
            self.route.work(self.handle, memory, self.times, &mut digest)?;
            Ok(digest.0)
        })
    }
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<Report, BenchError> {
    let (rounds, times) = match options.scale {
        Scale::Tiny => (1, 8),
        Scale::Quick => (41, 20_480),
        Scale::Full => (201, 20_480),
    };
    let mut digest = Digest::default();
    let samples = on_one_processor(|| measure(rounds, times, &mut digest))?;
    let mut report = Report::new("counts");
    let instructions = match (options.scale, &options.program) {
        (Scale::Tiny, _) => Err("instructions are not counted at this scale".to_owned()),
        (_, None) => Err("instructions are counted by a program that can be started again".to_owned()),
        (_, Some(program)) => instructions(program),
    };
    let instructions = match instructions {
        Ok(counted) => {
            report.notes.push("instructions: callgrind, the difference of a long and a short run".to_owned());
            counted
        }
        Err(why) => {
            report.notes.push(format!("no instructions: {why}"));
            Vec::new()
        }
    };
    describe(&samples, &instructions, &mut report);
    report.notes.push(format!(
        "one block allocated and freed, without counts and with; {rounds} rounds of {times}; movements are blocks \
         that enter or leave a free list; the locked handle refills and drains many pages at once; a total that is derived from the counts is not in the engine"
    ));
    Ok(report.finish(digest))
}

/// Nanoseconds by route, by side, by round.
fn measure(rounds: usize, times: u32, digest: &mut Digest) -> Result<Vec<Vec<f64>>, BenchError> {
    let mut samples = Vec::new();
    for route in Route::ALL {
        let of_route = setup(false).with(|without| {
            route.prepare(without)?;
            setup(true).with(|with| {
                route.prepare(with)?;
                let mut sides = SIDES.map(|(handle, counts)| (handle, if counts { with } else { without }));
                interleave(rounds, &mut sides, |&mut (handle, memory)| {
                    calmest(|| route.work(handle, memory, times, digest))
                })
            })
        })?;
        samples.extend(of_route);
    }
    Ok(samples)
}

/// Instructions of one block's two calls, by route, by side; or why not.
fn instructions(program: &Path) -> Result<Vec<f64>, String> {
    let (few, many) = (2 * BATCH as u32, 22 * BATCH as u32);
    let mut found = Vec::new();
    for route in Route::ALL {
        for (handle, counts) in SIDES {
            let (handle, counts) = (handle.word(), if counts { "with" } else { "without" });
            let count =
                |times: u32| callgrind(program, &format!("{}:{counts}:{times}:{handle}", route.word()));
            let [few_counted, many_counted] = [count(few)?, count(many)?];
            found.push(many_counted.saturating_sub(few_counted) as f64 / f64::from(many - few));
        }
    }
    Ok(found)
}

/// The instructions of a whole run.
fn callgrind(program: &Path, work: &str) -> Result<u64, String> {
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["bench", "counts", "--work", work])
        .output()
        .map_err(|error| format!("valgrind cannot be started ({error}); install it for these columns"))?;
    let said = String::from_utf8_lossy(&ran.stderr);
    let counted = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    match counted {
        Some(counted) if ran.status.success() => Ok(counted),
        _ => Err(format!("valgrind failed: {}", said.lines().last().unwrap_or_default())),
    }
}

fn describe(samples: &[Vec<f64>], instructions: &[f64], report: &mut Report) {
    let columns = [
        "ns without",
        "spread %",
        "ns with",
        "spread %",
        "ns more",
        "instr without",
        "instr with",
        "movements",
        "ns a movement",
        "instr a movement",
    ];
    let mut table = Table::new(
        "counts: an allocation and a free of one block, without and with counts per migratetype",
        columns.map(str::to_owned).into(),
    );
    let mut lines: Vec<(String, Vec<f64>)> = Vec::new();
    for (handle, counts) in SIDES {
        lines.push((format!("{}, {}", handle.word(), if counts { "with" } else { "without" }), Vec::new()));
    }
    let rows = Handle::ALL.iter().enumerate().flat_map(|(number, handle)| {
        Route::ALL
            .iter()
            .enumerate()
            .map(move |(at, route)| (number, handle, at * SIDES.len() + number * 2, route))
    });
    for (number, handle, at, route) in rows {
        let pair = &samples[at..at + 2];
        let [without, with] = [&pair[0], &pair[1]].map(|side| Summary::of(side));
        let more = Summary::of(
            &pair[1].iter().zip(&pair[0]).map(|(with, without)| with - without).collect::<Vec<_>>(),
        );
        let counted = instructions.get(at..at + 2);
        let real = |value: Option<f64>| value.map_or(Cell::Empty, Cell::Real);
        let moved = route.movements().filter(|moved| *moved > 0.0);
        let times = [without.median, without.spread_percent, with.median, with.spread_percent, more.median];
        let mut cells: Vec<Cell> = times.map(Cell::Real).into();
        cells.extend([0, 1].map(|side| real(counted.map(|counted| counted[side]))));
        cells.push(real(route.movements()));
        cells.push(real(moved.map(|moved| more.median / moved)));
        cells.push(real(moved.zip(counted).map(|(moved, counted)| (counted[1] - counted[0]) / moved)));
        table.push(handle.word(), route.name(), "a block", cells);
        lines[number * 2].1.push(without.median);
        lines[number * 2 + 1].1.push(with.median);
    }
    report.tables.push(table);
    report.charts.push(Chart {
        title: "Allocating and freeing one block without and with counts".into(),
        height: "ns".into(),
        points: Route::ALL.map(|route| route.name().to_owned()).into(),
        lines,
    });
}
