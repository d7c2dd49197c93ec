//! Tidying: pageblocks get the type of their immovable pages, and pageblocks with few pages are emptied.

use crate::common::{Host, fixed_lists, geometry, metadata, plain_zone};
use crate::embedder::Owner;
use freehold::{Era, Memory, Migratetype, Order, Pfn, Switches, ZoneConfig};

/// Runs with four pageblocks of 32 pages. The parameters give the movable and the other pages in use of each, and its
/// type. The pageblocks are tidied after `prepare` and before `act`.
fn tidied(
    switches: Switches,
    blocks: [(u64, u64, Migratetype); 4],
    prepare: impl FnOnce(&Memory<'_, Host>, &mut Owner),
    act: impl FnOnce(&Memory<'_, Host>, Owner),
) {
    tidied_beside(Migratetype::Unmovable, switches, blocks, prepare, act);
}

/// Does the same as [`tidied`]. The other pages have a given type.
fn tidied_beside(
    others: Migratetype,
    switches: Switches,
    blocks: [(u64, u64, Migratetype); 4],
    prepare: impl FnOnce(&Memory<'_, Host>, &mut Owner),
    act: impl FnOnce(&Memory<'_, Host>, Owner),
) {
    let zones = [ZoneConfig { percpu: fixed_lists(4, 32), ..plain_zone(0x400, 128) }];
    let config = geometry(&zones, switches, 5, 6);
    let mut bytes = metadata(&config);
    let memory = Memory::new(&config, &mut bytes).expect("a valid configuration");
    let mut owner = Owner::default();
    for (number, (movable, immovable, kind)) in (0_u64..).zip(blocks) {
        let start = 0x400 + 32 * number;
        memory.zones()[0].set_block_type(Pfn(start), kind).expect("a pageblock without memory");
        for page in 0..32 {
            let pfn = Pfn(start + page);
            let zone = &memory.zones()[0];
            if page < movable + immovable {
                let wanted = if page < movable { Migratetype::Movable } else { others };
                zone.add_allocated(pfn, Order::ZERO, wanted).expect("absent frames");
                owner.hold(pfn, Order::ZERO, page < movable);
            } else {
                zone.add_free(pfn, 1).expect("absent frames");
            }
        }
    }
    prepare(&memory, &mut owner);
    memory.tidy_pageblocks(0, 0, 1000, &mut owner);
    memory.check().expect("every invariant");
    act(&memory, owner);
}

/// Frees the first page, to a CPU's list.
fn free_first(memory: &Memory<'_, Host>, owner: &mut Owner) {
    owner.free(memory, 0x400);
    assert_eq!(memory.zones()[0].percpu_pages(0), 1);
}

fn free_of_blocks(memory: &Memory<'_, Host>) -> Vec<u32> {
    memory.zones()[0].pageblocks().map(|block| block.free).collect()
}

#[test]
fn pageblock_gets_the_type_of_its_immovable_pages() {
    use Migratetype::{Movable, Unmovable};
    let on = Era::Freehold.switches();
    for (switches, expected) in [
        (on, [Unmovable, Movable, Movable, Unmovable]),
        (Era::Linux7_3Tidying.switches(), [Unmovable, Movable, Movable, Unmovable]),
        (Switches { retypes_pageblocks: false, ..on }, [Movable, Movable, Unmovable, Unmovable]),
        (Era::Linux7_3.switches(), [Movable, Movable, Unmovable, Unmovable]),
    ] {
        let blocks = [(2, 28, Movable), (5, 27, Movable), (8, 4, Unmovable), (8, 5, Unmovable)];
        tidied(
            switches,
            blocks,
            |_, _| {},
            |memory, owner| {
                let found: Vec<_> =
                    memory.zones()[0].pageblocks().filter_map(|block| block.migratetype).collect();
                assert_eq!(found, expected);
                assert_eq!(memory.zone_stats().retyped, if expected[0] == Unmovable { 2 } else { 0 });
                owner.agrees_with(memory, "nothing moved");
                assert_eq!(owner.moves, 0);
            },
        );
    }
}

#[test]
fn a_pageblock_with_few_pages_is_emptied_into_fuller_ones() {
    use Migratetype::Movable;
    let on = Era::Freehold.switches();
    for (switches, others, expected) in [
        (on, 20, [32, 20, 0, 0]),
        // There is room for only two pages.
        (on, 31, [30, 0, 0, 0]),
        (Era::Linux7_3Tidying.switches(), 20, [32, 20, 0, 0]),
        (Era::Linux7_3Tidying.switches(), 31, [30, 0, 0, 0]),
        (Switches { empties_pageblocks: false, ..on }, 20, [28, 12, 11, 1]),
        (Era::Linux7_3.switches(), 20, [28, 12, 11, 1]),
    ] {
        let blocks = [(4, 0, Movable), (others, 0, Movable), (others + 1, 0, Movable), (30, 1, Movable)];
        tidied(
            switches,
            blocks,
            |_, _| {},
            |memory, owner| {
                let free = free_of_blocks(memory);
                assert_eq!(free, expected, "{others} pages in the others");
                owner.agrees_with(memory, "emptied");
            },
        );
    }
}

#[test]
fn lists_are_drained_to_empty_a_pageblock() {
    use Migratetype::Movable;
    let on = Era::Freehold.switches();
    for (switches, used, expected, listed) in [
        (on, 4, [32, 8, 0, 0], 0),
        (Era::Linux7_3Tidying.switches(), 4, [32, 8, 0, 0], 0),
        // No pageblock can be emptied, so nothing is drained.
        (on, 31, [1, 11, 0, 0], 1),
        (Switches { empties_pageblocks: false, ..on }, 4, [28, 11, 0, 0], 1),
    ] {
        let blocks = [(used, 0, Movable), (20, 1, Movable), (32, 0, Movable), (31, 1, Movable)];
        tidied(switches, blocks, free_first, |memory, owner| {
            let free = free_of_blocks(memory);
            assert_eq!(
                (free, memory.zones()[0].percpu_pages(0)),
                (expected.to_vec(), listed),
                "{used} pages"
            );
            owner.agrees_with(memory, "drained");
        });
    }
}

#[test]
fn a_few_movable_pages_leave_a_pageblock_of_another_type() {
    use Migratetype::{Movable, Unmovable};
    let on = Era::Freehold.switches();
    for (switches, expected) in [
        // Four pages of 32 are few, five are not.
        (on, [24, 17, 0, 0]),
        (Era::Linux7_3Tidying.switches(), [24, 17, 0, 0]),
        (Switches { unmixes_pageblocks: false, ..on }, [20, 17, 4, 0]),
        (Era::Linux7_3.switches(), [20, 17, 4, 0]),
    ] {
        let blocks = [(4, 8, Unmovable), (5, 10, Unmovable), (28, 0, Movable), (31, 1, Movable)];
        tidied(
            switches,
            blocks,
            |_, _| {},
            |memory, owner| {
                let free = free_of_blocks(memory);
                assert_eq!(free, expected);
                owner.agrees_with(memory, "unmixed");
            },
        );
    }
}

#[test]
fn series_empties_a_pageblock_completely_or_not_at_all() {
    use Migratetype::Movable;
    let on = Era::Linux7_3Tidying.switches();
    let blocks = [(4, 0, Movable), (31, 0, Movable), (29, 0, Movable), (31, 1, Movable)];
    for (empties_all_or_none, pinned, refused) in [(true, 28, 31), (false, 31, 29)] {
        let switches = Switches { empties_all_or_none, ..on };
        let pin = |_: &Memory<'_, Host>, owner: &mut Owner| {
            owner.in_use.get_mut(&0x401).expect("a page").movable = false;
        };
        tidied(switches, blocks, pin, |memory, owner| {
            assert_eq!(free_of_blocks(memory)[0], pinned, "pinned, {empties_all_or_none}");
            owner.agrees_with(memory, "a page that cannot be moved");
        });
        let refuse = |_: &Memory<'_, Host>, owner: &mut Owner| owner.refuses = Some(2);
        tidied(switches, blocks, refuse, |memory, owner| {
            assert_eq!(free_of_blocks(memory)[0], refused, "refused, {empties_all_or_none}");
            owner.agrees_with(memory, "a page whose move fails");
        });
    }
}

#[test]
fn series_drains_only_for_pageblocks_with_movable_pages() {
    use Migratetype::Movable;
    let on = Era::Linux7_3Tidying.switches();
    for (drains_beside_movable, listed) in [(true, 1), (false, 0)] {
        let switches = Switches { drains_beside_movable, ..on };
        let blocks = [(1, 0, Movable), (32, 0, Movable), (31, 1, Movable), (32, 0, Movable)];
        tidied(switches, blocks, free_first, |memory, owner| {
            assert_eq!(memory.zones()[0].percpu_pages(0), listed);
            owner.agrees_with(memory, "the only page is on a list");
        });
    }
}

#[test]
fn series_makes_no_pageblock_reclaimable() {
    use Migratetype::{Movable, Reclaimable, Unmovable};
    let on = Era::Linux7_3Tidying.switches();
    for (retypes_to_unmovable, expected) in [(true, Unmovable), (false, Reclaimable)] {
        let switches = Switches { retypes_to_unmovable, ..on };
        let blocks = [(2, 28, Movable), (5, 27, Movable), (32, 0, Movable), (32, 0, Movable)];
        tidied_beside(
            Reclaimable,
            switches,
            blocks,
            |_, _| {},
            |memory, _| {
                let types = memory.zones()[0].pageblocks().filter_map(|block| block.migratetype);
                assert!(types.eq([expected, Movable, Movable, Movable]));
            },
        );
    }
}
