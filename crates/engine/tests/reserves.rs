//! Reserves: watermarks, the lowmem reserve, the boost, and the reserve for atomic requests.

use crate::common::{self, all_free, config, geometry, listed, metadata, order, plain_zone, request};
use freehold::{
    AllocError, Era, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, PerCpuSettings, Pfn, Request,
    Watermarks, ZoneConfig, ZoneType,
};

const LISTS: PerCpuSettings = PerCpuSettings { batch: 4, high_min: 8, high_max: 8, flush_needs_batch: false };

/// Allocates single pages until a request fails. Returns the number of free pages left.
fn left_by(memory: &Memory<'_, common::Host>, gfp: GfpFlags) -> u64 {
    while memory.alloc(request(gfp, 0), NoReclaim).is_ok() {}
    memory.check().expect("intact");
    memory.zones().iter().map(freehold::Zone::free_pages).sum()
}

#[test]
fn each_flag_opens_its_part_of_the_min_watermark() {
    let marks = Watermarks { min: 64, low: 80, high: 96 };
    let cases = [
        ("waiting", GfpFlags::KERNEL, 64),
        ("not waiting", GfpFlags::NOWAIT, 64),
        ("high", GfpFlags::KERNEL | GfpFlags::HIGH, 32),
        ("atomic", GfpFlags::GFP_ATOMIC, 24),
        ("atomic without reserves", GfpFlags::GFP_ATOMIC | GfpFlags::NOMEMALLOC, 32),
        ("all reserves", GfpFlags::KERNEL | GfpFlags::MEMALLOC, 0),
        ("must not fail", GfpFlags::KERNEL | GfpFlags::NOFAIL, 0),
    ];
    for era in Era::ALL {
        for (name, gfp, left) in cases {
            let zones = [ZoneConfig { watermarks: marks, ..plain_zone(0x400, 256) }];
            let config = geometry(&zones, era.switches(), 4, 5);
            let mut bytes = metadata(&config);
            let memory = all_free(&config, &mut bytes);
            assert_eq!(left_by(&memory, gfp), left, "{}: {name}", era.name());
        }
    }
}

#[test]
fn lowmem_reserve_is_kept_from_requests_for_higher_zones() {
    let low = ZoneConfig {
        kind: ZoneType::Dma32,
        lowmem_reserve: [0, 0, 48, 48, 48, 48],
        ..plain_zone(0x400, 128)
    };
    let zones = [low, plain_zone(0x800, 128)];
    let config = geometry(&zones, Era::Freehold.switches(), 4, 5);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let pages = left_by(&memory, GfpFlags::KERNEL);
    assert_eq!((pages, memory.zones()[0].free_pages()), (48, 48), "the higher zone is emptied first");
    assert_eq!(left_by(&memory, GfpFlags::KERNEL | GfpFlags::DMA32), 0);
}

/// Runs with 64 pages, movable pageblocks too full to be claimed, and a high watermark of 40.
fn boosting(factor: Option<u32>, act: impl FnOnce(&Memory<'_, common::Host>)) {
    let zones = [ZoneConfig { watermarks: Watermarks { min: 1, low: 2, high: 40 }, ..plain_zone(0x400, 64) }];
    let config =
        MemoryConfig { watermark_boost_factor: factor, ..geometry(&zones, Era::Linux7_3.switches(), 4, 4) };
    let mut bytes = metadata(&config);
    let memory = Memory::new(&config, &mut bytes).expect("valid");
    let zone = &memory.zones()[0];
    for block in 0..4 {
        zone.add_allocated(Pfn(0x400 + 16 * block), order(3), Migratetype::Movable).expect("absent");
        zone.add_allocated(Pfn(0x408 + 16 * block), order(2), Migratetype::Movable).expect("absent");
        zone.add_free(Pfn(0x40c + 16 * block), 4).expect("absent frames");
    }
    act(&memory);
    memory.check().expect("intact");
}

#[test]
fn fallback_boosts_watermarks_up_to_a_limit() {
    // Each refused claim boosts the watermarks by 16 pages. The first request tries one claim, the second two, because
    // the first left blocks of another order. The limit is factor x 40 / 10 000.
    let cases = [
        (None, [16, 48, 60]),
        (Some(15_000), [16, 48, 60]),
        (Some(5_000), [16, 20, 20]),
        (Some(1), [0; 3]),
        (Some(0), [0; 3]),
    ];
    for (factor, boosts) in cases {
        boosting(factor, |memory| {
            let zone = &memory.zones()[0];
            for boost in boosts {
                memory
                    .alloc(request(GfpFlags::KERNEL | GfpFlags::MEMALLOC, 1), NoReclaim)
                    .expect("free pages");
                assert_eq!(zone.watermark_boost(), boost, "{factor:?}");
            }
            zone.relax_boost(7);
            assert_eq!(zone.watermark_boost(), boosts[2].saturating_sub(7));
        });
    }
}

#[test]
fn only_a_request_that_may_wake_kswapd_wakes_it() {
    boosting(None, |memory| {
        let wakes = || memory.request_stats().kswapd_wakes;
        memory
            .alloc(request(GfpFlags::DIRECT_RECLAIM | GfpFlags::MEMALLOC, 0), NoReclaim)
            .expect("free pages");
        assert_eq!((wakes(), memory.zones()[0].stats().boosts), (0, 1));
        memory.alloc(request(GfpFlags::KERNEL | GfpFlags::MEMALLOC, 2), NoReclaim).expect("free pages");
        assert_eq!(wakes(), 1, "once for the boost of this request");
        memory
            .alloc(request(GfpFlags::HIGHUSER_MOVABLE | GfpFlags::MEMALLOC, 0), NoReclaim)
            .expect("free pages");
        assert_eq!(wakes(), 1, "and no more without another boost");
    });
}

/// Runs with 64 pageblocks of 16 pages, and a watermark that only atomic requests pass.
fn atomic(era: Era, act: impl FnOnce(&Memory<'_, common::Host>)) {
    let zones = [ZoneConfig {
        percpu: LISTS,
        managed: 3200,
        watermarks: Watermarks { min: 990, low: 1000, high: 1010 },
        ..plain_zone(0x400, 1024)
    }];
    let config = MemoryConfig { watermark_boost_factor: Some(0), ..geometry(&zones, era.switches(), 4, 5) };
    let mut bytes = metadata(&config);
    act(&all_free(&config, &mut bytes));
}

const ATOMIC: GfpFlags = GfpFlags::GFP_ATOMIC;

#[test]
fn atomic_high_order_requests_below_low_reserve_their_pageblock() {
    // One percent of the zone rounds to 32 pages: two pageblocks, three before 6.8.
    for (era, most) in [(Era::Linux6_1, 3), (Era::Linux6_12, 2), (Era::Linux7_3, 2)] {
        atomic(era, |memory| {
            let zone = &memory.zones()[0];
            let mut in_use = Vec::new();
            while memory.zones()[0].free_pages() > 900 {
                in_use.push((
                    memory.alloc(request(ATOMIC, 2), NoReclaim).expect("above the atomic mark"),
                    order(2),
                ));
                memory.check().expect("intact");
            }
            let reserved = zone.stats().highatomic_reserved;
            assert_eq!(reserved, most, "{}", era.name());
            let typed = zone.pageblocks().filter(|block| block.migratetype == Some(Migratetype::HighAtomic));
            assert_eq!(typed.count() as u64, most, "{}", era.name());
            for (pfn, size) in in_use {
                memory.free(0, pfn, size).expect("a block in use");
            }
            memory.drain_all();
            memory.check().expect("intact");
            let kept = listed(zone, 4, Migratetype::HighAtomic).len() as u64;
            let merged = listed(zone, 5, Migratetype::HighAtomic).len() as u64;
            assert_eq!(kept + 2 * merged, most, "{}: all of it free, and only for them", era.name());
        });
    }
}

#[test]
fn failing_request_releases_the_atomic_reserve() {
    for era in [Era::Linux6_1, Era::Linux6_12, Era::Linux7_3] {
        atomic(era, |memory| {
            let zone = &memory.zones()[0];
            while zone.stats().highatomic_reserved < 2 {
                let pfn = memory.alloc(request(ATOMIC, 3), NoReclaim).expect("above the atomic mark");
                if zone.free_pages() > 992 {
                    continue;
                }
                memory.free(1, pfn, order(3)).expect("a block in use");
                memory.drain_all();
                let _ = memory.alloc(request(ATOMIC, 3), NoReclaim);
            }
            memory.drain_all();
            // The order is too large for the free blocks. The second attempt releases all of the reserve.
            assert_eq!(memory.alloc(request(GfpFlags::KERNEL, 5), NoReclaim), Err(AllocError::NoMemory));
            memory.check().expect("intact");
            assert!(zone.stats().highatomic_unreserved >= 1, "{}", era.name());
        });
    }
}

#[test]
fn small_zones_reserve_nothing_since_6_8() {
    for (era, reserved) in [(Era::Linux6_1, 1), (Era::Linux6_12, 0), (Era::Linux7_3, 0)] {
        let zones = [ZoneConfig {
            percpu: LISTS,
            watermarks: Watermarks { min: 990, low: 1000, high: 1010 },
            ..plain_zone(0x400, 1024)
        }];
        let config = geometry(&zones, era.switches(), 4, 5);
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        for _ in 0..12 {
            let _ = memory.alloc(request(ATOMIC, 2), NoReclaim);
        }
        assert!(memory.zones()[0].stats().highatomic_reserved >= reserved, "{}", era.name());
        assert_eq!(memory.zones()[0].stats().highatomic_reserved > 0, reserved > 0, "{}", era.name());
    }
}

#[test]
fn a_request_avoids_mixing_blocks_while_a_lower_zone_can_serve() {
    let low = ZoneConfig { kind: ZoneType::Dma32, ..plain_zone(0x400, 1024) };
    let zones = [low, plain_zone(0x1000, 1024)];
    let config = config(&zones, Era::Linux7_3.switches());
    let mut bytes = metadata(&config);
    let memory = Memory::<common::Host>::new(&config, &mut bytes).expect("valid");
    memory.zones()[0].add_free(Pfn(0x400), 1024).expect("absent frames");
    memory.zones()[1].add_allocated(Pfn(0x1000), order(9), Migratetype::Movable).expect("absent");
    memory.zones()[1].add_allocated(Pfn(0x1200), order(8), Migratetype::Movable).expect("absent");
    memory.zones()[1].add_free(Pfn(0x1300), 256).expect("absent frames");
    let first = memory.alloc(request(GfpFlags::KERNEL, 0), NoReclaim).expect("free pages");
    assert_eq!(first, Pfn(0x400), "claims whole blocks of the lower zone first");
    let only_here = Request { node: 0, ..request(GfpFlags::HIGHUSER_MOVABLE, 0) };
    assert_eq!(memory.alloc(only_here, NoReclaim), Ok(Pfn(0x1300)), "movable ones fit where they are");
    memory.check().expect("intact");
}

#[test]
fn atomic_reserve_is_unusable_for_other_requests() {
    // Before 6.8 only pages that a request has reserved are subtracted, here none.
    for (era, kernel) in [(Era::Linux6_1, 16), (Era::Linux6_12, 24), (Era::Linux7_3, 24)] {
        for (gfp, left) in [(GfpFlags::KERNEL | GfpFlags::NORETRY, kernel), (GfpFlags::GFP_ATOMIC, 3)] {
            let marks = Watermarks { min: 8, low: 8, high: 8 };
            let zones = [ZoneConfig { watermarks: marks, ..plain_zone(0x400, 64) }];
            let config =
                MemoryConfig { watermark_boost_factor: Some(0), ..geometry(&zones, era.switches(), 4, 5) };
            let mut bytes = metadata(&config);
            let memory = Memory::new(&config, &mut bytes).expect("valid");
            let zone = &memory.zones()[0];
            zone.set_block_type(Pfn(0x430), Migratetype::HighAtomic).expect("nothing there yet");
            zone.add_free(Pfn(0x400), 64).expect("absent frames");
            assert_eq!(left_by(&memory, gfp), left, "{}: {gfp:?}", era.name());
        }
    }
}
