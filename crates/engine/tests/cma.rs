//! CMA pageblocks: only movable requests use them, and use them first if they have most of the free pages.

use crate::common::{self, geometry, listed, metadata, plain_zone, request};
use freehold::{
    AllocError, Era, GfpFlags, Memory, Migratetype, NoReclaim, Order, PerCpuSettings, Pfn, ZoneConfig,
};

/// Runs with `ordinary` free movable pageblocks of 16 pages, and two CMA pageblocks behind them.
fn with_cma(era: Era, ordinary: u64, percpu: PerCpuSettings, act: impl FnOnce(&Memory<'_, common::Host>)) {
    let zones = [ZoneConfig { percpu, ..plain_zone(0x400, 16 * (ordinary + 2)) }];
    let config = geometry(&zones, era.switches(), 4, 5);
    let mut bytes = metadata(&config);
    let memory = Memory::new(&config, &mut bytes).expect("valid");
    let zone = &memory.zones()[0];
    for block in ordinary..ordinary + 2 {
        zone.set_block_type(Pfn(0x400 + 16 * block), Migratetype::Cma).expect("nothing there yet");
    }
    zone.add_free(Pfn(0x400), 16 * (ordinary + 2)).expect("absent frames");
    act(&memory);
    memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
}

#[test]
fn cma_blocks_are_used_first_while_they_hold_more_than_half() {
    for era in Era::ALL {
        with_cma(era, 2, common::NO_LISTS, |memory| {
            let ask = || {
                memory.alloc(request(GfpFlags::HIGHUSER_MOVABLE, 2), NoReclaim).expect("free pages").0
                    >= 0x420
            };
            let places: Vec<bool> = (0..8).map(|_| ask()).collect();
            // CMA is used only above half of the free pages, so ordinary and CMA blocks alternate.
            let alternating = [false, true, false, true, false, true, false, true];
            assert_eq!(places, alternating, "{}", era.name());
            assert_eq!(memory.zone_stats().cma_fallbacks, 4, "{}", era.name());
            assert_eq!(memory.request_stats().type_mismatches, 0, "CMA suits movable pages");
        });
    }
}

#[test]
fn movable_requests_use_cma_before_other_types() {
    for era in Era::ALL {
        with_cma(era, 3, common::NO_LISTS, |memory| {
            let zone = &memory.zones()[0];
            // The rest of this pageblock is what movable requests could otherwise fall back to.
            memory.alloc(request(GfpFlags::KERNEL, 0), NoReclaim).expect("free pages");
            let movable = || memory.alloc(request(GfpFlags::HIGHUSER_MOVABLE, 0), NoReclaim);
            for _ in 0..32 + 32 {
                movable().expect("free pages");
            }
            assert!(listed(zone, 4, Migratetype::Cma).is_empty(), "{}", era.name());
            assert!(zone.free_pages() == 15 && movable().is_ok(), "{}: then it mixes", era.name());
        });
    }
}

#[test]
fn only_movable_requests_use_cma() {
    for era in Era::ALL {
        with_cma(era, 1, common::NO_LISTS, |memory| {
            for gfp in [GfpFlags::KERNEL, GfpFlags::KERNEL | GfpFlags::RECLAIMABLE] {
                while memory.alloc(request(gfp | GfpFlags::MEMALLOC, 0), NoReclaim).is_ok() {}
            }
            assert_eq!(memory.zones()[0].free_pages(), 32, "{}", era.name());
            assert_eq!(memory.alloc(request(GfpFlags::KERNEL, 2), NoReclaim), Err(AllocError::NoMemory));
            assert!(memory.alloc(request(GfpFlags::HIGHUSER_MOVABLE, 2), NoReclaim).is_ok());
        });
    }
}

#[test]
fn drained_cma_page_returns_to_its_pageblock() {
    let lists = PerCpuSettings { batch: 4, high_min: 8, high_max: 8, flush_needs_batch: false };
    for era in Era::ALL {
        with_cma(era, 1, lists, |memory| {
            let zone = &memory.zones()[0];
            let pages: Vec<Pfn> = (0..6)
                .map(|_| memory.alloc(request(GfpFlags::HIGHUSER_MOVABLE, 0), NoReclaim).expect("free"))
                .collect();
            assert!(pages[0].0 >= 0x410, "{}: CMA holds two thirds", era.name());
            for pfn in pages {
                memory.free(0, pfn, Order::ZERO).expect("a page in use");
            }
            memory.drain_all();
            assert_eq!(listed(zone, 4, Migratetype::Cma).len(), 2, "{}: whole, and not merged", era.name());
            assert_eq!(memory.alloc(request(GfpFlags::KERNEL, 5), NoReclaim), Err(AllocError::NoMemory));
        });
    }
}
