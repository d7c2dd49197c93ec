//! Isolation of pageblocks: types are restored, and blocks across a border are split.

use crate::common::{self, all_free, geometry, listed, metadata, order, plain_zone, request};
use freehold::{BlockError, Era, GfpFlags, Memory, Migratetype, NoReclaim, Order, Pfn};

#[test]
fn two_isolated_pageblocks_merge_and_get_their_own_types_back() {
    let zones = [plain_zone(0x400, 2048)];
    let config = geometry(&zones, Era::Linux7_3.switches(), 9, 10);
    let mut bytes = metadata(&config);
    let memory = Memory::<common::Host>::new(&config, &mut bytes).expect("valid");
    let zone = &memory.zones()[0];
    zone.set_block_type(Pfn(0x400), Migratetype::Reclaimable).expect("nothing there yet");
    zone.add_allocated(Pfn(0x400), order(9), Migratetype::Movable).expect("absent frames");
    zone.add_free(Pfn(0x600), 512).expect("absent frames");
    zone.isolate_block(Pfn(0x400)).expect("movable pages only");
    zone.isolate_block(Pfn(0x600)).expect("free pages only");
    memory.free(0, Pfn(0x400), order(9)).expect("allocated");
    assert_eq!(listed(zone, 10, Migratetype::Isolate), [0x400], "isolated neighbours merge");
    memory.check().expect("intact");
    assert_eq!(zone.free_pages(), 0);
    zone.unisolate_block(Pfn(0x400)).expect("isolated");
    memory.check().expect("intact");
    zone.unisolate_block(Pfn(0x600)).expect("isolated");
    memory.check().expect("intact");
    // The pageblock that is restored last merges with the first, and both get its type.
    assert_eq!(zone.block_type(Pfn(0x600)), Some(Migratetype::Movable));
    assert_eq!(listed(zone, 10, Migratetype::Movable), [0x400]);
    assert_eq!(zone.free_pages(), 1024);
}

#[test]
fn isolation_splits_a_larger_free_block() {
    let zones = [plain_zone(0x400, 1024)];
    let config = geometry(&zones, Era::Linux7_3.switches(), 9, 10);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let zone = &memory.zones()[0];
    for pfn in [0x400, 0x600] {
        zone.isolate_block(Pfn(pfn + 5)).expect("free");
        assert_eq!(listed(zone, 9, Migratetype::Isolate), [pfn]);
        assert_eq!(listed(zone, 9, Migratetype::Movable), [pfn ^ 0x200]);
        assert_eq!(zone.free_pages(), 512);
        memory.check().expect("intact");
        assert!(memory.alloc(request(GfpFlags::HIGHUSER_MOVABLE, 10), NoReclaim).is_err());
        zone.unisolate_block(Pfn(pfn)).expect("isolated");
        assert_eq!(listed(zone, 10, Migratetype::Movable), [0x400], "whole again");
        memory.check().expect("intact");
    }
}

#[test]
fn isolation_of_any_subset_keeps_pageblock_types() {
    let zones = [plain_zone(0x400, 64)];
    let config = geometry(&zones, Era::Linux7_3.switches(), 3, 5);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let zone = &memory.zones()[0];
    // Every subset of four neighbouring pageblocks is isolated and restored, in both directions.
    for set in 0_u64..16 {
        let blocks: Vec<Pfn> =
            (0..4).filter(|bit| set & 1 << bit != 0).map(|bit| Pfn(0x400 + 8 * bit)).collect();
        for &pfn in &blocks {
            zone.isolate_block(pfn).expect("free");
            memory.check().unwrap_or_else(|broken| panic!("set {set:#b}: {broken}"));
        }
        assert_eq!(zone.free_pages(), 64 - 8 * blocks.len() as u64);
        for &pfn in &blocks {
            zone.unisolate_block(pfn).expect("isolated");
            memory.check().unwrap_or_else(|broken| panic!("set {set:#b}: {broken}"));
            assert_eq!(zone.block_type(pfn), Some(Migratetype::Movable), "set {set:#b}");
        }
        assert_eq!(zone.free_pages(), 64);
    }
}

#[test]
fn failed_isolation_changes_nothing() {
    let zones = [plain_zone(0x404, 28)];
    let config = geometry(&zones, Era::Freehold.switches(), 3, 5);
    let mut bytes = metadata(&config);
    let memory = Memory::<common::Host>::new(&config, &mut bytes).expect("valid");
    let zone = &memory.zones()[0];
    zone.add_free(Pfn(0x404), 12).expect("absent frames");
    zone.add_allocated(Pfn(0x410), Order::ZERO, Migratetype::Unmovable).expect("an absent frame");
    zone.add_free(Pfn(0x411), 7).expect("absent frames");
    let before = zone.counts_relaxed();
    assert_eq!(zone.isolate_block(Pfn(0x404)), Err(BlockError::StraddlesZone));
    assert_eq!(zone.isolate_block(Pfn(0x410)), Err(BlockError::Unmovable));
    assert_eq!(zone.isolate_block(Pfn(0x418)), Err(BlockError::Unmovable), "a hole");
    assert_eq!(zone.isolate_block(Pfn(0x420)), Err(BlockError::OutsideZone));
    assert_eq!(zone.unisolate_block(Pfn(0x408)), Err(BlockError::WrongState));
    zone.isolate_block(Pfn(0x408)).expect("free");
    assert_eq!(zone.isolate_block(Pfn(0x408)), Err(BlockError::WrongState));
    zone.unisolate_block(Pfn(0x408)).expect("isolated");
    assert_eq!(zone.counts_relaxed(), before);
    memory.check().expect("intact");
}

#[test]
fn a_page_freed_into_an_isolated_block_stays_there() {
    for era in Era::ALL {
        let zones = [common::zone(freehold::ZoneType::Normal, 0x400, 64)];
        let config = geometry(&zones, era.switches(), 3, 5);
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        let zone = &memory.zones()[0];
        let pfn = memory.alloc(request(GfpFlags::HIGHUSER_MOVABLE, 0), NoReclaim).expect("free pages");
        memory.drain_all();
        zone.isolate_block(pfn).expect("movable");
        memory.free(0, pfn, Order::ZERO).expect("allocated");
        assert_eq!(zone.percpu_pages(0), 0, "{}: not for the next request", era.name());
        assert_eq!(zone.free_pages(), 56, "{}", era.name());
        memory.check().expect("intact");
    }
}

#[test]
fn drained_block_is_split_by_pageblock() {
    // Blocks of a CPU's lists can be larger than very small pageblocks.
    let zones = [plain_zone(0x400, 64)];
    let config = geometry(&zones, Era::Linux7_3.switches(), 1, 5);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let zone = &memory.zones()[0];
    let listed_block = memory.alloc(request(GfpFlags::HIGHUSER_MOVABLE, 3), NoReclaim).expect("free pages");
    zone.set_percpu_settings(0, common::LONG_LISTS);
    memory.free(0, listed_block, order(3)).expect("in use");
    assert!(zone.percpu_pages(0) >= 8);
    zone.isolate_block(listed_block).expect("movable pages only");
    memory.drain_all();
    memory.check().expect("intact");
    assert_eq!(listed(zone, 1, Migratetype::Isolate), [listed_block.0]);
    assert_eq!(zone.free_pages(), 62);
}

/// A block in use that starts before the edge of an isolated range is passed over, as Linux since 6.10 does with hugetlb
/// pages. When it is freed, only the part in the isolated pageblock stays isolated.
#[test]
fn isolation_passes_over_a_block_across_the_edge() {
    for era in Era::ALL {
        let zones = [plain_zone(0x400, 1024)];
        let config = geometry(&zones, era.switches(), 9, 10);
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        let zone = &memory.zones()[0];
        let block = memory.alloc(request(GfpFlags::HIGHUSER_MOVABLE, 10), NoReclaim).expect("all is free");
        let second = block.add(512);
        zone.isolate_range(second, 512).expect("movable");
        assert_eq!(zone.isolate_range(second, 512), Err(BlockError::WrongState));
        memory.free(0, block, order(10)).expect("in use");
        memory.drain_all();
        memory.check().expect("intact");
        let by_parts = era.switches().hygiene;
        let isolated = if by_parts { vec![second.0] } else { vec![] };
        assert_eq!(listed(zone, 9, Migratetype::Isolate), isolated, "{}", era.name());
        assert_eq!(zone.free_pages(), if by_parts { 512 } else { 1024 }, "{}", era.name());
        zone.undo_isolate_range(second, 512, Migratetype::Movable);
        if by_parts {
            assert_eq!(listed(zone, 10, Migratetype::Movable), [block.0], "{}: whole again", era.name());
        }
    }
    // An immovable block refuses the isolation of the pageblock that it starts in.
    let zones = [plain_zone(0x400, 1024)];
    let config = geometry(&zones, Era::Linux7_3.switches(), 9, 10);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let block = memory.alloc(request(GfpFlags::KERNEL, 10), NoReclaim).expect("all is free");
    assert_eq!(memory.zones()[0].isolate_range(block, 512), Err(BlockError::Unmovable));
}
