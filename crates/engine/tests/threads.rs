//! Parallel threads on one zone: no page is lost, and none is allocated twice.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::thread;

use crate::common::{self, Random, all_free, geometry, metadata, order, plain_zone};
use freehold::{
    Era, FreeError, GfpFlags, Memory, MemoryConfig, NoReclaim, Order, PerCpuSettings, Pfn, Request,
    ZoneConfig,
};

type Machine<'m> = Memory<'m, common::Host>;

const START: u64 = 0x403;
const PAGES: u64 = 3000;
const GFPS: [GfpFlags; 3] =
    [GfpFlags::KERNEL, GfpFlags::HIGHUSER_MOVABLE, GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE)];

/// The most pages that one worker has in use, and that one CPU's lists keep.
const MAX_IN_USE: u64 = 700;
const LISTED: u64 = 200;

/// The number of steps in which a worker mostly requests one type.
const PHASE: u32 = 2000;

fn on_a_machine(era: Era, cpus: u16, act: impl FnOnce(&Machine<'_>)) {
    let percpu = PerCpuSettings { batch: 7, high_min: 14, high_max: 60, flush_needs_batch: false };
    let zones = [ZoneConfig { percpu, ..plain_zone(START, PAGES) }];
    let config = MemoryConfig { cpus, ..geometry(&zones, era.switches(), 5, 7) };
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    act(&memory);
    memory.drain_all();
    memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    assert_eq!(memory.zones()[0].free_pages(), PAGES, "{}: every page is back", era.name());
}

/// The owner of each page. It detects at once if a page is allocated twice.
struct Owners(Vec<AtomicU8>);

impl Owners {
    fn new() -> Self {
        Self((0..PAGES).map(|_| AtomicU8::new(0)).collect())
    }

    fn change(&self, pfn: Pfn, size: Order, from: u8, to: u8) {
        for page in pfn.0..pfn.0 + size.pages() {
            let was = self.0[(page - START) as usize].swap(to, Ordering::Relaxed);
            assert_eq!(was, from, "{page:#x} changes hands");
        }
    }
}

fn work(memory: &Machine<'_>, owners: &Owners, worker: u8, cpu: u16, steps: u32) {
    let mut random = Random::new(u64::from(worker));
    let mut in_use: Vec<(Pfn, Order)> = Vec::new();
    let mut pages = 0;
    for step in 0..steps {
        let size = order(if random.below(5) == 0 { random.below(6) as u8 } else { 0 });
        if random.below(100) < 55 && pages + size.pages() <= MAX_IN_USE {
            // The preferred type changes, so that each type gets pageblocks that the last type has left.
            let favoured = (step / PHASE) as usize % 3;
            let gfp = GFPS[if random.below(8) == 0 { random.below(3) as usize } else { favoured }];
            if let Ok(pfn) = memory.alloc(Request { cpu, node: 0, order: size, gfp }, NoReclaim) {
                owners.change(pfn, size, 0, worker);
                pages += size.pages();
                in_use.push((pfn, size));
            }
        } else if !in_use.is_empty() {
            let (pfn, size) = in_use.swap_remove(random.below(in_use.len() as u64) as usize);
            owners.change(pfn, size, worker, 0);
            pages -= size.pages();
            memory.free(cpu, pfn, size).expect("a block in use");
        }
        if random.below(200) == 0 {
            memory.refresh(cpu);
        }
        if random.below(20) == 0 {
            // Changes the types of pageblocks while other threads allocate from them.
            memory.tidy_pageblocks(0, 0, 64, &mut ());
        }
    }
    for (pfn, size) in in_use {
        owners.change(pfn, size, worker, 0);
        memory.free(cpu, pfn, size).expect("a block in use");
    }
}

/// Reads counts until a flag stops it. Returns the number of consistent snapshots.
fn read(memory: &Machine<'_>, stop: &AtomicBool, least_free: u64) -> u32 {
    let zone = &memory.zones()[0];
    let mut consistent = 0;
    while !stop.load(Ordering::Relaxed) {
        let _ = zone.counts_relaxed();
        if let Some(counts) = zone.counts_consistent(1000) {
            assert!(counts.totals_agree(), "{counts:?}");
            let free = counts.free_pages();
            assert!((least_free..=PAGES).contains(&free), "{free} pages free, at least {least_free} must be");
            consistent += 1;
        }
    }
    consistent
}

/// Runs workers on these CPUs, a thread that drains all CPUs' lists, and a reader. Returns the number of pageblocks
/// that tidying retyped.
fn run(era: Era, cpus_of_workers: &[u16], steps: u32) -> u64 {
    let mut retyped = 0;
    on_a_machine(era, 3, |memory| {
        let owners = Owners::new();
        let stop = AtomicBool::new(false);
        let least = PAGES - (MAX_IN_USE + LISTED) * cpus_of_workers.len() as u64 - LISTED;
        thread::scope(|scope| {
            let workers: Vec<_> = (1..)
                .zip(cpus_of_workers)
                .map(|(worker, &cpu)| {
                    let owners = &owners;
                    scope.spawn(move || work(memory, owners, worker, cpu, steps))
                })
                .collect();
            let reader = scope.spawn(|| read(memory, &stop, least));
            let drainer = scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    memory.drain_all();
                    let _ = memory.zones()[0].counts_by_walk(u64::MAX);
                    thread::yield_now();
                }
            });
            let results: Vec<_> = workers.into_iter().map(thread::ScopedJoinHandle::join).collect();
            stop.store(true, Ordering::Relaxed);
            drainer.join().expect("drains");
            let consistent = reader.join().expect("consistent counts");
            assert!(results.iter().all(Result::is_ok), "{}", era.name());
            assert_eq!(consistent > 0, memory.switches().counts, "{}: {consistent}", era.name());
            retyped = memory.zone_stats().retyped;
        });
    });
    retyped
}

#[test]
fn cpus_in_parallel_lose_no_page() {
    for era in Era::ALL {
        let retypes = era.switches().retypes_pageblocks;
        // Depending on the scheduling of threads, tidying may find no pageblock to retype in one run.
        let rounds = if retypes { 20 } else { 1 };
        let retyped = (0..rounds).any(|_| run(era, &[0, 1, 2], 100_000) > 0);
        assert_eq!(retyped, retypes, "{}", era.name());
    }
}

#[test]
fn threads_that_share_a_cpu_lose_no_page() {
    for era in [Era::Linux6_1, Era::Freehold] {
        run(era, &[0, 0, 1], 100_000);
    }
}

/// The number of blocks in a round. They are adjacent while memory is not yet fragmented.
const RACED: usize = 5;

/// Frees blocks in a different way on each of three CPUs. Returns the number of blocks freed. Another CPU must have
/// freed the others.
fn free_as(memory: &Machine<'_>, cpu: u16, blocks: &[Pfn], size: Order) -> u32 {
    let freed = |result: Result<(), FreeError>| match result {
        Ok(()) => 1,
        // While a block merges, its first frame is a tail of another block.
        Err(FreeError::AlreadyFree | FreeError::NotAllocated) => 0,
        Err(other) => panic!("{other}"),
    };
    match (cpu, memory.exclusive(cpu)) {
        (1, Some(mut owner)) => blocks.iter().map(|&pfn| freed(owner.free(pfn, size))).sum(),
        (2, Some(mut owner)) => {
            let (mut at, mut wins) = (0, 0);
            while at < blocks.len() {
                match owner.free_batch(size, &blocks[at..]) {
                    Ok(()) => return wins + (blocks.len() - at) as u32,
                    Err((before, error)) => {
                        wins += before as u32 + freed(Err(error));
                        at += before + 1;
                    }
                }
            }
            wins
        }
        (_, owner) => {
            drop(owner);
            blocks.iter().map(|&pfn| freed(memory.free(cpu, pfn, size))).sum()
        }
    }
}

#[test]
fn exactly_one_of_racing_frees_succeeds() {
    let cases =
        [(0, Era::Freehold), (2, Era::Freehold), (4, Era::Freehold), (0, Era::Linux6_1), (6, Era::Linux6_1)];
    for (size, era) in cases {
        on_a_machine(era, 3, |memory| {
            let blocks: [AtomicU32; RACED] = std::array::from_fn(|_| AtomicU32::new(0));
            let wins = AtomicU32::new(0);
            let barrier = Barrier::new(3);
            thread::scope(|scope| {
                for cpu in 0..3 {
                    let (blocks, wins, barrier) = (&blocks, &wins, &barrier);
                    scope.spawn(move || {
                        for round in 1..=1500 {
                            if cpu == 0 {
                                let request =
                                    Request { cpu, node: 0, order: order(size), gfp: GfpFlags::KERNEL };
                                for block in blocks {
                                    let pfn = memory.alloc(request, NoReclaim).expect("free pages");
                                    block.store(pfn.0 as u32, Ordering::Relaxed);
                                }
                            }
                            barrier.wait();
                            let all = blocks.each_ref().map(|at| Pfn(u64::from(at.load(Ordering::Relaxed))));
                            wins.fetch_add(free_as(memory, cpu, &all, order(size)), Ordering::Relaxed);
                            barrier.wait();
                            let each_once = round * RACED as u32;
                            assert_eq!(wins.load(Ordering::Relaxed), each_once, "each block once, of three");
                            barrier.wait();
                        }
                    });
                }
            });
        });
    }
}
