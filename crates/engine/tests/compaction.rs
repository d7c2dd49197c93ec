//! Requests that reclaim and compact through an embedder. The embedder can move some blocks and not others. Every block
//! keeps its contents, and every invariant holds.

use crate::common::{
    Host, Random, all_free, all_switch_sets, geometry, metadata, order, plain_zone, request,
};
use crate::embedder::Owner;
use freehold::{
    AllocError, Era, GfpFlags, Memory, NoReclaim, Order, PerCpuSettings, Pfn, Switches, Tunables, Watermarks,
    ZoneConfig, ZoneType,
};

const MOVABLE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;
const UNMOVABLE: GfpFlags = GfpFlags::KERNEL;

fn with_memory(
    switches: Switches,
    zones: &[ZoneConfig],
    (block, max): (u8, u8),
    act: impl FnOnce(&Memory<'_, Host>),
) {
    let config =
        freehold::MemoryConfig { watermark_boost_factor: Some(0), ..geometry(zones, switches, block, max) };
    let mut bytes = metadata(&config);
    act(&all_free(&config, &mut bytes));
}

fn zone_with_marks(pages: u64, marks: u64) -> ZoneConfig {
    let watermarks = Watermarks { min: marks, low: marks + marks / 4, high: marks + marks / 2 };
    let percpu = PerCpuSettings { batch: 4, high_min: 8, high_max: 24, flush_needs_batch: false };
    ZoneConfig { watermarks, percpu, ..plain_zone(0x404, pages) }
}

/// Fills memory with single movable pages, and frees every page whose number is a multiple of `every`.
fn scatter(memory: &Memory<'_, Host>, owner: &mut Owner, every: u64) {
    let any_mark = MOVABLE.difference(GfpFlags::RECLAIM) | GfpFlags::MEMALLOC;
    while let Ok(pfn) = memory.alloc(request(any_mark, 0), NoReclaim) {
        owner.hold(pfn, Order::ZERO, true);
    }
    let gone: Vec<u64> = owner.in_use.keys().copied().filter(|pfn| pfn % every == 0).collect();
    for pfn in gone {
        owner.free(memory, pfn);
    }
    memory.drain_all();
}

#[test]
fn scattered_movable_pages_make_room_for_large_blocks() {
    for (name, switches) in all_switch_sets() {
        with_memory(switches, &[zone_with_marks(2000, 20)], (5, 6), |memory| {
            let mut owner = Owner::default();
            scatter(memory, &mut owner, 4);
            assert!(memory.alloc(request(MOVABLE, 5), NoReclaim).is_err(), "{name}: nothing has merged yet");
            for number in 0..5 {
                let gfp = MOVABLE | GfpFlags::COMP;
                let block = memory.alloc(request(gfp, 5), &mut owner);
                memory.check().unwrap_or_else(|broken| panic!("{name}, block {number}: {broken}"));
                owner.hold(block.unwrap_or_else(|_| panic!("{name}, block {number}")), order(5), true);
                owner.agrees_with(memory, &name);
            }
            let events = memory.vm_events();
            assert!(events.compact_success >= 1 && events.compact_stall <= 6, "{name}: {events:?}");
            assert!(events.pgmigrate_success >= 24 * events.compact_success, "{name}: {events:?}");
            assert_eq!(events.compact_stall, events.compact_success + events.compact_fail, "{name}");
        });
    }
}

#[test]
fn gfp_flags_limit_reclaim_and_compaction() {
    let without = |flags: GfpFlags| (MOVABLE | GfpFlags::COMP).difference(flags);
    let switches = Era::Linux7_3.switches();
    for (gfp, compacts) in [
        (MOVABLE, true),
        (GfpFlags::TRANSHUGE, true),
        (GfpFlags::TRANSHUGE | GfpFlags::NORETRY | GfpFlags::THISNODE, true),
        (GfpFlags::TRANSHUGE_LIGHT, false),
        (GfpFlags::TRANSHUGE_LIGHT | GfpFlags::KSWAPD_RECLAIM, false),
        (without(GfpFlags::DIRECT_RECLAIM), false),
        (without(GfpFlags::IO | GfpFlags::FS), false),
    ] {
        with_memory(switches, &[zone_with_marks(2000, 20)], (5, 6), |memory| {
            let mut owner = Owner::default();
            scatter(memory, &mut owner, 4);
            let answer = memory.alloc(request(gfp, 5), &mut owner);
            assert_eq!(answer.is_ok(), compacts, "{gfp:?}: {:?}", memory.vm_events());
            assert_eq!(memory.vm_events().compact_stall > 0, compacts, "{gfp:?}");
            if !gfp.contains(GfpFlags::DIRECT_RECLAIM) {
                assert_eq!(memory.vm_events().allocstall, 0, "{gfp:?}");
            }
        });
    }
}

#[test]
fn immovable_pages_defer_the_next_run() {
    with_memory(Era::Linux6_12.switches(), &[zone_with_marks(2000, 20)], (5, 6), |memory| {
        let mut owner = Owner::default();
        scatter(memory, &mut owner, 4);
        owner.in_use.values_mut().for_each(|in_use| in_use.movable = false);
        let mut scanned = Vec::new();
        for _ in 0..40 {
            assert_eq!(memory.alloc(request(MOVABLE, 5), &mut owner), Err(AllocError::NoMemory));
            scanned.push(memory.vm_events().compact_migrate_scanned);
        }
        let idle = scanned.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(idle > 20, "deferred at {scanned:?}");
        assert_eq!(owner.moves, 0);
        owner.agrees_with(memory, "nothing moved");
    });
}

/// Makes random calls. Requests that fail without an embedder are repeated with one.
fn play(memory: &Memory<'_, Host>, owner: &mut Owner, seed: u64, context: &str) {
    let mut random = Random::new(seed);
    for step in 0..500 {
        let size = if random.below(3) == 0 { random.below(7) as u8 } else { 0 };
        let movable = random.below(4) > 0;
        if random.below(5) < 3 {
            let gfp = if movable { MOVABLE } else { UNMOVABLE };
            if let Ok(pfn) = memory.alloc(request(gfp, size), &mut *owner) {
                owner.hold(pfn, order(size), movable);
            }
        } else if let Some(&pfn) =
            owner.in_use.keys().nth(random.below(owner.in_use.len().max(1) as u64) as usize)
        {
            owner.free(memory, pfn);
        }
        match random.below(40) {
            0 => _ = memory.kswapd(0, 0, owner),
            1 => _ = memory.kcompactd(0, 1, owner),
            2 => memory.compact_node(0, 0, owner),
            3 if memory.should_compact_proactively(0) => _ = memory.compact_proactively(0, 0, owner),
            4 => memory.tidy_pageblocks(0, 0, 1 + random.below(64), owner),
            _ => {}
        }
        memory.check().unwrap_or_else(|broken| panic!("{context}, seed {seed}, step {step}: {broken}"));
    }
    owner.agrees_with(memory, context);
}

#[test]
fn random_work_keeps_every_invariant() {
    for (number, (name, switches)) in all_switch_sets().into_iter().enumerate() {
        for seed in 0..3 {
            let zones =
                [zone_with_marks(700, 12), ZoneConfig { start: Pfn(0x1007), ..zone_with_marks(411, 8) }];
            let zones = [ZoneConfig { kind: ZoneType::Dma32, ..zones[0] }, zones[1]];
            with_memory(switches, &zones, (4, 6), |memory| {
                let defrag_mode = seed == 2;
                memory.set_tunables(Tunables { defrag_mode, extfrag_threshold: 300, ..Tunables::LINUX });
                let mut owner = Owner { reclaims: seed != 1, ..Owner::default() };
                play(memory, &mut owner, seed + 100 * number as u64, &name);
            });
        }
    }
}

#[test]
fn any_single_move_may_fail() {
    for era in Era::ALL {
        for nth in 1..60 {
            with_memory(era.switches(), &[zone_with_marks(1000, 10)], (5, 6), |memory| {
                let mut owner = Owner { refuses: Some(nth), ..Owner::default() };
                scatter(memory, &mut owner, 3);
                let context = format!("{}, move {nth} refused", era.name());
                for size in [3, 4, 5, 6] {
                    if let Ok(pfn) = memory.alloc(request(MOVABLE, size), &mut owner) {
                        owner.hold(pfn, order(size), true);
                    }
                    memory.check().unwrap_or_else(|broken| panic!("{context}: {broken}"));
                }
                assert_eq!(memory.vm_events().pgmigrate_fail > 0, owner.moves >= nth, "{context}");
                owner.agrees_with(memory, &context);
            });
        }
    }
}

#[test]
fn kswapd_reclaims_to_the_high_mark() {
    for era in Era::ALL {
        with_memory(era.switches(), &[zone_with_marks(2000, 100)], (5, 6), |memory| {
            let zone = &memory.zones()[0];
            let mut owner = Owner { reclaims: true, ..Owner::default() };
            while !memory.is_kswapd_wanted(0) {
                let pfn = memory.alloc(request(MOVABLE, 0), NoReclaim).expect("above the min mark");
                owner.hold(pfn, Order::ZERO, true);
            }
            assert!(zone.free_pages() <= 125, "{}: {}", era.name(), zone.free_pages());
            assert!(memory.kswapd(0, 0, &mut owner), "{}", era.name());
            assert!(zone.free_pages() > 150 && !memory.is_kswapd_wanted(0), "{}", era.name());
            let events = memory.vm_events();
            assert!(events.pgsteal_kswapd >= 25 && events.pgsteal_direct == 0, "{events:?}");
            owner.agrees_with(memory, era.name());
        });
    }
}

#[test]
fn requests_reclaim_directly_without_kswapd() {
    with_memory(Era::Linux6_12.switches(), &[zone_with_marks(500, 50)], (4, 5), |memory| {
        let mut owner = Owner { reclaims: true, ..Owner::default() };
        for _ in 0..2000 {
            let pfn = memory.alloc(request(MOVABLE, 0), &mut owner).expect("there is always page cache");
            owner.hold(pfn, Order::ZERO, true);
        }
        let events = memory.vm_events();
        assert!(events.allocstall > 10 && events.pgsteal_direct > 1000, "{events:?}");
        owner.agrees_with(memory, "reclaim");
    });
}

#[test]
fn every_request_returns() {
    let zone = zone_with_marks(500, 50);
    for gfp in [MOVABLE | GfpFlags::NOFAIL, MOVABLE | GfpFlags::RETRY_MAYFAIL, UNMOVABLE | GfpFlags::MEMALLOC]
    {
        for size in [0, 1, 4] {
            with_memory(Era::Freehold.switches(), &[zone], (4, 5), |memory| {
                let mut answers = 0;
                while memory.alloc(request(gfp, size), &mut ()).is_ok() {
                    answers += 1;
                }
                assert!(answers > 0);
                memory.check().expect("every invariant");
            });
        }
    }
}

#[test]
fn defrag_mode_moves_before_it_mixes() {
    for era in [Era::Linux7_3, Era::Freehold] {
        let steals = [false, true].map(|defrag_mode| {
            let mut steals = 0;
            with_memory(era.switches(), &[zone_with_marks(4000, 20)], (5, 6), |memory| {
                memory.set_tunables(Tunables { defrag_mode, ..Tunables::LINUX });
                let mut owner = Owner::default();
                scatter(memory, &mut owner, 5);
                for _ in 0..150 {
                    let pfn = memory.alloc(request(UNMOVABLE, 0), &mut owner).expect("a fifth is free");
                    owner.hold(pfn, Order::ZERO, false);
                    if memory.is_kswapd_wanted(0) {
                        memory.kswapd(0, 0, &mut owner);
                    }
                    if memory.is_kcompactd_wanted(0) {
                        memory.kcompactd(0, 0, &mut owner);
                    }
                }
                memory.check().expect("every invariant");
                owner.agrees_with(memory, era.name());
                steals = memory.zone_stats().steals;
            });
            steals
        });
        assert!(steals[1] < steals[0], "{}: {steals:?}", era.name());
    }
}

#[test]
fn extfrag_threshold_prevents_costly_compaction() {
    let stalls = [500, 1000].map(|extfrag_threshold| {
        let mut moved = 0;
        with_memory(Era::Linux6_1.switches(), &[zone_with_marks(2000, 20)], (5, 6), |memory| {
            memory.set_tunables(Tunables { extfrag_threshold, ..Tunables::LINUX });
            let mut owner = Owner::default();
            scatter(memory, &mut owner, 4);
            let _ = memory.alloc(request(MOVABLE, 5), &mut owner);
            moved = memory.vm_events().pgmigrate_success;
        });
        moved
    });
    assert!(stalls[0] > 0 && stalls[1] == 0, "{stalls:?}");
}
