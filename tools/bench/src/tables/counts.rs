//! `bench counts`: the cost of counting per migratetype in an allocation and a free.

use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use freehold::{Era, Memory, Migratetype, Order, Switch, Switches};
use freehold_measure::{Cell, Table};

use crate::error::BenchError;
use crate::harness::{
    Digest, Handle, LockedHandle, OwnedHandle, Pages, START, Setup, SpinPlatform, Summary, batch, calmest,
    interleave, on_one_processor, pairs,
};
use crate::options::{Options, Scale};
use crate::output::{Chart, Report};

/// Pages of the zone: few, so that it fits into the caches and instructions decide.
const PAGES: u64 = 1 << 15;

/// Blocks of a batch.
const BATCH: usize = 1024;

/// A path through the allocator.
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

    /// Returns how many times a block is added to or removed from a free list in an allocation and a
    /// free, if that number is constant.
    fn movements(self) -> Option<f64> {
        match self {
            Self::PerCpu => Some(0.0),
            Self::RefillAndDrain => None,
            // One removal and one addition.
            Self::ListToList => Some(2.0),
            // One removal of order 10 and six additions of halves; on the way back six
            // removals and one addition.
            Self::SplitAndMerge => Some(14.0),
        }
    }

    /// Brings the machine's frames into service.
    fn prepare(self, memory: &Memory<'_, SpinPlatform>) -> Result<(), BenchError> {
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

    /// Allocates and frees. Returns nanoseconds for one block's two calls.
    fn work(
        self,
        handle: Handle,
        memory: &Memory<'_, SpinPlatform>,
        times: u32,
        digest: &mut Digest,
    ) -> Result<f64, BenchError> {
        match handle {
            Handle::Locked => self.through(&mut LockedHandle::reclaiming(memory, 0), times, digest),
            Handle::Exclusive => self.through(&mut OwnedHandle::reclaiming(memory, 0), times, digest),
        }
    }

    /// Allocates and frees through one handle.
    fn through(self, side: &mut impl Pages, times: u32, digest: &mut Digest) -> Result<f64, BenchError> {
        if self != Self::RefillAndDrain {
            return pairs(side, self.order(), times, digest);
        }
        let mut places = [None; BATCH];
        let mut sum = 0.0;
        let batches = times.div_ceil(BATCH as u32);
        for _ in 0..batches {
            let (alloc_ns, free_ns) = batch(side, Order::ZERO, &mut places, digest)?;
            sum += alloc_ns + free_ns;
            side.give_back();
        }
        Ok(sum / f64::from(batches))
    }
}

/// The counts that are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    /// Totals only.
    Without,
    /// Counts per type beside the totals.
    Beside,
    /// Counts per type, from which the totals are derived.
    Derived,
}

impl Side {
    const ALL: [Self; 3] = [Self::Without, Self::Beside, Self::Derived];

    fn word(self) -> &'static str {
        match self {
            Self::Without => "without",
            Self::Beside => "beside",
            Self::Derived => "derived",
        }
    }

    fn setup(self) -> Setup {
        let switches = Switches {
            derived_total: self == Self::Derived,
            // Blocks of order 4 take the zone lock, as in Linux: the counts change under it.
            percpu_large_orders: false,
            ..Switch::Counts.set(Era::Freehold.switches(), self != Self::Without)
        };
        Setup::new(PAGES, 1, switches)
    }
}

/// The work of one side, for a run under a tool that counts instructions.
///
/// Written as the route, `without`, `beside` or `derived`, the number of times and, unless it is
/// `locked`, the handle, separated by colons.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    route: Route,
    handle: Handle,
    side: Side,
    times: u32,
}

impl FromStr for Work {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = || {
            let mut words = text.split(':');
            let (route, side, times) = (words.next()?, words.next()?, words.next()?);
            let route = Route::ALL.into_iter().find(|known| known.word() == route)?;
            let side = Side::ALL.into_iter().find(|known| known.word() == side)?;
            let handle = words.next().unwrap_or(Handle::Locked.word());
            let handle = Handle::ALL.into_iter().find(|known| known.word() == handle)?;
            Some(Self { route, handle, side, times: times.parse().ok()? })
        };
        parsed().ok_or_else(|| {
            "route:side:times, the side without, beside or derived, and :exclusive if so".to_owned()
        })
    }
}

impl Work {
    /// Does the work and returns its digest.
    ///
    /// # Errors
    /// See [`BenchError`].
    pub fn run(self) -> Result<u64, BenchError> {
        self.side.setup().with(|memory| {
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
        "one block allocated and freed, without counts per type, with counts beside the total of an order, and \
         with a total that is derived from them; {rounds} rounds of {times}; movements are blocks that enter or \
         leave a free list; `refill and drain` allocates and frees {BATCH} pages at a time through each handle's calls for \
         many at once"
    ));
    Ok(report.finish(digest))
}

/// Returns every row of the table.
fn rows() -> impl Iterator<Item = (Handle, Route)> {
    Handle::ALL.into_iter().flat_map(|handle| Route::ALL.map(|route| (handle, route)))
}

/// Returns nanoseconds by row, side and round.
fn measure(rounds: usize, times: u32, digest: &mut Digest) -> Result<Vec<Vec<f64>>, BenchError> {
    let mut samples = Vec::new();
    for (handle, route) in rows() {
        let [mut without, mut beside, mut derived] =
            Side::ALL.map(|side| side.setup().metadata::<SpinPlatform>());
        let memories = [
            Side::Without.setup().memory::<SpinPlatform>(&mut without)?,
            Side::Beside.setup().memory(&mut beside)?,
            Side::Derived.setup().memory(&mut derived)?,
        ];
        memories.iter().try_for_each(|memory| route.prepare(memory))?;
        samples.extend(interleave(rounds, &mut memories.each_ref(), |memory| {
            calmest(|| route.work(handle, memory, times, digest))
        })?);
    }
    Ok(samples)
}

/// Returns the instructions of one block's two calls by row and side, or why they cannot be counted.
fn instructions(program: &Path) -> Result<Vec<f64>, String> {
    let (few, many) = (2 * BATCH as u32, 22 * BATCH as u32);
    let mut found = Vec::new();
    for (handle, route) in rows() {
        for side in Side::ALL {
            let work = |times: u32| format!("{}:{}:{times}:{}", route.word(), side.word(), handle.word());
            let count = |times: u32| callgrind(program, &work(times));
            let [few_counted, many_counted] = [count(few)?, count(many)?];
            found.push(many_counted.saturating_sub(few_counted) as f64 / f64::from(many - few));
        }
    }
    Ok(found)
}

/// Returns the instructions of a whole run.
fn callgrind(program: &Path, work: &str) -> Result<u64, String> {
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["counts", "--work", work])
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
        "ns beside",
        "spread %",
        "ns derived",
        "spread %",
        "ns more beside",
        "ns more derived",
        "instr without",
        "instr beside",
        "instr derived",
        "movements",
        "instr a movement, beside",
        "instr a movement, derived",
    ];
    let mut table = Table::new(
        "counts: an allocation and a free of one block, without counts per migratetype, with them beside \
         the total, and with the total derived",
        columns.map(str::to_owned).into(),
    );
    let mut lines: Vec<_> = Side::ALL.map(|side| (side.word().to_owned(), Vec::new())).into();
    for (at, ((handle, route), sides)) in rows().zip(samples.chunks(Side::ALL.len())).enumerate() {
        let sums: Vec<Summary> = sides.iter().map(|side| Summary::of(side)).collect();
        let mut cells: Vec<Cell> = Vec::new();
        for (sum, line) in sums.iter().zip(&mut lines) {
            cells.extend([Cell::Real(sum.median), Cell::Real(sum.spread_percent)]);
            line.1.push(sum.median);
        }
        for side in &sides[1..] {
            let more: Vec<f64> = side.iter().zip(&sides[0]).map(|(with, without)| with - without).collect();
            cells.push(Cell::Real(Summary::of(&more).median));
        }
        let real = |value: Option<f64>| value.map_or(Cell::Empty, Cell::Real);
        let counted = instructions.chunks(Side::ALL.len()).nth(at);
        let moved = route.movements().filter(|moved| *moved > 0.0);
        cells.extend((0..Side::ALL.len()).map(|side| real(counted.map(|counted| counted[side]))));
        cells.push(real(route.movements()));
        cells.extend([1, 2].map(|side| {
            real(moved.zip(counted).map(|(moved, counted)| (counted[side] - counted[0]) / moved))
        }));
        table.push(handle.word(), route.name(), "a block", cells);
    }
    report.tables.push(table);
    report.charts.push(Chart {
        title: "Allocating and freeing one block without counts, with them, and with the total derived"
            .into(),
        height: "ns".into(),
        points: rows().map(|(handle, route)| format!("{}, {}", route.name(), handle.word())).collect(),
        lines,
    });
}
