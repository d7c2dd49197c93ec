//! Switches that no kernel's transcript covers: each test shows the difference between on and off.
//!
//! `FLIPS` of the oracle's golden test names these tests.

use crate::common::{
    self, LONG_LISTS, NO_LISTS, all_free, all_switch_sets, geometry, listed, metadata, named_switch_sets,
    order, plain_zone, request,
};
use crate::embedder::Owner;
use freehold::{
    Era, GfpFlags, Memory, Migratetype, NoReclaim, PerCpuSettings, Pfn, Switches, Watermarks, ZoneConfig,
};

const MOVABLE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;

/// Runs `act` on a free machine of `pages` pages with pageblocks of order `block`, the largest order.
fn with_memory(
    switches: Switches,
    (pages, block): (u64, u8),
    percpu: PerCpuSettings,
    low: u64,
    act: impl FnOnce(&Memory<'_, common::Host>),
) {
    let watermarks = Watermarks { min: low / 2, low, high: low };
    let zones = [ZoneConfig { percpu, watermarks, ..plain_zone(0x400, pages) }];
    let config = geometry(&zones, switches, block, block);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    act(&memory);
    memory.check().expect("intact");
}

#[test]
fn switch_sets_are_distinct_and_complete() {
    let sets = all_switch_sets();
    for (at, (name, switches)) in sets.iter().enumerate() {
        for (other, same) in &sets[..at] {
            assert_ne!(switches.in_effect(), same.in_effect(), "{name} is {other}");
        }
    }
    let named = named_switch_sets();
    for (name, switches) in &named {
        let is_kept = sets.iter().any(|(_, kept)| kept.in_effect() == switches.in_effect());
        assert!(is_kept, "{name} is missing");
    }
    assert!(sets.len() < named.len());
    for era in Era::ALL {
        assert!(sets.iter().any(|(name, switches)| name == era.name() && *switches == era.switches()));
    }
}

#[test]
fn range_freed_in_blocks_bypasses_lists_of_single_pages() {
    for (ranges_freed_in_blocks, listed) in [(true, 0), (false, 16)] {
        let switches = Switches { ranges_freed_in_blocks, ..Era::Linux7_3.switches() };
        with_memory(switches, (64, 4), LONG_LISTS, 0, |memory| {
            memory
                .alloc_contig_range(Pfn(0x410), 16, Migratetype::Movable, 0, NoReclaim)
                .expect("free pages");
            memory.free_contig_range(0, Pfn(0x410), 16).expect("pages in use");
            assert_eq!(memory.zones()[0].percpu_pages(0), listed);
        });
    }
}

#[test]
fn refused_range_keeps_isolation_of_another_caller() {
    for (ranges_stay_apart, isolated) in [(true, 1), (false, 0)] {
        let switches = Switches { ranges_stay_apart, ..Era::Freehold.switches() };
        with_memory(switches, (64, 4), NO_LISTS, 0, |memory| {
            let zone = &memory.zones()[0];
            zone.isolate_block(Pfn(0x410)).expect("a free pageblock");
            assert!(memory.alloc_contig_range(Pfn(0x410), 16, Migratetype::Movable, 0, NoReclaim).is_err());
            assert_eq!(listed(zone, 4, Migratetype::Isolate).len(), isolated);
        });
    }
}

#[test]
fn bulk_watermark_check_counts_missing_pages() {
    for (bulk_mark_by_missing, filled) in [(true, 16), (false, 15)] {
        let switches = Switches { bulk_mark_by_missing, ..Era::Linux7_3.switches() };
        with_memory(switches, (32, 4), NO_LISTS, 10, |memory| {
            // 18 pages are free and the watermark is 10: it leaves room for 2 missing pages, but not for 16.
            let mut pages = [None; 16];
            for place in &mut pages[..14] {
                *place = Some(memory.alloc(request(MOVABLE, 0), NoReclaim).expect("a free page"));
            }
            assert_eq!(memory.alloc_bulk(request(MOVABLE, 0), &mut pages), filled);
        });
    }
}

#[test]
fn large_orders_have_lists_only_if_switched_on() {
    for (percpu_large_orders, listed) in [(true, 16), (false, 0)] {
        let switches = Switches { percpu_large_orders, ..Era::Freehold.switches() };
        with_memory(switches, (64, 5), LONG_LISTS, 0, |memory| {
            let block = memory.alloc(request(MOVABLE, 4), NoReclaim).expect("a free block");
            memory.drain_all();
            memory.free(0, block, order(4)).expect("a block in use");
            assert_eq!(memory.zones()[0].percpu_pages(0), listed);
        });
    }
}

/// Fills memory with blocks of an order, and frees every second.
fn every_second(
    memory: &Memory<'_, common::Host>,
    owner: &mut Owner,
    gfp: GfpFlags,
    (size, movable): (u8, bool),
) {
    let any_mark = gfp.difference(GfpFlags::RECLAIM) | GfpFlags::MEMALLOC;
    while let Ok(pfn) = memory.alloc(request(any_mark, size), NoReclaim) {
        owner.hold(pfn, order(size), movable);
    }
    let gone: Vec<u64> = owner.in_use.keys().copied().filter(|pfn| (pfn >> size) % 2 == 0).collect();
    for pfn in gone {
        owner.free(memory, pfn);
    }
}

#[test]
fn large_blocks_move_only_if_switched_on() {
    for compacts_large_blocks in [true, false] {
        let switches = Switches { compacts_large_blocks, ..Era::Linux7_3.switches() };
        with_memory(switches, (2048, 5), NO_LISTS, 20, |memory| {
            let mut owner = Owner::default();
            every_second(memory, &mut owner, MOVABLE, (2, true));
            let gfp = MOVABLE | GfpFlags::COMP;
            let block = memory.alloc(request(gfp, 5), &mut owner);
            assert_eq!(block.is_ok(), compacts_large_blocks, "{:?}", memory.vm_events());
            assert_eq!(owner.moves > 0, compacts_large_blocks);
        });
    }
}

#[test]
fn compaction_starts_only_with_pages_for_the_free_scanner() {
    for suits_by_counts in [true, false] {
        let switches = Switches { suits_by_counts, ..Era::Freehold.switches() };
        with_memory(switches, (2048, 5), NO_LISTS, 20, |memory| {
            // Half of memory is free, all of it in unmovable pageblocks.
            let mut owner = Owner::default();
            every_second(memory, &mut owner, GfpFlags::KERNEL, (0, false));
            assert!(memory.alloc(request(GfpFlags::KERNEL, 5), &mut owner).is_err());
            let scanned = memory.vm_events().compact_migrate_scanned;
            assert_eq!(scanned == 0, suits_by_counts, "{scanned} pages scanned");
        });
    }
}
