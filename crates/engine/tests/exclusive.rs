//! A CPU's lists in one owner's hands give the same answers as with locks.

mod common;

use common::*;
use freehold::{Era, FreeError, GfpFlags, Order, Pfn, Request, ZoneType};

/// A machine on which every request is made twice: with locks, and by an owner.
#[test]
fn an_owner_gets_the_answers_that_everybody_gets() {
    for era in Era::ALL {
        let zones = [zone(ZoneType::Normal, 0x400, 0x4000)];
        let config = config(&zones, era.switches());
        let (mut one, mut other) = (metadata(&config), metadata(&config));
        let (shared, owned) = (all_free(&config, &mut one), all_free(&config, &mut other));
        let mut owner = owned.exclusive(1).expect("two CPUs");
        let mut random = Random::new(7);
        let mut held: Vec<(Pfn, Order)> = Vec::new();
        for step in 0..40_000 {
            let fill = if step / 5000 % 2 == 0 { 6 } else { 3 };
            if held.is_empty() || random.below(10) < fill {
                let gfp = [GfpFlags::KERNEL, GfpFlags::HIGHUSER_MOVABLE, GfpFlags::GFP_ATOMIC]
                    [random.below(3) as usize];
                let size = [0, 0, 0, 0, 1, 3, 4, 9][random.below(8) as usize];
                let request = Request { cpu: 1, node: 0, order: order(size), gfp };
                let answer = shared.alloc(request);
                assert_eq!(owner.alloc(request), answer, "{} step {step}", era.name());
                held.extend(answer.ok().map(|pfn| (pfn, order(size))));
            } else {
                let (pfn, size) = held.swap_remove(random.below(held.len() as u64) as usize);
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
fn many_pages_go_back_at_once() {
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
