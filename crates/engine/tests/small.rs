//! Every public call, on a memory small enough for Miri: these tests search for undefined behaviour, and run for 32-bit
//! processors and big-endian ones.

mod common;

use std::mem::MaybeUninit;
use std::thread;

use common::{Host, Random, all_free, geometry, metadata, order, plain_zone, request};
use freehold::{
    Era, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order, PerCpuSettings, Pfn, Reclaimed,
    Relocate, Request, SetupError, ShrinkControl, Shrinker, StaticMemory, Sysctls, ZoneConfig, ZoneType,
    required_bytes,
};

const START: u64 = 0x41;
const PAGES: u64 = 190;
const STEPS: u32 = if cfg!(miri) { 40 } else { 20_000 };
const GFPS: [GfpFlags; 4] = [
    GfpFlags::KERNEL,
    GfpFlags::HIGHUSER_MOVABLE,
    GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE),
    GfpFlags::GFP_ATOMIC,
];

type Machine<'m> = Memory<'m, Host>;

/// An embedder that knows the blocks in use, and moves or frees them on request.
struct Owner {
    random: Random,
    in_use: Vec<(Pfn, Order, GfpFlags)>,
}

impl Owner {
    fn take(&mut self) -> Option<(Pfn, Order, GfpFlags)> {
        let count = self.in_use.len() as u64;
        (count > 0).then(|| self.in_use.swap_remove(self.random.below(count) as usize))
    }
}

impl Relocate for Owner {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        self.in_use.iter().any(|&(in_use, of, gfp)| {
            in_use == pfn && of == order && gfp.migratetype() == Migratetype::Movable
        })
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        let block = self.in_use.iter_mut().find(|(in_use, of, _)| *in_use == from && *of == order);
        block.is_some_and(|block| {
            block.0 = to;
            true
        })
    }
}

impl Shrinker<Host> for Owner {
    fn shrink(&mut self, memory: &Machine<'_>, control: ShrinkControl) -> Reclaimed {
        let mut reclaimed = Reclaimed::default();
        if let Some((pfn, order, _)) = self.take() {
            memory.free(control.cpu, pfn, order).expect("an owner's block");
            reclaimed.reclaimed = order.pages();
            reclaimed.scanned = order.pages();
        }
        reclaimed
    }

    fn reclaimable_pages(&mut self, _node: u16, _zone: ZoneType) -> u64 {
        self.in_use.iter().map(|(_, order, _)| order.pages()).sum()
    }
}

fn on_a_small_machine(era: Era, act: impl FnOnce(&Machine<'_>)) {
    let percpu = PerCpuSettings { batch: 3, high_min: 6, high_max: 24, flush_needs_batch: false };
    let zones = [ZoneConfig { percpu, ..plain_zone(START, PAGES) }];
    let config: MemoryConfig<'_> = geometry(&zones, era.switches(), 3, 5);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    act(&memory);
    memory.drain_all();
    memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    assert_eq!(memory.zones()[0].free_pages(), PAGES, "{}: every page is back", era.name());
}

#[test]
fn random_calls_keep_every_invariant() {
    for (seed, era) in Era::ALL.into_iter().enumerate() {
        on_a_small_machine(era, |memory| {
            let mut owner = Owner { random: Random::new(seed as u64), in_use: Vec::new() };
            for step in 0..STEPS {
                one_call(memory, &mut owner);
                if step % 64 == 0 {
                    memory.check().unwrap_or_else(|broken| panic!("{}, step {step}: {broken}", era.name()));
                }
            }
            for (pfn, order, _) in std::mem::take(&mut owner.in_use) {
                memory.free(1, pfn, order).expect("an owner's block");
            }
        });
    }
}

fn one_call(memory: &Machine<'_>, owner: &mut Owner) {
    let zone = &memory.zones()[0];
    let gfp = GFPS[owner.random.below(4) as usize];
    let wanted = Request { cpu: owner.random.below(2) as u16, ..request(gfp, owner.random.below(6) as u8) };
    let somewhere = Pfn(START + owner.random.below(PAGES));
    match owner.random.below(16) {
        0..=3 => {
            owner.in_use.extend(memory.alloc(wanted, NoReclaim).ok().map(|pfn| (pfn, wanted.order, gfp)));
        }
        4 => {
            let answer = memory.alloc(wanted, &mut *owner);
            owner.in_use.extend(answer.ok().map(|pfn| (pfn, wanted.order, gfp)));
        }
        5..=7 => {
            if let Some((pfn, order, _)) = owner.take() {
                memory.free(wanted.cpu, pfn, order).expect("an owner's block");
                assert!(memory.free(wanted.cpu, pfn, order).is_err(), "a block is freed once");
            }
        }
        8 => {
            let mut lists = memory.exclusive(wanted.cpu).expect("a CPU");
            let mut places = [None; 4];
            let filled = lists.alloc_batch(wanted, &mut places);
            let blocks: Vec<Pfn> = places[..filled].iter().flatten().copied().collect();
            lists.free_batch(wanted.order, &blocks).expect("blocks just taken");
        }
        9 => {
            let mut places = [None; 5];
            let filled = memory.alloc_bulk(wanted, &mut places);
            let pages: Vec<Pfn> = places[..filled].iter().flatten().copied().collect();
            memory.free_bulk(wanted.cpu, &pages).expect("pages just taken");
        }
        10 => {
            if zone.isolate_block(somewhere).is_ok() {
                memory.drain_all();
                zone.unisolate_block(somewhere).expect("isolated just now");
            }
        }
        11 => memory.compact_node(0, wanted.cpu, owner),
        12 => memory.tidy_pageblocks(0, 0, 16, owner),
        13 => {
            memory.refresh(wanted.cpu);
        }
        14 => zone.drain_cpu(wanted.cpu),
        _ => {
            let mut text = String::new();
            memory.write_buddyinfo(&mut text).expect("a string takes text");
            assert_eq!(zone.counts_by_walk(1 << 20).0.free_pages(), zone.list_lengths().free_pages());
            assert!(zone.pageblocks().count() > 0 && text.contains("Normal"));
        }
    }
}

#[test]
fn two_threads_share_a_small_zone() {
    for era in [Era::Linux6_1, Era::Freehold] {
        on_a_small_machine(era, |memory| {
            thread::scope(|scope| {
                for cpu in 0..2 {
                    scope.spawn(move || {
                        for step in 0..STEPS / 5 {
                            let gfp = GFPS[step as usize % 3];
                            let wanted = Request { cpu, ..request(gfp, (step % 3) as u8) };
                            if let Ok(pfn) = memory.alloc(wanted, NoReclaim) {
                                memory.free(1 - cpu, pfn, wanted.order).expect("this thread's block");
                            }
                        }
                    });
                }
            });
        });
    }
}

#[test]
fn a_static_memory_is_set_up_once() {
    static MEMORY: StaticMemory<Host> = StaticMemory::new();
    assert!(MEMORY.get().is_none());
    let too_small = MEMORY.set_up(&MemoryConfig::linux(&[plain_zone(START, PAGES)], 1), &mut [], &());
    assert!(matches!(too_small, Err(SetupError::MetadataTooSmall { .. })), "and may be set up after it");
    let mut zones = [ZoneConfig::sized(0, ZoneType::Normal, Pfn(START), PAGES)];
    Sysctls::linux(2).apply(&mut zones);
    let config =
        MemoryConfig { max_order: order(3), pageblock_order: order(2), ..MemoryConfig::linux(&zones, 2) };
    // All threads use parts of one buffer, so that the memory keeps the parts of the losing threads reachable as well.
    let size = required_bytes::<Host>(&config).next_multiple_of(64);
    let buffer = vec![MaybeUninit::uninit(); 3 * size].leak();
    let config = &config;
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = buffer
            .chunks_mut(size)
            .map(|part| {
                scope.spawn(move || {
                    (MEMORY.set_up(config, part, &()).map(|_| ()), MEMORY.get().map(Memory::cpus))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(results.iter().filter(|(result, _)| result.is_ok()).count(), 1, "{results:?}");
    for (result, cpus) in results {
        match result {
            Ok(()) => assert_eq!(cpus, Some(2)),
            Err(error) => assert_eq!(error, SetupError::AlreadySetUp),
        }
    }
    let memory = MEMORY.get().expect("it is set up");
    memory.zones()[0].add_free(Pfn(START), PAGES).expect("free frames");
    let page = memory.alloc(request(GfpFlags::KERNEL, 0), NoReclaim).expect("a page");
    memory.free(1, page, Order::ZERO).expect("its page");
    memory.check().expect("the invariants");
}
