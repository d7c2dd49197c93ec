//! Owners, batches and single requests in parallel, with and without detection of racing frees.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{self, Random, geometry, order, plain_zone};
use freehold::{
    Era, Exclusive, GfpFlags, Memory, NoReclaim, Order, OwnersFreeOnce, PerCpuSettings, Pfn, Platform,
    Request, ZoneConfig, required_bytes,
};

const START: u64 = 0x403;
const PAGES: u64 = 20_000;
const GFPS: [GfpFlags; 3] = [
    GfpFlags::GFP_ATOMIC,
    GfpFlags::HIGHUSER_MOVABLE.difference(GfpFlags::DIRECT_RECLAIM),
    GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE),
];

/// The owner of each page. It detects at once if a page is allocated twice.
struct Owners(Vec<AtomicU8>);

impl Owners {
    fn change(&self, pfn: Pfn, size: Order, from: u8, to: u8) {
        for page in pfn.0..pfn.0 + size.pages() {
            let was = self.0[(page - START) as usize].swap(to, Ordering::Relaxed);
            assert_eq!(was, from, "{page:#x} changes hands");
        }
    }
}

/// One thread's blocks.
struct Worker<'a> {
    owners: &'a Owners,
    name: u8,
    cpu: u16,
    random: Random,
    in_use: Vec<(Pfn, Order)>,
}

impl Worker<'_> {
    fn request(&mut self) -> Request {
        let size = order([0, 0, 0, 0, 1, 3, 4, 5][self.random.below(8) as usize]);
        Request { cpu: self.cpu, node: 0, order: size, gfp: GFPS[self.random.below(3) as usize] }
    }

    fn got(&mut self, pfn: Pfn, size: Order) {
        self.owners.change(pfn, size, 0, self.name);
        self.in_use.push((pfn, size));
    }

    fn give(&mut self) -> Option<(Pfn, Order)> {
        let count = self.in_use.len() as u64;
        let (pfn, size) = (count > 0).then(|| self.in_use.swap_remove(self.random.below(count) as usize))?;
        self.owners.change(pfn, size, self.name, 0);
        Some((pfn, size))
    }

    fn single<P: Platform>(&mut self, memory: &Memory<'_, P>) {
        if self.random.below(100) < 52 {
            let request = self.request();
            if let Ok(pfn) = memory.alloc(request, NoReclaim) {
                self.got(pfn, request.order);
            }
        } else if let Some((pfn, size)) = self.give() {
            memory.free(self.cpu, pfn, size).expect("a block in use");
        }
    }

    fn batch<P: Platform>(&mut self, owner: &mut Exclusive<'_, '_, P>) {
        if self.random.below(100) < 52 && self.in_use.len() < 1500 {
            let request = self.request();
            let mut places = vec![None; 1 + self.random.below(80) as usize];
            owner.alloc_batch(request, &mut places);
            places.into_iter().flatten().for_each(|pfn| self.got(pfn, request.order));
            return;
        }
        self.in_use.sort_unstable();
        let Some((first, size)) = self.give() else { return };
        let mut chosen = vec![first];
        let most = self.random.below(80) as usize;
        let (owners, name) = (self.owners, self.name);
        self.in_use.retain(|&(pfn, own)| {
            let goes = own == size && chosen.len() <= most;
            if goes {
                owners.change(pfn, own, name, 0);
                chosen.push(pfn);
            }
            !goes
        });
        owner.free_batch(size, &chosen).expect("blocks in use");
    }

    fn bulk<P: Platform>(&mut self, memory: &Memory<'_, P>) {
        let request = Request { order: Order::ZERO, ..self.request() };
        let mut pages = [None; 40];
        memory.alloc_bulk(request, &mut pages);
        let pages: Vec<Pfn> = pages.into_iter().flatten().collect();
        for (from, to) in [(0, self.name), (self.name, 0)] {
            for &pfn in &pages {
                self.owners.change(pfn, Order::ZERO, from, to);
            }
        }
        memory.free_bulk(self.cpu, &pages).expect("pages in use");
    }

    fn work<P: Platform>(mut self, memory: &Memory<'_, P>, owns: bool, steps: u32) {
        for _ in 0..steps {
            if owns {
                let mut owner = memory.exclusive(self.cpu).expect("a CPU");
                for _ in 0..self.random.below(8) {
                    self.batch(&mut owner);
                    owner.pause();
                }
            } else {
                (0..20).for_each(|_| self.single(memory));
                self.bulk(memory);
            }
        }
        while let Some((pfn, size)) = self.give() {
            memory.free(self.cpu, pfn, size).expect("a block in use");
        }
    }
}

fn run<P: Platform<ZoneLock: Sync + Send, PerCpuLock: Sync + Send, Tracepoints = (), Rule = ()>>(
    era: Era,
    steps: u32,
) {
    let percpu = PerCpuSettings { batch: 15, high_min: 60, high_max: 900, flush_needs_batch: false };
    let zones = [ZoneConfig { percpu, ..plain_zone(START, PAGES) }];
    let config = geometry(&zones, era.switches(), 5, 7);
    let mut bytes = vec![core::mem::MaybeUninit::uninit(); required_bytes::<P>(&config)];
    let memory = Memory::<P>::new(&config, &mut bytes).expect("a valid machine");
    let zone = &memory.zones()[0];
    zone.add_free(Pfn(START), PAGES).expect("absent frames");
    let owners = Owners((0..PAGES).map(|_| AtomicU8::new(0)).collect());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let others = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                memory.drain_all();
                memory.refresh(0);
                zone.set_reclaim_active(!zone.state().reclaim_active);
                thread::yield_now();
            }
        });
        // There are two CPUs. The first has an owner, and a second thread that calls with locks.
        let workers = [(1, 0, true), (2, 0, false), (3, 1, false)].map(|(name, cpu, owns)| {
            let random = Random::new(u64::from(name));
            let worker = Worker { owners: &owners, name, cpu, random, in_use: Vec::new() };
            let memory = &memory;
            scope.spawn(move || worker.work(memory, owns, steps))
        });
        let results = workers.map(thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        others.join().expect("drains");
        assert!(results.iter().all(Result::is_ok), "{}", era.name());
    });
    memory.drain_all();
    memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    assert_eq!(zone.free_pages(), PAGES, "{}: every page is back", era.name());
}

#[test]
fn exclusive_owner_and_other_threads_lose_no_page() {
    for era in Era::ALL {
        run::<common::Host>(era, 1500);
    }
}

#[test]
fn owners_free_once_loses_no_page() {
    for era in Era::ALL {
        run::<OwnersFreeOnce<common::Host>>(era, 1500);
    }
}

/// Rounds of each order; `FREEHOLD_RACING_ROUNDS` names another number.
const ROUNDS: u32 = 20_000;

/// Two callers free each block at the same instant, although the embedder has promised that none do: one succeeds. Only single pages
/// that go to a list with room may be freed twice.
#[test]
fn racing_frees_against_the_promise_are_refused_beside_the_fast_path() {
    let no_lists = plain_zone(0x400, 16_384);
    let percpu = PerCpuSettings { batch: 63, high_min: 900, high_max: 9000, flush_needs_batch: false };
    let with_lists = ZoneConfig { percpu, ..no_lists };
    for size in [0, 1, 3, 4, 9].map(order) {
        race(no_lists, size);
        if size > Order::ZERO {
            race(with_lists, size);
        }
    }
}

/// Lets two threads free each block, of which one succeeds, and checks the memory.
fn race(zone: ZoneConfig, size: Order) {
    type Trusting = OwnersFreeOnce<common::Host>;
    let rounds = std::env::var("FREEHOLD_RACING_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds: u32 = rounds.unwrap_or(ROUNDS);
    let zones = [zone];
    let config = geometry(&zones, Era::Freehold.switches(), 9, 10);
    let mut bytes = vec![core::mem::MaybeUninit::uninit(); required_bytes::<Trusting>(&config)];
    let memory = Memory::<Trusting>::new(&config, &mut bytes).expect("a valid machine");
    let zone = &memory.zones()[0];
    zone.add_free(Pfn(0x400), 16_384).expect("absent frames");
    let (round, done, block) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU64::new(0));
    let succeeded = AtomicU32::new(0);
    let free = |cpu| {
        let freed = memory.free(cpu, Pfn(block.load(Ordering::Relaxed)), size);
        succeeded.fetch_add(u32::from(freed.is_ok()), Ordering::Relaxed);
    };
    // A thread alone on a processor lets the other run, and does not wait for one that has panicked.
    let wait_for = |number: &AtomicU32, least: u32| {
        let (began, mut spins) = (Instant::now(), 0_u64);
        while number.load(Ordering::Acquire) < least {
            spins += 1;
            if spins.is_multiple_of(1000) {
                assert!(began.elapsed() < Duration::from_secs(60), "the other thread has stopped");
                thread::yield_now();
            }
        }
    };
    let mut served = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=rounds {
                wait_for(&round, number);
                free(1);
                done.store(number, Ordering::Release);
            }
        });
        for number in 1..=rounds {
            let request = Request { cpu: (number % 2) as u16, node: 0, order: size, gfp: GFPS[1] };
            if let Ok(pfn) = memory.alloc(request, NoReclaim) {
                block.store(pfn.0, Ordering::Relaxed);
                served += 1;
            }
            round.store(number, Ordering::Release);
            free(0);
            wait_for(&done, number);
            if number.is_multiple_of(64) {
                zone.drain_all();
            }
        }
    });
    zone.drain_all();
    assert_eq!(succeeded.into_inner(), served, "order {size}");
    assert_eq!(zone.free_pages(), 16_384, "order {size}");
    memory.check().unwrap_or_else(|broken| panic!("order {size}: {broken}"));
}
