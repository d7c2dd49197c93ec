//! `bench pagetypeinfo`: the time to read the free blocks of a fresh and of a fragmented zone.

use std::time::Instant;

use freehold::{Era, Memory, Order, PAGETYPEINFO_CAP, PageTypeRows, Pfn, Switch};
use freehold_measure::{Cell, Table};

use crate::error::BenchError;
use crate::harness::{
    Digest, LockedHandle, Pages, START, Setup, SpinPlatform, Summary, calmest, interleave, ns_since,
    on_one_processor,
};
use crate::options::{Options, Scale};
use crate::output::{Chart, Report};

/// The least time of one sample, so that reading the clock matters little.
///
/// Units: nanoseconds.
const SAMPLE_NS: f64 = 20_000.0;

/// A way to read the free blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reading {
    Walk,
    CappedWalk,
    Relaxed,
    Consistent,
    TextByWalk,
    TextByCounts,
}

impl Reading {
    const ALL: [Self; 6] =
        [Self::Walk, Self::CappedWalk, Self::Relaxed, Self::Consistent, Self::TextByWalk, Self::TextByCounts];

    fn name(self) -> &'static str {
        match self {
            Self::Walk => "walk of every list",
            Self::CappedWalk => "walk, at most 100 000 a list",
            Self::Relaxed => "counts, relaxed",
            Self::Consistent => "counts, consistent",
            Self::TextByWalk => "text, by walk",
            Self::TextByCounts => "text, by counts",
        }
    }

    /// Returns true if the machine counts per migratetype.
    fn counts(self) -> bool {
        matches!(self, Self::Relaxed | Self::Consistent | Self::TextByCounts)
    }

    /// Reads once. Returns a number made of everything read.
    fn read(self, memory: &Memory<'_, SpinPlatform>, text: &mut String) -> u64 {
        let zone = &memory.zones()[0];
        match self {
            Self::Walk => zone.counts_by_walk(u64::MAX).1,
            Self::CappedWalk => zone.counts_by_walk(PAGETYPEINFO_CAP).1,
            Self::Relaxed => zone.counts_relaxed().by_type.as_flattened().iter().sum(),
            Self::Consistent => {
                zone.counts_consistent(100).map_or(0, |counts| counts.by_type.as_flattened().iter().sum())
            }
            Self::TextByWalk | Self::TextByCounts => {
                text.clear();
                // Writing to a `String` cannot fail.
                let _ = memory.write_pagetypeinfo(text, PageTypeRows::default());
                text.len() as u64
            }
        }
    }
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<Report, BenchError> {
    on_one_processor(|| run_here(options))
}

fn run_here(options: &Options) -> Result<Report, BenchError> {
    let (pages, rounds) = match options.scale {
        Scale::Tiny => (1 << 12, 1),
        Scale::Quick => (1 << 22, 9),
        Scale::Full => (1 << 22, 51),
    };
    let with = Setup::new(pages, 1, Era::Freehold.switches());
    let without = Setup { switches: Switch::Counts.set(with.switches, false), ..with };
    let setups = [with, with, without, without];
    let mut metadata: Vec<_> = setups.iter().map(|setup| setup.metadata::<SpinPlatform>()).collect();
    let mut memories = Vec::new();
    for ((setup, metadata), fragmented) in setups.iter().zip(&mut metadata).zip([false, true, false, true]) {
        let memory = setup.memory::<SpinPlatform>(metadata)?;
        memory.zones()[0].add_free(START, pages)?;
        if fragmented {
            fragment(&memory, pages)?;
        }
        memories.push(memory);
    }
    let mut digest = Digest::default();
    let samples = measure(&memories, rounds, &mut digest)?;
    let mut report = Report::new("pagetypeinfo");
    describe(&memories, &samples, &mut report);
    report.notes.push(format!(
        "one zone of {pages} pages; fragmented: everything allocated page by page, every other page freed; \
         {rounds} rounds; consistent reads both sides of a sequence number, walks hold the zone lock"
    ));
    Ok(report.finish(digest))
}

/// Allocates every page, then frees every other one.
fn fragment(memory: &Memory<'_, SpinPlatform>, pages: u64) -> Result<(), BenchError> {
    let mut side = LockedHandle::reclaiming(memory, 0);
    while side.alloc(Order::ZERO).is_some() {}
    for page in (0..pages).step_by(2) {
        let pfn: Pfn = START.add(page);
        memory.free(0, pfn, Order::ZERO)?;
    }
    memory.drain_all();
    Ok(())
}

/// Returns nanoseconds per reading by way, state and round.
fn measure(
    memories: &[Memory<'_, SpinPlatform>],
    rounds: usize,
    digest: &mut Digest,
) -> Result<Vec<Vec<f64>>, BenchError> {
    let mut text = String::with_capacity(1 << 14);
    let mut sides = Vec::new();
    for reading in Reading::ALL {
        let first = if reading.counts() { 0 } else { 2 };
        for memory in &memories[first..first + 2] {
            // The first readings run with cold caches.
            let mut shortest = f64::MAX;
            for _ in 0..5 {
                let start = Instant::now();
                digest.add(reading.read(memory, &mut text));
                shortest = shortest.min(ns_since(start));
            }
            let times = (SAMPLE_NS / shortest.max(1.0)).clamp(1.0, 1000.0) as u32;
            sides.push((reading, memory, times));
        }
    }
    interleave(rounds, &mut sides, |&mut (reading, memory, times)| {
        calmest(|| {
            let start = Instant::now();
            let mut sum = 0_u64;
            for _ in 0..times {
                sum = sum.wrapping_add(std::hint::black_box(reading.read(memory, &mut text)));
            }
            let ns = ns_since(start) / f64::from(times);
            digest.add(sum);
            Ok(ns)
        })
    })
}

fn describe(memories: &[Memory<'_, SpinPlatform>], samples: &[Vec<f64>], report: &mut Report) {
    let columns = ["fresh", "spread %", "fragmented", "spread %", "fragmented / fresh"];
    let mut table =
        Table::new("pagetypeinfo: ns to read the free blocks of one zone", columns.map(str::to_owned).into());
    let mut lines = Vec::new();
    for (reading, pair) in Reading::ALL.iter().zip(samples.chunks(2)) {
        let [fresh, fragmented] = [&pair[0], &pair[1]].map(|side| Summary::of(side));
        let ratio = fragmented.median / fresh.median;
        let cells = [fresh.median, fresh.spread_percent, fragmented.median, fragmented.spread_percent, ratio];
        table.push("", reading.name(), "ns", cells.map(Cell::Real).into());
        lines.push((reading.name().to_owned(), vec![fresh.median, fragmented.median]));
    }
    let blocks = [&memories[2], &memories[3]].map(|memory| {
        let lengths = memory.zones()[0].list_lengths();
        Cell::Count(lengths.total.iter().sum())
    });
    table.push(
        "",
        "free blocks",
        "number",
        vec![blocks[0], Cell::Empty, blocks[1], Cell::Empty, Cell::Empty],
    );
    report.tables.push(table);
    report.charts.push(Chart {
        title: "Reading the free blocks of one zone".into(),
        height: "ns".into(),
        points: vec!["fresh".into(), "fragmented".into()],
        lines,
    });
}
