//! Pageblocks go out of service and back, and contiguous ranges are allocated, while other callers allocate.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::{
    self, Host, Random, all_free, config, geometry, listed, metadata, order, plain_zone, request,
};
use freehold::{
    AllocError, BlockError, Era, FreeError, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order,
    Pfn, Relocate, Request, SetupError, Watermarks, ZoneConfig,
};

const MOVABLE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;

/// The number of pageblocks of the machine on which threads allocate.
const BLOCKS: u64 = 24;

/// An embedder that knows the movable blocks in use by their first frames.
#[derive(Default)]
struct Owner {
    in_use: BTreeMap<u64, Order>,
    refuses: bool,
}

impl Owner {
    fn get(&mut self, memory: &Memory<'_, Host>, gfp: GfpFlags, size: u8) -> Option<Pfn> {
        let pfn = memory.alloc(request(gfp, size), NoReclaim).ok()?;
        assert_eq!(self.in_use.insert(pfn.0, order(size)), None);
        Some(pfn)
    }

    fn free_all(&mut self, memory: &Memory<'_, Host>) {
        for (pfn, size) in std::mem::take(&mut self.in_use) {
            memory.free(0, Pfn(pfn), size).expect("in use");
        }
    }
}

impl Relocate for Owner {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        self.in_use.get(&pfn.0) == Some(&order)
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        if self.refuses {
            return false;
        }
        assert_eq!(self.in_use.remove(&from.0), Some(order));
        assert_eq!(self.in_use.insert(to.0, order), None);
        true
    }
}

/// Runs with `blocks` pageblocks of 16 pages for every era. All pages are free and managed.
fn each_era(blocks: u64, act: impl Fn(&Memory<'_, Host>, Era)) {
    for era in Era::ALL {
        let percpu = common::fixed_lists(4, 64);
        let zones = [ZoneConfig { percpu, ..plain_zone(0x400, 16 * blocks) }];
        let config = geometry(&zones, era.switches(), 4, 5);
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        act(&memory, era);
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    }
}

#[test]
fn no_request_gets_isolated_pages_after_a_drain() {
    each_era(4, |memory, era| {
        let zone = &memory.zones()[0];
        let pfn = memory.alloc(request(MOVABLE, 0), NoReclaim).expect("free pages");
        memory.free(0, pfn, Order::ZERO).expect("allocated");
        assert!(zone.percpu_pages(0) > 0, "{}", era.name());
        zone.isolate_block(pfn).expect("movable");
        zone.drain_all();
        let inside = |at: Pfn| at.0 & !15 == pfn.0 & !15;
        while let Ok(other) = memory.alloc(request(MOVABLE | GfpFlags::MEMALLOC, 0), NoReclaim) {
            assert!(!inside(other), "{}: {other} is isolated", era.name());
        }
        memory.offline_isolated(Pfn(pfn.0 & !15), 16, 0, &mut ()).expect("empty");
    });
}

#[test]
fn pageblocks_go_out_of_service_and_come_back() {
    each_era(8, |memory, era| {
        let zone = &memory.zones()[0];
        let mut owner = Owner::default();
        for number in 0..30 {
            owner.get(memory, MOVABLE, if number % 5 == 0 { 2 } else { 0 }).expect("free pages");
        }
        let contents = owner.in_use.len();
        memory.offline_range(Pfn(0x410), 32, 0, &mut owner).expect("movable pages only");
        assert_eq!(owner.in_use.len(), contents, "{}: nothing is lost", era.name());
        assert!(owner.in_use.keys().all(|pfn| !(0x410..0x430).contains(pfn)), "{}", era.name());
        assert_eq!((zone.spanned_pages(), zone.present_pages(), zone.managed_pages()), (128, 96, 96));
        assert_eq!(memory.free(0, Pfn(0x412), Order::ZERO), Err(FreeError::OutsideZones));
        assert_eq!(zone.block_type(Pfn(0x410)), Some(Migratetype::Movable));
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
        // Frames out of service cannot be taken out a second time.
        assert_eq!(memory.offline_range(Pfn(0x400), 32, 0, &mut owner), Err(BlockError::Unmovable));
        while let Some(pfn) = owner.get(memory, MOVABLE | GfpFlags::MEMALLOC, 0) {
            assert!(!(0x410..0x430).contains(&pfn.0), "{}: {pfn} is out of service", era.name());
        }
        memory.online_range(Pfn(0x410), 32).expect("absent");
        assert_eq!((zone.present_pages(), zone.managed_pages()), (128, 128));
        assert_eq!(
            memory.online_range(Pfn(0x42f), 1),
            Err(SetupError::OverlappingZones { at: Pfn(0x42f) }),
            "once"
        );
        assert!(owner.get(memory, MOVABLE | GfpFlags::MEMALLOC, 3).is_some(), "{}", era.name());
        owner.free_all(memory);
        memory.drain_all();
        assert_eq!(zone.free_pages(), 128, "{}", era.name());
    });
}

#[test]
fn failed_offline_changes_nothing() {
    each_era(4, |memory, era| {
        let zone = &memory.zones()[0];
        let mut owner = Owner::default();
        let offline = |owner: &mut Owner, start, pages| memory.offline_range(Pfn(start), pages, 0, owner);
        assert_eq!(offline(&mut owner, 0x401, 16), Err(BlockError::Unaligned));
        assert_eq!(offline(&mut owner, 0x400, 8), Err(BlockError::Unaligned));
        assert_eq!(offline(&mut owner, 0x400, 0), Err(BlockError::OutsideZone));
        assert_eq!(offline(&mut owner, 0x300, 16), Err(BlockError::OutsideZone));
        assert_eq!(memory.offline_range(Pfn(0x400), 16, 9, &mut owner), Err(BlockError::NoSuchCpu));
        assert_eq!(memory.offline_isolated(Pfn(0x400), 16, 0, &mut owner), Err(BlockError::WrongState));
        // The embedder does not know this page, so it does not move it.
        let lonely = memory.alloc(request(MOVABLE, 0), NoReclaim).expect("free pages");
        let block = lonely.0 & !15;
        assert_eq!(offline(&mut owner, block, 16), Err(BlockError::Unmovable));
        owner.in_use.insert(lonely.0, Order::ZERO);
        owner.refuses = true;
        assert_eq!(offline(&mut owner, block, 16), Err(BlockError::Busy));
        owner.refuses = false;
        // The page has no other place: all other pages are in use as well.
        let mut rest = Vec::new();
        while let Ok(pfn) = memory.alloc(request(MOVABLE | GfpFlags::MEMALLOC, 0), NoReclaim) {
            rest.push(pfn);
        }
        assert_eq!(offline(&mut owner, block, 16), Err(BlockError::NoRoom));
        for pfn in rest {
            memory.free(0, pfn, Order::ZERO).expect("in use");
        }
        memory.drain_all();
        assert_eq!((zone.free_pages(), zone.present_pages(), zone.managed_pages()), (63, 64, 64));
        assert_eq!(zone.block_type(lonely), Some(Migratetype::Movable), "{}", era.name());
        offline(&mut owner, block, 16).expect("now the page can move");
    });
}

#[test]
fn the_isolation_of_another_caller_survives_a_failure() {
    each_era(4, |memory, era| {
        let zone = &memory.zones()[0];
        zone.isolate_block(Pfn(0x410)).expect("free");
        let is_isolated = |pfn| zone.block_type(Pfn(pfn)) == Some(Migratetype::Isolate);
        let wrong = Err(BlockError::WrongState);
        for (start, pages) in [(0x400, 64), (0x410, 16), (0x400, 32), (0x410, 32)] {
            assert_eq!(memory.offline_range(Pfn(start), pages, 0, &mut ()), wrong);
            let kind = Migratetype::Movable;
            assert_eq!(memory.alloc_contig_range(Pfn(start), pages, kind, 0, &mut ()), wrong);
            if era == Era::Freehold {
                assert_eq!(memory.alloc_contig_range(Pfn(start), pages, kind, 0, NoReclaim), wrong);
            }
            let isolated = [0x400, 0x410, 0x420, 0x430].map(is_isolated);
            assert_eq!(isolated, [false, true, false, false], "{}", era.name());
        }
        // The caller that isolated the pageblock takes it out of service.
        memory.offline_isolated(Pfn(0x410), 16, 0, &mut ()).expect("free");
        assert!(!is_isolated(0x410) && zone.present_pages() == 48);
        memory.online_range(Pfn(0x410), 16).expect("absent");
    });
}

#[test]
fn offline_keeps_an_isolated_neighbour() {
    each_era(4, |memory, era| {
        let zone = &memory.zones()[0];
        // Both halves of a block of two pageblocks are isolated: free isolated neighbours merge.
        let pfn = memory.alloc(request(MOVABLE, 5), NoReclaim).expect("free pages");
        let upper = pfn.add(16);
        zone.isolate_block(pfn).expect("movable");
        zone.isolate_block(upper).expect("movable");
        memory.free(0, pfn, order(5)).expect("in use");
        assert_eq!(listed(zone, 5, Migratetype::Isolate), [pfn.0], "{}", era.name());
        memory.offline_isolated(upper, 16, 0, &mut ()).expect("free");
        assert_eq!(zone.block_type(pfn), Some(Migratetype::Isolate));
        assert_eq!(listed(zone, 4, Migratetype::Isolate).len() + 16 * zone.percpu_pages(0) as usize, 1);
        zone.unisolate_block(pfn).expect("isolated");
        memory.online_range(upper, 16).expect("absent");
        assert_eq!(listed(zone, 5, Migratetype::Movable).len(), 2, "{}: whole again", era.name());
    });
}

#[test]
fn offline_refuses_a_block_across_the_end_of_the_range() {
    each_era(4, |memory, era| {
        let mut owner = Owner::default();
        let pfn = owner.get(memory, MOVABLE, 5).expect("free pages");
        for start in [pfn, pfn.add(16)] {
            let done = memory.offline_range(start, 16, 0, &mut owner);
            assert_eq!(done, Err(BlockError::Unmovable), "{}", era.name());
        }
        memory.offline_range(pfn, 32, 0, &mut owner).expect("movable");
        assert_ne!(owner.in_use.keys().next(), Some(&pfn.0), "{}: it has moved", era.name());
    });
}

#[test]
fn a_zone_without_memory_grows_within_its_span() {
    let zones = [
        plain_zone(0x400, 64),
        ZoneConfig { node: 1, managed: 0, watermarks: Watermarks::default(), ..plain_zone(0x800, 64) },
    ];
    let config = geometry(&zones, Era::Freehold.switches(), 4, 5);
    let mut bytes = metadata(&config);
    let memory = Memory::<Host>::new(&config, &mut bytes).expect("valid");
    memory.zones()[0].add_free(Pfn(0x400), 64).expect("absent frames");
    let there = Request { node: 1, ..request(MOVABLE | GfpFlags::THISNODE, 0) };
    assert_eq!(memory.alloc(there, NoReclaim), Err(AllocError::NoMemory));
    assert_eq!(memory.zones()[1].present_pages(), 0);
    memory.online_range(Pfn(0x810), 32).expect("absent");
    assert!((0x810..0x830).contains(&memory.alloc(there, NoReclaim).expect("memory").0));
    assert_eq!(memory.online_range(Pfn(0x830), 32), Err(SetupError::EmptyZone), "beyond the span");
    memory.check().expect("intact");
}

#[test]
fn contiguous_range_moves_pages_in_use() {
    each_era(8, |memory, era| {
        let zone = &memory.zones()[0];
        for (start, pages) in [(0x410, 16), (0x413, 9), (0x40a, 40), (0x41f, 2)] {
            let mut owner = Owner::default();
            while owner.in_use.len() < 18 {
                owner.get(memory, MOVABLE, (owner.in_use.len() % 3) as u8).expect("free pages");
            }
            let contents: Vec<Order> = owner.in_use.values().copied().collect();
            let kind = Migratetype::Movable;
            let range = Pfn(start)..Pfn(start + pages);
            memory.alloc_contig_range(range.start, pages, kind, 0, &mut owner).expect("movable");
            let mut now: Vec<Order> = owner.in_use.values().copied().collect();
            let mut before = contents;
            now.sort();
            before.sort();
            assert_eq!(now, before, "{}", era.name());
            assert!(
                owner.in_use.iter().all(|(&pfn, size)| pfn + size.pages() <= start || pfn >= start + pages)
            );
            assert!(
                (0..pages).all(|page| memory.allocated_block(Pfn(start + page)) == Some((Order::ZERO, kind)))
            );
            let Err((freed, error)) = memory.free_contig_range(1, range.start, pages + 64) else {
                panic!("{}: pages of others", era.name());
            };
            assert!(freed >= pages && error != FreeError::NoSuchCpu, "{freed}: {error}");
            for page in pages..freed {
                // Single pages behind the range belonged to the owner.
                owner.in_use.remove(&(start + page)).expect("in use");
            }
            owner.free_all(memory);
            memory.drain_all();
            assert_eq!(zone.free_pages(), 128, "{}", era.name());
            memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
        }
        let absent_cpu = memory.free_contig_range(9, Pfn(0x400), 1);
        assert_eq!(absent_cpu, Err((0, FreeError::NoSuchCpu)));
    });
}

#[test]
fn contiguous_range_must_have_one_type() {
    for era in Era::ALL {
        let zones = [plain_zone(0x400, 64)];
        let config = geometry(&zones, era.switches(), 4, 5);
        let mut bytes = metadata(&config);
        let memory = Memory::<Host>::new(&config, &mut bytes).expect("valid");
        let zone = &memory.zones()[0];
        for pfn in [0x420, 0x430] {
            zone.set_block_type(Pfn(pfn), Migratetype::Cma).expect("nothing there yet");
        }
        zone.add_free(Pfn(0x400), 64).expect("absent frames");
        let types = || [0x400, 0x410, 0x420, 0x430].map(|pfn| zone.block_type(Pfn(pfn)).expect("inside"));
        let before = types();
        let with = |start, pages, kind| memory.alloc_contig_range(Pfn(start), pages, kind, 0, &mut ());
        let strictly = era == Era::Freehold;
        let plain = |start, pages, kind| memory.alloc_contig_range(Pfn(start), pages, kind, 0, NoReclaim);
        for (start, pages) in [(0x410, 32), (0x400, 16), (0x41f, 2)] {
            assert_eq!(with(start, pages, Migratetype::Cma), Err(BlockError::WrongType), "{}", era.name());
            if strictly {
                assert_eq!(plain(start, pages, Migratetype::Cma), Err(BlockError::WrongType));
            }
        }
        for (start, pages) in [(0x410, 32), (0x420, 16), (0x41f, 2)] {
            assert_eq!(with(start, pages, Migratetype::Movable), Err(BlockError::Unmovable));
            assert_eq!(plain(start, pages, Migratetype::Movable), Err(BlockError::Unmovable));
        }
        for kind in [Migratetype::Unmovable, Migratetype::Isolate, Migratetype::HighAtomic] {
            assert_eq!(with(0x400, 16, kind), Err(BlockError::WrongType));
            assert_eq!(plain(0x400, 16, kind), Err(BlockError::WrongType), "{}", era.name());
        }
        assert_eq!(types(), before, "{}", era.name());
        with(0x424, 20, Migratetype::Cma).expect("free CMA pages");
        assert_eq!(types(), before, "{}", era.name());
        memory.free_contig_range(0, Pfn(0x424), 20).expect("a contiguous range");
        memory.drain_all();
        assert_eq!(zone.free_pages(), 64);
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    }
}

#[test]
fn alloc_contig_pages_finds_a_range() {
    each_era(8, |memory, era| {
        let mut owner = Owner::default();
        // An unmovable page in most pageblocks, and movable ones everywhere.
        while owner.get(memory, MOVABLE | GfpFlags::MEMALLOC, 0).is_some() {}
        for number in 0..8 {
            for page in [0, 5, 6, 9] {
                let pfn = 0x400 + 16 * number + page;
                owner.in_use.remove(&pfn).expect("every page is in use");
                memory.free(0, Pfn(pfn), Order::ZERO).expect("in use");
            }
        }
        memory.drain_all();
        let immovable = |pfn: u64| memory.zones()[0].set_movable(Pfn(pfn), false).expect("in use");
        for number in [0, 1, 2, 5, 7] {
            let pfn = 0x400 + 16 * number + 3;
            owner.in_use.remove(&pfn).expect("in use");
            immovable(pfn);
        }
        let found = memory.alloc_contig_pages(request(MOVABLE, 0), 40, &mut owner);
        assert_eq!(found, Err(AllocError::NoMemory), "{}: none of 40 at its multiples", era.name());
        let found = memory.alloc_contig_pages(request(MOVABLE, 0), 16, &mut owner);
        assert_eq!(found, Ok(Pfn(0x430)), "{}", era.name());
        for pages in [0, 1 << 40, u64::MAX] {
            let found = memory.alloc_contig_pages(request(MOVABLE, 0), pages, &mut owner);
            assert_eq!(found, Err(AllocError::NoMemory));
        }
        let elsewhere = Request { cpu: 7, ..request(MOVABLE, 0) };
        let found = memory.alloc_contig_pages(elsewhere, 16, &mut owner);
        assert_eq!(found, Err(AllocError::NoSuchCpu));
        memory.free_contig_range(0, Pfn(0x430), 16).expect("a contiguous range");
    });
}

/// An embedder whose blocks belong to several threads. No thread can free a block while it is being moved.
struct Sharing<'a> {
    in_use: &'a Mutex<BTreeMap<u64, Order>>,
    pinned: Option<(u64, Order)>,
}

impl Sharing<'_> {
    fn let_go(&mut self) {
        if let Some((pfn, size)) = self.pinned.take() {
            self.in_use.lock().expect("no panic").insert(pfn, size);
        }
    }
}

impl Relocate for Sharing<'_> {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        self.let_go();
        let mut in_use = self.in_use.lock().expect("no panic");
        if in_use.get(&pfn.0) != Some(&order) {
            return false;
        }
        self.pinned = in_use.remove_entry(&pfn.0);
        true
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        assert_eq!(self.pinned.take(), Some((from.0, order)));
        self.in_use.lock().expect("no panic").insert(to.0, order);
        true
    }
}

/// Allocates and frees on a CPU until a flag stops it. The first pageblock is out of service meanwhile.
fn allocate(memory: &Memory<'_, Host>, cpu: u16, in_use: &Mutex<BTreeMap<u64, Order>>, gone: &AtomicBool) {
    let mut random = Random::new(u64::from(cpu));
    while !gone.load(Ordering::Relaxed) {
        let size = order([0, 0, 0, 1, 2, 4][random.below(6) as usize]);
        let ask = Request { cpu, order: size, ..request(MOVABLE, 0) };
        let some = in_use.lock().expect("no panic").len() as u64;
        if random.below(180) > some {
            let Ok(pfn) = memory.alloc(ask, NoReclaim) else { continue };
            assert_ne!(pfn.0 & !15, 0x400, "{pfn} is out of service");
            let before = in_use.lock().expect("no panic").insert(pfn.0, size);
            assert_eq!(before, None, "{pfn} was given twice");
            continue;
        }
        let from = random.below(16 * BLOCKS) + 0x400;
        let mut map = in_use.lock().expect("no panic");
        let found = map.range(from..).next().map(|(&pfn, _)| pfn);
        let found = found.and_then(|pfn| map.remove_entry(&pfn));
        drop(map);
        if let Some((pfn, size)) = found {
            memory.free(cpu, Pfn(pfn), size).expect("in use");
        }
    }
}

/// The number of ranges of each kind that ends the test of a machine.
const ENOUGH: u32 = 20;

#[test]
fn ranges_come_and_go_while_threads_allocate() {
    for era in Era::ALL {
        let percpu = common::fixed_lists(4, 20);
        let zones = [ZoneConfig { percpu, ..plain_zone(0x400, 16 * BLOCKS) }];
        let config = MemoryConfig { cpus: 3, ..geometry(&zones, era.switches(), 4, 6) };
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        let zone = &memory.zones()[0];
        let in_use = Mutex::new(BTreeMap::new());
        // One pageblock is out of service while the workers run.
        memory.offline_range(Pfn(0x400), 16, 2, &mut ()).expect("free");
        let gone = AtomicBool::new(false);
        let done = thread::scope(|scope| {
            let workers: Vec<_> = (0..2)
                .map(|cpu| {
                    let (memory, in_use, gone) = (&memory, &in_use, &gone);
                    scope.spawn(move || allocate(memory, cpu, in_use, gone))
                })
                .collect();
            let mut random = Random::new(77);
            let mut sharing = Sharing { in_use: &in_use, pinned: None };
            let mut done = [0; 3];
            for _ in 0..300 {
                if done.iter().all(|&times| times >= ENOUGH) {
                    break;
                }
                let first = 1 + random.below(BLOCKS - 4);
                let start = Pfn(0x400 + 16 * first);
                let pages = 16 * (1 + random.below(3));
                if memory.offline_range(start, pages, 2, &mut sharing).is_ok() {
                    done[0] += 1;
                    thread::yield_now();
                    memory.online_range(start, pages).expect("out of service");
                }
                sharing.let_go();
                let start = start.add(random.below(16));
                let pages = 1 + random.below(20);
                let kind = Migratetype::Movable;
                if memory.alloc_contig_range(start, pages, kind, 2, &mut sharing).is_ok() {
                    done[1] += 1;
                    memory.free_contig_range(2, start, pages).expect("a contiguous range");
                }
                sharing.let_go();
                if memory.alloc_contig_range(start, pages, kind, 0, NoReclaim).is_ok() {
                    done[2] += 1;
                    memory.free_contig_range(2, start, pages).expect("a contiguous range");
                }
            }
            gone.store(true, Ordering::Relaxed);
            for worker in workers {
                worker.join().expect("no panic");
            }
            done
        });
        assert!(done.iter().all(|&times| times > 0), "{}: {done:?}", era.name());
        memory.online_range(Pfn(0x400), 16).expect("out of service");
        for (pfn, size) in in_use.into_inner().expect("no panic") {
            memory.free(0, Pfn(pfn), size).expect("in use");
        }
        memory.drain_all();
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
        assert_eq!((zone.free_pages(), zone.managed_pages()), (16 * BLOCKS, 16 * BLOCKS), "{}", era.name());
    }
}

#[test]
fn present_pages_count_frames_in_service() {
    let zones = [plain_zone(0x400, 64)];
    let config = config(&zones, Era::Freehold.switches());
    let mut bytes = metadata(&config);
    let memory = Memory::<Host>::new(&config, &mut bytes).expect("valid");
    let zone = &memory.zones()[0];
    zone.add_free(Pfn(0x400), 8).expect("absent");
    zone.add_reserved(Pfn(0x408), 4).expect("absent");
    zone.add_allocated(Pfn(0x40c), order(2), Migratetype::Movable).expect("absent");
    zone.add_free_block(Pfn(0x410), order(4), Migratetype::Movable).expect("absent");
    zone.add_percpu_block(0, Pfn(0x420), Order::ZERO, Migratetype::Movable, Migratetype::Movable)
        .expect("absent");
    assert!(zone.add_free(Pfn(0x41f), 8).is_err());
    assert!(zone.add_allocated(Pfn(0x421), order(1), Migratetype::Movable).is_err());
    assert_eq!((zone.spanned_pages(), zone.present_pages(), zone.managed_pages()), (64, 33, 64));
}
