//! Exclusive use of a CPU's lists gives the same results as calls with locks.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::*;
use crate::embedder::Owner;
use freehold::{
    AllocError, Era, FreeError, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order, Pfn, Request,
    ZoneType,
};

/// Every request is made on two machines: with locks, and through an owner.
#[test]
fn exclusive_owner_matches_calls_with_locks() {
    for era in Era::ALL {
        let zones = [zone(ZoneType::Normal, 0x400, 0x4000)];
        let config = config(&zones, era.switches());
        let (mut one, mut other) = (metadata(&config), metadata(&config));
        let (shared, owned) = (all_free(&config, &mut one), all_free(&config, &mut other));
        let mut owner = owned.exclusive(1).expect("two CPUs");
        let mut random = Random::new(7);
        let mut in_use: Vec<(Pfn, Order)> = Vec::new();
        for step in 0..40_000 {
            let fill = if step / 5000 % 2 == 0 { 6 } else { 3 };
            if in_use.is_empty() || random.below(10) < fill {
                let gfp = [GfpFlags::KERNEL, GfpFlags::HIGHUSER_MOVABLE, GfpFlags::GFP_ATOMIC]
                    [random.below(3) as usize];
                let size = [0, 0, 0, 0, 1, 3, 4, 9][random.below(8) as usize];
                let request = Request { cpu: 1, node: 0, order: order(size), gfp };
                let answer = shared.alloc(request, NoReclaim);
                assert_eq!(owner.alloc(request), answer, "{} step {step}", era.name());
                in_use.extend(answer.ok().map(|pfn| (pfn, order(size))));
            } else {
                let (pfn, size) = in_use.swap_remove(random.below(in_use.len() as u64) as usize);
                assert_eq!(owner.free(pfn, size), shared.free(1, pfn, size), "{} step {step}", era.name());
                assert_eq!(owner.free(pfn, size), Err(FreeError::AlreadyFree), "{} step {step}", era.name());
            }
            if step % 4000 == 0 {
                owner.pause();
            }
        }
        drop(owner);
        for memory in [&shared, &owned] {
            memory.check().expect("every invariant holds");
        }
        assert_eq!(shared.zones()[0].list_lengths(), owned.zones()[0].list_lengths(), "{}", era.name());
        assert_eq!(shared.zones()[0].percpu_state(1), owned.zones()[0].percpu_state(1), "{}", era.name());
        assert_eq!(shared.request_stats().allocs, owned.request_stats().allocs, "{}", era.name());
    }
}

#[test]
fn free_bulk_matches_single_frees() {
    let zones = [zone(ZoneType::Normal, 0x400, 0x4000)];
    let config = config(&zones, Era::Linux7_3.switches());
    let (mut one, mut other) = (metadata(&config), metadata(&config));
    let (single, bulk) = (all_free(&config, &mut one), all_free(&config, &mut other));
    let request = Request { cpu: 0, node: 0, order: Order::ZERO, gfp: GfpFlags::KERNEL };
    let mut places = [None; 300];
    assert_eq!(bulk.alloc_bulk(request, &mut places), 300);
    let mut same = [None; 300];
    assert_eq!(single.alloc_bulk(request, &mut same), 300);
    assert_eq!(places, same);
    let pages: Vec<Pfn> = places.into_iter().flatten().collect();
    for &pfn in &pages {
        single.free(0, pfn, Order::ZERO).expect("allocated");
    }
    assert_eq!(bulk.free_bulk(0, &pages), Ok(()));
    assert_eq!(single.zones()[0].list_lengths(), bulk.zones()[0].list_lengths());
    assert_eq!(single.zones()[0].percpu_state(0), bulk.zones()[0].percpu_state(0));
    assert_eq!(bulk.free_bulk(0, &pages[..3]), Err((0, FreeError::AlreadyFree)));
    assert_eq!(bulk.free_bulk(9, &pages[..3]), Err((0, FreeError::NoSuchCpu)));
    bulk.check().expect("every invariant holds");
}

/// Returns every block of every list, in order.
fn lists(memory: &Memory<'_, Host>) -> Vec<Pfn> {
    let zone = &memory.zones()[0];
    let kinds = || {
        Order::ZERO.up_to(Order::MAX_PAGE_ORDER).flat_map(|order| Migratetype::ALL.map(|kind| (order, kind)))
    };
    let free = kinds().flat_map(|(order, kind)| zone.free_list(order, kind).collect::<Vec<_>>());
    free.chain(kinds().flat_map(|(order, kind)| zone.percpu_list(1, order, kind).collect::<Vec<_>>()))
        .collect()
}

/// Batches of one order give the same results as single calls, including refusals.
#[test]
fn batches_match_single_calls() {
    for era in Era::ALL {
        let zones = [zone(ZoneType::Normal, 0x400, 0x4000)];
        let config = config(&zones, era.switches());
        let (mut one, mut other) = (metadata(&config), metadata(&config));
        let (single, many) = (all_free(&config, &mut one), all_free(&config, &mut other));
        let (mut one, mut other) = (single.exclusive(1).expect("a CPU"), many.exclusive(1).expect("a CPU"));
        let mut random = Random::new(11);
        let mut in_use: Vec<(Pfn, Order)> = Vec::new();
        for step in 0..1500 {
            let seed = format!("{} seed 11 step {step}", era.name());
            if random.below(10) < if step / 300 % 2 == 0 { 6 } else { 3 } {
                let gfp = [GfpFlags::KERNEL, GfpFlags::HIGHUSER_MOVABLE, GfpFlags::GFP_ATOMIC];
                let size = order([0, 1, 3, 4, 4, 5, 9, 10][random.below(8) as usize]);
                let gfp = gfp[random.below(3) as usize];
                let request = Request { cpu: 1, node: 0, order: size, gfp };
                let mut places = vec![None; random.below(200 >> (size.get() / 2)) as usize + 1];
                let filled = other.alloc_batch(request, &mut places);
                let answers: Vec<_> = (0..filled).map(|_| one.alloc(request).ok()).collect();
                assert_eq!(places[..filled], answers, "{seed}");
                if filled < places.len() {
                    assert_eq!(one.alloc(request), Err(AllocError::NoMemory), "{seed}");
                }
                in_use.extend(places.into_iter().flatten().map(|pfn| (pfn, size)));
            } else if !in_use.is_empty() {
                if random.below(2) == 0 {
                    in_use.sort_unstable();
                }
                let size = in_use[random.below(in_use.len() as u64) as usize].1;
                let most = random.below(150) as usize + 1;
                let mut chosen: Vec<Pfn> = Vec::new();
                in_use.retain(|&(pfn, own)| {
                    let goes = own == size && chosen.len() < most && random.below(4) > 0;
                    chosen.extend(goes.then_some(pfn));
                    !goes
                });
                assert_eq!(other.free_batch(size, &chosen), Ok(()), "{seed}");
                for &pfn in &chosen {
                    assert_eq!(one.free(pfn, size), Ok(()), "{seed}");
                }
                if let Some(&again) = chosen.first() {
                    assert_eq!(other.free_batch(size, &[again]), Err((0, FreeError::AlreadyFree)), "{seed}");
                }
            }
            if step % 100 == 0 {
                drop((one, other));
                assert_eq!(lists(&single), lists(&many), "{seed}");
                assert_eq!(single.zones()[0].percpu_state(1), many.zones()[0].percpu_state(1), "{seed}");
                many.check().expect("every invariant holds");
                (one, other) = (single.exclusive(1).expect("a CPU"), many.exclusive(1).expect("a CPU"));
            }
        }
        drop((one, other));
        assert_eq!(single.request_stats().allocs, many.request_stats().allocs, "{}", era.name());
    }
}

#[test]
fn batch_stops_at_the_first_bad_block() {
    let zones = [zone(ZoneType::Normal, 0x400, 0x4000)];
    let config = config(&zones, Era::Freehold.switches());
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let mut owner = memory.exclusive(0).expect("a CPU");
    let request = Request { cpu: 0, node: 0, order: order(5), gfp: GfpFlags::KERNEL };
    let mut places = [None; 9];
    assert_eq!(owner.alloc_batch(request, &mut places), 9);
    let mut blocks: Vec<Pfn> = places.into_iter().flatten().collect();
    blocks.insert(4, Pfn(1));
    assert_eq!(owner.free_batch(order(5), &blocks), Err((4, FreeError::OutsideZones)));
    blocks.drain(..5);
    assert_eq!(owner.free_batch(order(4), &blocks), Err((0, FreeError::WrongOrder { allocated: order(5) })));
    blocks.push(blocks[0]);
    blocks.extend(owner.alloc(request));
    assert_eq!(owner.free_batch(order(5), &blocks), Err((5, FreeError::AlreadyFree)));
    assert_eq!(owner.free_batch(order(5), &blocks[6..]), Ok(()));
    // The block behind a run is already free.
    let mut three = [None; 3];
    assert_eq!(owner.alloc_batch(request, &mut three), 3);
    let three: Vec<Pfn> = three.into_iter().flatten().collect();
    assert_eq!(owner.free(three[2], order(5)), Ok(()));
    assert_eq!(owner.free_batch(order(5), &three), Err((2, FreeError::AlreadyFree)));
    drop(owner);
    memory.check().expect("every invariant holds");
}

/// An owner may sleep while it has the lists. Requests that cannot wait do not use them.
#[test]
fn a_request_that_cannot_wait_does_not_wait_for_an_owner() {
    for era in Era::ALL {
        let zones = [zone(ZoneType::Normal, 0x400, 0x4000)];
        let config = config(&zones, era.switches());
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        let mut owner = memory.exclusive(0).expect("two CPUs");
        let kept = Request { cpu: 0, node: 0, order: Order::ZERO, gfp: GfpFlags::GFP_ATOMIC };
        let pfn = owner.alloc(kept).expect("free pages");
        owner.free(pfn, Order::ZERO).expect("allocated");
        let mut in_use = Vec::new();
        for cpu in [0, 1] {
            while let Ok(pfn) = memory.alloc(Request { cpu, gfp: GfpFlags::NOWAIT, ..kept }, NoReclaim) {
                in_use.push((cpu, pfn));
            }
        }
        for (cpu, pfn) in in_use {
            memory.free(cpu, pfn, Order::ZERO).expect("in use");
        }
        drop(owner);
        assert!(memory.zones()[0].percpu_pages(0) > 0, "{}: the owner kept its pages", era.name());
        memory.drain_all();
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    }
}

/// A request leaves out the lists of each CPU that has an owner, whatever other owners end: also those of a CPU whose
/// number is 1024 more.
#[test]
fn the_end_of_one_owner_says_nothing_of_another() {
    let zones = [zone(ZoneType::Normal, 0x400, 0x400)];
    let config = MemoryConfig { cpus: 1025, ..config(&zones, Era::Linux7_3.switches()) };
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let last = memory.exclusive(1024).expect("1025 CPUs");
    drop(memory.exclusive(0).expect("1025 CPUs"));
    let request = Request { cpu: 1, node: 0, order: Order::ZERO, gfp: GfpFlags::KERNEL };
    while memory.alloc(Request { gfp: GfpFlags::NOWAIT | GfpFlags::MEMALLOC, ..request }, NoReclaim).is_ok() {
    }
    let (asked, answered) = mpsc::channel();
    thread::scope(|scope| {
        let memory = &memory;
        scope.spawn(move || asked.send(memory.alloc(request, NoReclaim)));
        let answer = answered.recv_timeout(Duration::from_secs(60));
        // Lets a thread end that waits for the owner.
        drop(last);
        assert_eq!(answer, Ok(Err(AllocError::Busy)));
    });
    assert_eq!(memory.alloc(request, NoReclaim), Err(AllocError::NoMemory), "no owner is left");
}

/// A request that may reclaim and finds no memory does not wait for an owner either, not even for one on its own CPU and
/// thread. It says so, and gets the owner's pages once they can be drained.
#[test]
fn a_request_that_may_wait_is_busy_while_a_cpu_has_an_owner() {
    for era in Era::ALL {
        let zones = [zone(ZoneType::Normal, 0x400, 0x4000)];
        let config = config(&zones, era.switches());
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        let mut owner = memory.exclusive(0).expect("two CPUs");
        let kept = Request { cpu: 0, node: 0, order: Order::ZERO, gfp: GfpFlags::KERNEL };
        let pfn = owner.alloc(kept).expect("free pages");
        owner.free(pfn, Order::ZERO).expect("allocated");
        let insists = GfpFlags::NOWAIT | GfpFlags::MEMALLOC;
        while memory.alloc(Request { cpu: 1, gfp: insists, ..kept }, NoReclaim).is_ok() {}
        let (asked, answered) = mpsc::channel();
        thread::scope(|scope| {
            let memory = &memory;
            scope.spawn(move || {
                // The owner's CPU number, as its own thread would use it.
                for (cpu, size) in [(0, 0), (1, 0), (0, 1), (1, 3), (0, 9)] {
                    let request = Request { cpu, order: order(size), ..kept };
                    asked.send(memory.alloc(request, NoReclaim)).expect("the test waits");
                    asked.send(memory.alloc(request, &mut Owner::default())).expect("the test waits");
                }
            });
            for number in 0..10 {
                let answer = answered.recv_timeout(Duration::from_secs(60));
                if answer != Ok(Err(AllocError::Busy)) {
                    // Lets a thread end that waits for the owner.
                    owner.pause();
                    drop(owner);
                    panic!("{}: request {number}: {answer:?}", era.name());
                }
            }
            drop(owner);
        });
        let request = Request { gfp: GfpFlags::KERNEL | GfpFlags::MEMALLOC, ..kept };
        assert!(memory.alloc(request, NoReclaim).is_ok(), "{}: the owner's pages", era.name());
        memory.drain_all();
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    }
}

/// A thread with two owners whose request through one of them has to drain.
#[test]
fn a_request_through_one_of_two_owners_is_busy() {
    let zones = [zone(ZoneType::Normal, 0x400, 0x4000)];
    let config = config(&zones, Era::Freehold.switches());
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let mut one = memory.exclusive(0).expect("two CPUs");
    let other = memory.exclusive(1).expect("two CPUs");
    let request = Request { cpu: 0, node: 0, order: order(0), gfp: GfpFlags::KERNEL };
    while one.alloc(request).is_ok() {}
    assert_eq!(one.alloc(request), Err(AllocError::Busy));
    drop(other);
    assert_eq!(one.alloc(request), Err(AllocError::NoMemory));
}
