//! Allocation of blocks by their addresses.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::{self, Host, Random, all_free, geometry, listed, metadata, order, plain_zone, request};
use freehold::{
    AllocAtError, Era, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order, Pfn, Switches,
    ZoneConfig,
};

const MOVABLE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;

/// The first frame of the test's zone and, in `PAGES`, its pages: four pageblocks of 16, and three pages behind them.
const START: u64 = 0x400;
const PAGES: u64 = 67;

fn machine(zones: &[ZoneConfig], switches: Switches) -> MemoryConfig<'_> {
    geometry(zones, switches, 4, 5)
}

/// Runs with pageblocks of 16 pages and blocks of up to 32, all free, for every era.
fn each_era(act: impl Fn(&Memory<'_, Host>, Era)) {
    for era in Era::ALL {
        let zones = [ZoneConfig { percpu: common::LONG_LISTS, ..plain_zone(START, PAGES) }];
        let config = machine(&zones, era.switches());
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        act(&memory, era);
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    }
}

/// Returns every free list, by order and type.
fn lists(memory: &Memory<'_, Host>) -> Vec<Vec<u64>> {
    let zone = &memory.zones()[0];
    let kinds = |size| Migratetype::ALL.map(|kind| listed(zone, size, kind));
    (0..=5).flat_map(kinds).collect()
}

#[test]
fn a_block_inside_a_larger_one_is_taken_and_the_rest_stays_free() {
    each_era(|memory, era| {
        let zone = &memory.zones()[0];
        memory.alloc_at(Pfn(0x40d), Order::ZERO).unwrap_or_else(|error| panic!("{}: {error}", era.name()));
        assert_eq!(zone.free_pages(), PAGES - 1, "{}", era.name());
        assert_eq!(memory.allocated_block(Pfn(0x40d)), Some((Order::ZERO, Migratetype::Unmovable)));
        for (size, first) in [(0, 0x40c), (1, 0x40e), (2, 0x408), (3, 0x400), (4, 0x410)] {
            assert_eq!(listed(zone, size, Migratetype::Movable)[0], first, "{}: order {size}", era.name());
        }
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
        memory.alloc_at(Pfn(0x420), order(5)).expect("a whole block");
        memory.alloc_at(Pfn(0x442), Order::ZERO).expect("the zone's last page");
        assert_eq!(zone.free_pages(), PAGES - 34, "{}", era.name());
        for (pfn, size) in [(0x40d, 0), (0x420, 5), (0x442, 0)] {
            memory.free(0, Pfn(pfn), order(size)).expect("owned");
        }
        memory.drain_all();
        assert_eq!(listed(zone, 5, Migratetype::Movable).len(), 2, "{}: all has merged", era.name());
    });
}

#[test]
fn a_page_on_a_cpus_list_is_drained_and_taken() {
    each_era(|memory, era| {
        let zone = &memory.zones()[0];
        let pfn = memory.alloc(request(MOVABLE, 0), NoReclaim).expect("free pages");
        memory.free(0, pfn, Order::ZERO).expect("allocated");
        assert!(zone.percpu_pages(0) > 0, "{}", era.name());
        memory.alloc_at(pfn, Order::ZERO).unwrap_or_else(|error| panic!("{}: {error}", era.name()));
        assert_eq!(zone.percpu_pages(0), 0, "{}", era.name());
        assert_eq!(zone.free_pages(), PAGES - 1, "{}", era.name());
        // No other request gets the page.
        let mut taken = BTreeSet::from([pfn]);
        while let Ok(other) = memory.alloc(request(MOVABLE | GfpFlags::MEMALLOC, 0), NoReclaim) {
            assert!(taken.insert(other), "{}: {other} twice", era.name());
        }
        assert_eq!(taken.len() as u64, PAGES, "{}", era.name());
    });
}

#[test]
fn refusal_names_the_reason_and_changes_nothing() {
    each_era(|memory, era| {
        let zone = &memory.zones()[0];
        zone.set_block_type(Pfn(0x440), Migratetype::Cma).expect_err("it has free pages");
        memory.alloc_at(Pfn(0x404), order(2)).expect("free");
        zone.isolate_block(Pfn(0x410)).expect("free");
        memory.drain_all();
        let before = (lists(memory), zone.free_pages());
        let in_use = AllocAtError::InUse { at: Pfn(0x404) };
        for (pfn, size, why) in [
            (0x405, 0, in_use),
            (0x404, 2, in_use),
            (0x400, 3, in_use),
            (0x400, 5, AllocAtError::Isolated),
            (0x41f, 0, AllocAtError::Isolated),
            (0x401, 1, AllocAtError::Unaligned),
            (0x400, 6, AllocAtError::OrderTooLarge),
            (0x3ff, 0, AllocAtError::OutsideZones),
            (0x443, 0, AllocAtError::OutsideZones),
            (0x440, 2, AllocAtError::OutsideZones),
            (u64::MAX, 0, AllocAtError::OutsideZones),
        ] {
            assert_eq!(memory.alloc_at(Pfn(pfn), order(size)), Err(why), "{}: {pfn:#x}", era.name());
        }
        assert_eq!((lists(memory), zone.free_pages()), before, "{}", era.name());
    });
}

#[test]
fn reserved_frames_holes_and_cma_are_refused() {
    for era in Era::ALL {
        let zones = [plain_zone(START, 64)];
        let config = machine(&zones, era.switches());
        let mut bytes = metadata(&config);
        let memory = Memory::<Host>::new(&config, &mut bytes).expect("a valid configuration");
        let zone = &memory.zones()[0];
        zone.set_block_type(Pfn(0x410), Migratetype::Cma).expect("empty");
        zone.add_reserved(Pfn(0x401), 1).expect("absent");
        zone.add_free(Pfn(0x402), 30).expect("absent");
        let why = |pfn, size| memory.alloc_at(Pfn(pfn), order(size)).expect_err("not free");
        assert_eq!(why(0x401, 0), AllocAtError::InUse { at: Pfn(0x401) }, "{}", era.name());
        assert_eq!(why(0x400, 2), AllocAtError::OutsideZones, "{}", era.name());
        assert_eq!(why(0x420, 0), AllocAtError::OutsideZones, "{}", era.name());
        assert_eq!(why(0x412, 1), AllocAtError::Cma, "{}", era.name());
        assert_eq!(memory.alloc_at(Pfn(0x402), order(1)), Ok(()), "{}", era.name());
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    }
}

/// Two free pageblocks whose types do not merge are two blocks on two lists.
#[test]
fn block_across_two_lists_is_allocated() {
    for era in Era::ALL {
        let zones = [plain_zone(START, 64)];
        let config = machine(&zones, era.switches());
        let mut bytes = metadata(&config);
        let memory = Memory::<Host>::new(&config, &mut bytes).expect("a valid configuration");
        let zone = &memory.zones()[0];
        zone.set_block_type(Pfn(0x410), Migratetype::HighAtomic).expect("empty");
        zone.add_free(Pfn(START), 64).expect("absent");
        assert_eq!(listed(zone, 4, Migratetype::HighAtomic), [0x410], "{}", era.name());
        memory.alloc_at(Pfn(START), order(5)).unwrap_or_else(|error| panic!("{}: {error}", era.name()));
        assert_eq!((zone.free_pages(), zone.free_highatomic_pages()), (32, 0), "{}", era.name());
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
        memory.free(0, Pfn(START), order(5)).expect("owned");
        assert_eq!(zone.free_pages(), 64, "{}", era.name());
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    }
}

#[test]
fn pageblock_is_isolated_only_after_set_movable() {
    each_era(|memory, era| {
        let zone = &memory.zones()[0];
        memory.alloc_at(Pfn(0x410), Order::ZERO).expect("free");
        assert!(zone.isolate_block(Pfn(0x410)).is_err(), "{}", era.name());
        zone.set_movable(Pfn(0x410), true).expect("owned");
        zone.isolate_block(Pfn(0x410)).expect("movable");
    });
}

/// Several callers request the same block at the same time. One gets it, while others allocate and free around it.
#[test]
fn one_of_many_callers_gets_the_block() {
    for era in Era::ALL {
        let zones = [ZoneConfig { percpu: common::fixed_lists(4, 16), ..plain_zone(START, 64) }];
        let config = machine(&zones, era.switches());
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        let winners = AtomicUsize::new(0);
        let rounds = 300;
        for round in 0..rounds {
            let target = Pfn(START + round % 32 * 2);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        // Another thread may have a page of the block for a moment, so the request is repeated.
                        while let Err(error) = memory.alloc_at(target, order(1)) {
                            if winners.load(Ordering::Relaxed) > 0 {
                                return;
                            }
                            assert!(
                                matches!(error, AllocAtError::Busy | AllocAtError::InUse { .. }),
                                "{}: {error}",
                                era.name()
                            );
                        }
                        winners.fetch_add(1, Ordering::Relaxed);
                    });
                }
                scope.spawn(|| {
                    let mut random = Random::new(round);
                    for _ in 0..20 {
                        let size = order(random.below(3) as u8);
                        if let Ok(pfn) = memory.alloc(request(MOVABLE, size.get()), NoReclaim) {
                            memory.free(0, pfn, size).expect("owned");
                        }
                    }
                });
            });
            assert_eq!(winners.swap(0, Ordering::Relaxed), 1, "{} round {round}", era.name());
            memory.free(1, target, order(1)).expect("the winner's");
        }
        memory.drain_all();
        assert_eq!(memory.zones()[0].free_pages(), 64, "{}", era.name());
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    }
}
