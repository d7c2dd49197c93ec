//! `bench scale`: the same calls in zones from 1 GiB to 1 TiB.

use std::fs;
use std::mem::MaybeUninit;
use std::time::Instant;

use freehold::{Era, Memory, Migratetype, Order, Pfn};
use freehold_measure::{Cell, Table};

use crate::error::BenchError;
use crate::harness::{
    Digest, LockedHandle, OneByOne, OwnedHandle, Pages, START, Setup, SpinPlatform, Summary, batch, calmest,
    interleave, ns_since, on_one_processor, pairs, wrong,
};
use crate::options::{Options, Scale};
use crate::output::{Chart, Report};

/// Pages of 1 GiB.
const GIB: u64 = 1 << 18;

/// A sample: nanoseconds per block of allocating and of freeing.
type Sample = [f64; 2];

/// The work, which is the same in every zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Work {
    OnePage,
    Batch { order: u8, blocks: usize },
}

impl Work {
    const ALL: [Self; 4] = [
        Self::OnePage,
        Self::Batch { order: 0, blocks: 1024 },
        Self::Batch { order: 4, blocks: 1024 },
        Self::Batch { order: 9, blocks: 128 },
    ];

    fn name(self) -> String {
        match self {
            Self::OnePage => "one page".into(),
            Self::Batch { order, blocks } => format!("order {order}, batch of {blocks}"),
        }
    }

    /// Takes one sample. It uses no more blocks than fit into the smallest zone.
    fn run(self, side: &mut impl Pages, plan: &Plan, digest: &mut Digest) -> Result<Sample, BenchError> {
        match self {
            Self::OnePage => Ok([pairs(side, Order::ZERO, plan.times, digest)?, 0.0]),
            Self::Batch { order, blocks } => {
                let order = Order::new(order).unwrap_or(Order::ZERO);
                let blocks = blocks.min((plan.zones[0] / 4 / order.pages()) as usize);
                let batches = plan.times as usize / blocks + 1;
                let mut places = vec![None; blocks];
                let mut sample = [0.0; 2];
                for _ in 0..batches {
                    let (alloc_ns, free_ns) = batch(side, order, &mut places, digest)?;
                    sample[0] += alloc_ns;
                    sample[1] += free_ns;
                }
                Ok(sample.map(|ns| ns / batches as f64))
            }
        }
    }
}

/// The position of the freed pages while all others are in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spread {
    SideBySide,
    First,
    Everywhere,
}

impl Spread {
    const ALL: [Self; 3] = [Self::SideBySide, Self::First, Self::Everywhere];

    fn name(self, plan: &Plan) -> String {
        match self {
            Self::SideBySide => "side by side".into(),
            Self::First => format!("all over the first {}", size(plan.zones[0])),
            Self::Everywhere => "all over the zone".into(),
        }
    }

    /// Returns the pages in the order of their frees; no two are buddies.
    fn pages(self, plan: &Plan, zone_pages: u64) -> Vec<u64> {
        let mut random = fastrand::Rng::with_seed(7);
        let span = match self {
            Self::SideBySide => return (0..plan.scattered).map(|page| page * 2).collect(),
            Self::First => plan.zones[0],
            Self::Everywhere => zone_pages,
        };
        let mut pages: Vec<u64> = (0..plan.scattered * 2).map(|_| random.u64(0..span / 2) * 2).collect();
        pages.sort_unstable();
        pages.dedup();
        random.shuffle(&mut pages);
        pages.truncate(plan.scattered as usize);
        pages
    }
}

/// The size of the work.
struct Plan {
    /// Pages of each zone, the smallest first.
    zones: Vec<u64>,
    rounds: usize,
    times: u32,
    /// The number of pages that are freed while all others are in use.
    scattered: u64,
}

impl Plan {
    fn new(scale: Scale) -> Self {
        let (zones, rounds, times, scattered) = match scale {
            Scale::Tiny => (vec![1 << 12, 1 << 13], 1, 64, 1 << 7),
            Scale::Quick => (vec![GIB, GIB << 10], 5, 20_480, 1 << 14),
            Scale::Full => (vec![GIB, GIB << 4, GIB << 7, GIB << 10], 15, 102_400, 1 << 14),
        };
        Self { zones, rounds, times, scattered }
    }

    /// Removes zones whose metadata does not fit into this machine's memory. Returns a note about it.
    fn fit(&mut self, available_bytes: u64) -> Option<String> {
        let metadata = |zones: &[u64]| zones.iter().map(|&pages| metadata_bytes(pages)).sum::<u64>();
        // An eighth of the memory is left to other programs.
        let fits = |zones: &[u64]| metadata(zones) / 7 * 8 <= available_bytes || zones.len() == 1;
        let mut left_out = Vec::new();
        while !fits(&self.zones) {
            left_out.extend(self.zones.pop());
        }
        let largest = left_out.first()?;
        let names: Vec<_> = left_out.iter().rev().map(|&pages| size(pages)).collect();
        Some(format!(
            "left out for lack of memory: {}; the metadata of {} takes {} MiB, {} MiB are available",
            names.join(", "),
            size(*largest),
            metadata_bytes(*largest) >> 20,
            available_bytes >> 20
        ))
    }
}

/// Returns the name of a zone of `pages` pages.
fn size(pages: u64) -> String {
    let mib = pages >> 8;
    match mib {
        0x10_0000.. => format!("{} TiB", mib >> 20),
        0x400.. => format!("{} GiB", mib >> 10),
        _ => format!("{mib} MiB"),
    }
}

/// Returns a machine whose per-CPU lists are tuned for the smallest zone, so that only the size differs.
fn setup(pages: u64) -> Setup {
    Setup { tuned_for: GIB, ..Setup::new(pages, 1, Era::Freehold.switches()) }
}

fn metadata_bytes(pages: u64) -> u64 {
    setup(pages).metadata_bytes::<SpinPlatform>() as u64
}

/// Returns the available memory in bytes, or the largest number if it is unknown.
fn available_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map_or(u64::MAX, |kib| kib << 10)
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<Report, BenchError> {
    let mut plan = Plan::new(options.scale);
    let mut report = Report::new("scale");
    report.notes.extend(plan.fit(available_bytes()));
    let mut digest = Digest::default();
    let mut tables = Tables::new(&plan);
    on_one_processor(|| {
        with_memories(&plan, |memories| free_zones(memories, &plan, &mut tables, &mut digest))?;
        with_memories(&plan, |memories| full_zones(memories, &plan, &mut tables, &mut digest))
    })?;
    tables.finish(&plan, &mut report);
    report.notes.push(format!(
        "a zone each, all with the per-CPU settings of 1 GiB; {} rounds of {} blocks; in a free zone each size uses \
         the same number of blocks again and again; in a zone in use {} pages, no two of them buddies, are freed and \
         drained to the free lists, then all but an eighth are allocated again: {} costs more than {} because the \
         frames' metadata is farther apart and not in a cache",
        plan.rounds,
        plan.times,
        plan.scattered,
        Spread::Everywhere.name(&plan),
        Spread::First.name(&plan)
    ));
    Ok(report.finish(digest))
}

/// Calls `work` with machines of each size, all frames absent.
fn with_memories(
    plan: &Plan,
    work: impl FnOnce(&[Memory<'_, SpinPlatform>]) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let metadata = plan.zones.iter().map(|&pages| setup(pages).metadata::<SpinPlatform>());
    let mut metadata: Vec<Vec<MaybeUninit<u8>>> = metadata.collect();
    let memories: Result<Vec<_>, BenchError> = plan
        .zones
        .iter()
        .zip(&mut metadata)
        .map(|(&pages, metadata)| setup(pages).memory(metadata))
        .collect();
    work(&memories?)
}

/// Runs the work in zones that are free except for some pages that the kernel would use at boot.
///
/// Without those, one page takes longer at exactly 1 TiB than at 1021 GiB. This depends on the distance
/// of the frame's metadata from the CPU's lists, not on the zone's size.
fn free_zones(
    memories: &[Memory<'_, SpinPlatform>],
    plan: &Plan,
    tables: &mut Tables,
    digest: &mut Digest,
) -> Result<(), BenchError> {
    for (memory, &pages) in memories.iter().zip(&plan.zones) {
        let reserved = plan.zones[0] / 64;
        memory.zones()[0].add_reserved(START, reserved)?;
        memory.zones()[0].add_free(START.add(reserved), pages - reserved)?;
    }
    let mut sides: Vec<_> = [false, true]
        .into_iter()
        .flat_map(|owned| memories.iter().map(move |memory| (owned, memory)))
        .collect();
    for work in Work::ALL {
        let samples = interleave(plan.rounds, &mut sides, |&mut (owned, memory)| {
            calmest(|| {
                if owned {
                    return work.run(&mut OneByOne(OwnedHandle::reclaiming(memory, 0)), plan, digest);
                }
                work.run(&mut OneByOne(LockedHandle::reclaiming(memory, 0)), plan, digest)
            })
        })?;
        for (handle, samples) in
            ["free, locked", "free, exclusive"].iter().zip(samples.chunks(memories.len()))
        {
            match work {
                Work::OnePage => tables.add(handle, &format!("{}, alloc + free", work.name()), samples, 0),
                Work::Batch { .. } => {
                    tables.add(handle, &format!("{}, alloc", work.name()), samples, 0);
                    tables.add(handle, &format!("{}, free", work.name()), samples, 1);
                }
            }
        }
    }
    Ok(())
}

/// Frees and allocates pages of zones that are otherwise in use.
fn full_zones(
    memories: &[Memory<'_, SpinPlatform>],
    plan: &Plan,
    tables: &mut Tables,
    digest: &mut Digest,
) -> Result<(), BenchError> {
    let mut scattered = Vec::new();
    for (memory, &pages) in memories.iter().zip(&plan.zones) {
        let lists = Spread::ALL.map(|spread| spread.pages(plan, pages));
        use_all(memory, pages, &lists)?;
        scattered.push(lists.map(|list| list.iter().map(|&page| START.add(page)).collect::<Vec<_>>()));
    }
    for (at, spread) in Spread::ALL.into_iter().enumerate() {
        let mut sides: Vec<_> =
            memories.iter().zip(&mut scattered).map(|(memory, lists)| (memory, &mut lists[at])).collect();
        let samples = interleave(plan.rounds, &mut sides, |(memory, pages)| {
            calmest(|| there_and_back(memory, pages, digest))
        })?;
        let name = spread.name(plan);
        tables.add("in use, locked", &format!("pages {name}, free"), &samples, 1);
        tables.add("in use, locked", &format!("pages {name}, alloc"), &samples, 0);
    }
    Ok(())
}

/// Brings a zone's frames into service, all in use, with those of `lists` as single pages.
fn use_all(memory: &Memory<'_, SpinPlatform>, pages: u64, lists: &[Vec<u64>]) -> Result<(), BenchError> {
    let zone = &memory.zones()[0];
    let chunk = Order::MAX_PAGE_ORDER.pages();
    let mut is_single = vec![false; pages.div_ceil(chunk) as usize];
    for &page in lists.iter().flatten() {
        is_single[(page / chunk) as usize] = true;
    }
    for (at, single) in is_single.into_iter().enumerate() {
        let order = if single { Order::ZERO } else { Order::MAX_PAGE_ORDER };
        let first = at as u64 * chunk;
        for page in (first..first + chunk).step_by(order.pages() as usize) {
            zone.add_allocated(START.add(page), order, Migratetype::Movable)?;
        }
    }
    Ok(())
}

/// Frees the pages to the free lists, then allocates as many, which are the same ones.
fn there_and_back(
    memory: &Memory<'_, SpinPlatform>,
    pages: &mut [Pfn],
    digest: &mut Digest,
) -> Result<Sample, BenchError> {
    let mut side = LockedHandle::reclaiming(memory, 0);
    let mut taken = true;
    let start = Instant::now();
    for &pfn in pages.iter() {
        taken &= side.free(pfn, Order::ZERO);
    }
    memory.drain_all();
    let free_ns = ns_since(start);
    if !taken {
        return Err(wrong("did not take back what it handed out"));
    }
    // The last eighth is not timed: with few free pages left the search for one would be measured.
    let (timed, last) = pages.split_at_mut(pages.len() / 8 * 7);
    let take = |side: &mut LockedHandle<'_, '_, SpinPlatform, true>, pages: &mut [Pfn]| {
        pages.iter_mut().try_for_each(|pfn| {
            *pfn = side.alloc(Order::ZERO).ok_or_else(|| wrong("has no block left"))?;
            Ok::<_, BenchError>(())
        })
    };
    let start = Instant::now();
    take(&mut side, timed)?;
    let alloc_ns = ns_since(start) / timed.len() as f64;
    take(&mut side, last)?;
    for pfn in pages.iter() {
        digest.add(pfn.0);
    }
    Ok([alloc_ns, free_ns / pages.len() as f64])
}

/// The tables and charts so far.
struct Tables {
    medians: Table,
    spreads: Table,
    free: Chart,
    full: Chart,
}

impl Tables {
    fn new(plan: &Plan) -> Self {
        let sizes: Vec<String> = plan.zones.iter().map(|&pages| size(pages)).collect();
        let (first, last) = (&sizes[0], &sizes[sizes.len() - 1]);
        let mut columns = sizes.clone();
        columns.push(format!("{last} / {first}"));
        let chart = |title: &str| Chart {
            title: title.into(),
            height: "ns a block".into(),
            points: sizes.clone(),
            lines: Vec::new(),
        };
        Self {
            medians: Table::new("scale: ns a block by the size of the zone", columns),
            spreads: Table::new("scale: spread of the rounds", sizes.clone()),
            free: chart("Calls by the size of the zone: a free zone, locked handle"),
            full: chart("Calls by the size of the zone: pages of a zone in use"),
        }
    }

    fn add(&mut self, group: &str, measure: &str, samples: &[Vec<Sample>], figure: usize) {
        let of_zone = |rounds: &Vec<Sample>| {
            Summary::of(&rounds.iter().map(|sample| sample[figure]).collect::<Vec<_>>())
        };
        let sums: Vec<Summary> = samples.iter().map(of_zone).collect();
        let medians: Vec<f64> = sums.iter().map(|sum| sum.median).collect();
        let ratio = medians[medians.len() - 1] / medians[0];
        self.medians.push(
            group,
            measure,
            "ns",
            medians.iter().copied().chain([ratio]).map(Cell::Real).collect(),
        );
        self.spreads.push(
            group,
            measure,
            "%",
            sums.iter().map(|sum| Cell::Real(sum.spread_percent)).collect(),
        );
        match group {
            "free, locked" => self.free.lines.push((measure.to_owned(), medians)),
            "in use, locked" => self.full.lines.push((measure.to_owned(), medians)),
            _ => {}
        }
    }

    fn finish(mut self, plan: &Plan, report: &mut Report) {
        let bytes = plan.zones.iter().map(|&pages| metadata_bytes(pages));
        let mut cells: Vec<Cell> = bytes.map(|bytes| Cell::Real(bytes as f64 / f64::from(1 << 20))).collect();
        cells.push(Cell::Empty);
        self.medians.push("memory", "metadata", "MiB", cells);
        report.tables.push(self.medians);
        report.details.push(self.spreads);
        report.charts.extend([self.free, self.full]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_that_do_not_fit_are_left_out_with_a_note() {
        let mut plan = Plan::new(Scale::Full);
        assert_eq!(plan.fit(u64::MAX / 8), None);
        assert_eq!(plan.zones.len(), 4);
        let note = plan.fit(1 << 30).unwrap();
        assert_eq!(plan.zones, [GIB, GIB << 4, GIB << 7]);
        assert!(
            note.starts_with("left out for lack of memory: 1 TiB; the metadata of 1 TiB takes 2562 MiB, 1024 MiB are available"),
            "{note}"
        );
        assert!(plan.fit(0).unwrap().contains("16 GiB, 128 GiB"));
        assert_eq!(plan.zones, [GIB]);
    }

    #[test]
    fn pages_are_scattered_without_buddies() {
        let plan = Plan::new(Scale::Tiny);
        for spread in Spread::ALL {
            let mut pages = spread.pages(&plan, plan.zones[1]);
            assert_eq!(pages.len() as u64, plan.scattered);
            pages.sort_unstable();
            pages.dedup_by_key(|page| *page / 2);
            assert_eq!(pages.len() as u64, plan.scattered, "{spread:?}");
            assert!(pages.iter().all(|&page| page < plan.zones[1]));
        }
    }
}
