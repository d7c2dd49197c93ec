//! Requests that reclaim and compact through an embedder: whatever it can or cannot move, every
//! block stays whole, with its contents, and every invariant holds.

use std::collections::BTreeMap;

use crate::common::{
    Locks, Random, all_free, all_switch_sets, fixed_lists, geometry, metadata, order, plain_zone, request,
};
use freehold::{
    AllocError, Era, GfpFlags, Memory, Migratetype, Order, PerCpuSettings, Pfn, Reclaimed, Relocate,
    ShrinkControl, Shrinker, Switches, Tunables, Watermarks, ZoneConfig, ZoneType,
};

const MOVABLE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;
const UNMOVABLE: GfpFlags = GfpFlags::KERNEL;

/// One block in use.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Held {
    order: Order,
    contents: u64,
    movable: bool,
}

/// An embedder that knows every block in use by its first frame.
#[derive(Default)]
struct Owner {
    held: BTreeMap<u64, Held>,
    contents: u64,
    /// The move that is refused, counted from the next one on.
    refuses: Option<u64>,
    moves: u64,
    /// Whether movable single pages are given up.
    reclaims: bool,
}

impl Owner {
    fn hold(&mut self, pfn: Pfn, order: Order, movable: bool) {
        self.contents += 1;
        let held = Held { order, contents: self.contents, movable };
        assert_eq!(self.held.insert(pfn.0, held), None, "{pfn} was handed out twice");
    }

    fn free(&mut self, memory: &Memory<'_, Locks>, pfn: u64) {
        let held = self.held.remove(&pfn).expect("a held block");
        memory.free(0, Pfn(pfn), held.order).expect("a held block");
    }

    /// Whether the memory knows the same blocks, and no two of them overlap.
    fn agrees_with(&self, memory: &Memory<'_, Locks>, context: &str) {
        let mut behind = 0;
        for (&pfn, held) in &self.held {
            assert!(pfn >= behind, "{context}: blocks overlap at {pfn:#x}");
            behind = pfn + held.order.pages();
            let block = memory.allocated_block(Pfn(pfn)).map(|(order, _)| order);
            assert_eq!(block, Some(held.order), "{context}, at {pfn:#x}");
        }
        let held: u64 = self.held.values().map(|held| held.order.pages()).sum();
        memory.drain_all();
        let free: u64 = memory.zones().iter().map(freehold::Zone::free_pages).sum();
        let all: u64 = memory.zones().iter().map(|zone| zone.end().0 - zone.start().0).sum();
        assert_eq!(held + free, all, "{context}: pages were lost");
    }
}

impl Relocate for Owner {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        let held = self.held.get(&pfn.0);
        assert!(held.is_none_or(|held| held.order == order));
        held.is_some_and(|held| held.movable)
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        self.moves += 1;
        if self.refuses == Some(self.moves) {
            return false;
        }
        let held = self.held.remove(&from.0).expect("a held block");
        assert_eq!((held.order, held.movable), (order, true));
        assert_eq!(self.held.insert(to.0, held), None, "{to} is in use");
        true
    }
}

impl Shrinker<Locks> for Owner {
    fn shrink(&mut self, memory: &Memory<'_, Locks>, control: ShrinkControl) -> Reclaimed {
        let pages = self.held.iter().filter(|(_, held)| held.movable && held.order == Order::ZERO);
        let most = if self.reclaims { control.wanted as usize } else { 0 };
        let found: Vec<u64> = pages.map(|(&pfn, _)| pfn).take(most).collect();
        for &pfn in &found {
            self.free(memory, pfn);
        }
        Reclaimed { scanned: control.wanted, reclaimed: found.len() as u64 }
    }

    fn reclaimable_pages(&mut self, _: u16, _: ZoneType) -> u64 {
        let single = |held: &&Held| held.movable && held.order == Order::ZERO;
        if self.reclaims { self.held.values().filter(single).count() as u64 } else { 0 }
    }
}

fn with_memory(
    switches: Switches,
    zones: &[ZoneConfig],
    (block, max): (u8, u8),
    act: impl FnOnce(&Memory<'_, Locks>),
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

/// Fills memory with single movable pages and frees every so many.
fn scatter(memory: &Memory<'_, Locks>, owner: &mut Owner, every: u64) {
    let whatever = MOVABLE.difference(GfpFlags::RECLAIM) | GfpFlags::MEMALLOC;
    while let Ok(pfn) = memory.alloc(request(whatever, 0)) {
        owner.hold(pfn, Order::ZERO, true);
    }
    let gone: Vec<u64> = owner.held.keys().copied().filter(|pfn| pfn % every == 0).collect();
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
            assert!(memory.alloc(request(MOVABLE, 5)).is_err(), "{name}: nothing has merged yet");
            for number in 0..5 {
                let gfp = MOVABLE | GfpFlags::COMP;
                let block = memory.alloc_with(request(gfp, 5), &mut owner);
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
fn what_the_wish_allows_is_done_and_no_more() {
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
            let answer = memory.alloc_with(request(gfp, 5), &mut owner);
            assert_eq!(answer.is_ok(), compacts, "{gfp:?}: {:?}", memory.vm_events());
            assert_eq!(memory.vm_events().compact_stall > 0, compacts, "{gfp:?}");
            if !gfp.contains(GfpFlags::DIRECT_RECLAIM) {
                assert_eq!(memory.vm_events().allocstall, 0, "{gfp:?}");
            }
        });
    }
}

#[test]
fn pages_that_stay_end_a_run_and_defer_the_next() {
    with_memory(Era::Linux6_12.switches(), &[zone_with_marks(2000, 20)], (5, 6), |memory| {
        let mut owner = Owner::default();
        scatter(memory, &mut owner, 4);
        owner.held.values_mut().for_each(|held| held.movable = false);
        let mut scanned = Vec::new();
        for _ in 0..40 {
            assert_eq!(memory.alloc_with(request(MOVABLE, 5), &mut owner), Err(AllocError::NoMemory));
            scanned.push(memory.vm_events().compact_migrate_scanned);
        }
        let idle = scanned.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(idle > 20, "deferred at {scanned:?}");
        assert_eq!(owner.moves, 0);
        owner.agrees_with(memory, "nothing moved");
    });
}

/// A random machine at work; requests that fail without an embedder are tried with one.
fn play(memory: &Memory<'_, Locks>, owner: &mut Owner, seed: u64, context: &str) {
    let mut random = Random::new(seed);
    for step in 0..500 {
        let size = if random.below(3) == 0 { random.below(7) as u8 } else { 0 };
        let movable = random.below(4) > 0;
        if random.below(5) < 3 {
            let gfp = if movable { MOVABLE } else { UNMOVABLE };
            if let Ok(pfn) = memory.alloc_with(request(gfp, size), owner) {
                owner.hold(pfn, order(size), movable);
            }
        } else if let Some(&pfn) =
            owner.held.keys().nth(random.below(owner.held.len().max(1) as u64) as usize)
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
fn any_one_move_may_be_refused() {
    for era in Era::ALL {
        for nth in 1..60 {
            with_memory(era.switches(), &[zone_with_marks(1000, 10)], (5, 6), |memory| {
                let mut owner = Owner { refuses: Some(nth), ..Owner::default() };
                scatter(memory, &mut owner, 3);
                let context = format!("{}, move {nth} refused", era.name());
                for size in [3, 4, 5, 6] {
                    if let Ok(pfn) = memory.alloc_with(request(MOVABLE, size), &mut owner) {
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
                let pfn = memory.alloc(request(MOVABLE, 0)).expect("above the min mark");
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
fn requests_reclaim_by_themselves_where_kswapd_does_not() {
    with_memory(Era::Linux6_12.switches(), &[zone_with_marks(500, 50)], (4, 5), |memory| {
        let mut owner = Owner { reclaims: true, ..Owner::default() };
        for _ in 0..2000 {
            let pfn = memory.alloc_with(request(MOVABLE, 0), &mut owner).expect("there is always page cache");
            owner.hold(pfn, Order::ZERO, true);
        }
        let events = memory.vm_events();
        assert!(events.allocstall > 10 && events.pgsteal_direct > 1000, "{events:?}");
        owner.agrees_with(memory, "reclaim");
    });
}

#[test]
fn nobody_waits_for_ever() {
    let zone = zone_with_marks(500, 50);
    for gfp in [MOVABLE | GfpFlags::NOFAIL, MOVABLE | GfpFlags::RETRY_MAYFAIL, UNMOVABLE | GfpFlags::MEMALLOC]
    {
        for size in [0, 1, 4] {
            with_memory(Era::Freehold.switches(), &[zone], (4, 5), |memory| {
                let mut answers = 0;
                while memory.alloc_with(request(gfp, size), &mut ()).is_ok() {
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
                    let pfn = memory.alloc_with(request(UNMOVABLE, 0), &mut owner).expect("a fifth is free");
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
fn the_fragmentation_threshold_holds_costly_compaction_back() {
    let stalls = [500, 1000].map(|extfrag_threshold| {
        let mut moved = 0;
        with_memory(Era::Linux6_1.switches(), &[zone_with_marks(2000, 20)], (5, 6), |memory| {
            memory.set_tunables(Tunables { extfrag_threshold, ..Tunables::LINUX });
            let mut owner = Owner::default();
            scatter(memory, &mut owner, 4);
            let _ = memory.alloc_with(request(MOVABLE, 5), &mut owner);
            moved = memory.vm_events().pgmigrate_success;
        });
        moved
    });
    assert!(stalls[0] > 0 && stalls[1] == 0, "{stalls:?}");
}

/// Four pageblocks of 32 pages: so many pages of each in use, movable ones and others, and its type.
/// They are tidied after `prepare` and before `act`.
fn tidied(
    switches: Switches,
    blocks: [(u64, u64, Migratetype); 4],
    prepare: impl FnOnce(&Memory<'_, Locks>, &mut Owner),
    act: impl FnOnce(&Memory<'_, Locks>, Owner),
) {
    tidied_beside(Migratetype::Unmovable, switches, blocks, prepare, act);
}

/// As [`tidied`], where the others are of a type.
fn tidied_beside(
    others: Migratetype,
    switches: Switches,
    blocks: [(u64, u64, Migratetype); 4],
    prepare: impl FnOnce(&Memory<'_, Locks>, &mut Owner),
    act: impl FnOnce(&Memory<'_, Locks>, Owner),
) {
    let zones = [ZoneConfig { percpu: fixed_lists(4, 32), ..plain_zone(0x400, 128) }];
    let config = geometry(&zones, switches, 5, 6);
    let mut bytes = metadata(&config);
    let memory = Memory::new(&config, &mut bytes).expect("a valid configuration");
    let mut owner = Owner::default();
    for (number, (movable, stays, kind)) in (0_u64..).zip(blocks) {
        let start = 0x400 + 32 * number;
        memory.zones()[0].set_block_type(Pfn(start), kind).expect("a pageblock without memory");
        for page in 0..32 {
            let pfn = Pfn(start + page);
            let zone = &memory.zones()[0];
            if page < movable + stays {
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
fn free_first(memory: &Memory<'_, Locks>, owner: &mut Owner) {
    owner.free(memory, 0x400);
    assert_eq!(memory.zones()[0].percpu_pages(0), 1);
}

fn free_of_blocks(memory: &Memory<'_, Locks>) -> Vec<u32> {
    memory.zones()[0].pageblocks().map(|block| block.free).collect()
}

#[test]
fn a_pageblock_gets_the_type_of_what_stays_in_it() {
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
        // There is room for two of them only.
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
fn pages_on_a_cpus_list_are_drained_for_a_pageblock_that_can_be_emptied() {
    use Migratetype::Movable;
    let on = Era::Freehold.switches();
    for (switches, used, expected, listed) in [
        (on, 4, [32, 8, 0, 0], 0),
        (Era::Linux7_3Tidying.switches(), 4, [32, 8, 0, 0], 0),
        // Nothing is to be emptied, so nothing is drained.
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
fn a_kernel_with_the_series_has_all_movable_pages_of_a_pageblock_or_leaves_it() {
    use Migratetype::Movable;
    let on = Era::Linux7_3Tidying.switches();
    let blocks = [(4, 0, Movable), (31, 0, Movable), (29, 0, Movable), (31, 1, Movable)];
    for (empties_all_or_none, pinned, refused) in [(true, 28, 31), (false, 31, 29)] {
        let switches = Switches { empties_all_or_none, ..on };
        let pin = |_: &Memory<'_, Locks>, owner: &mut Owner| {
            owner.held.get_mut(&0x401).expect("a page").movable = false;
        };
        tidied(switches, blocks, pin, |memory, owner| {
            assert_eq!(free_of_blocks(memory)[0], pinned, "pinned, {empties_all_or_none}");
            owner.agrees_with(memory, "a page that cannot be moved");
        });
        let refuse = |_: &Memory<'_, Locks>, owner: &mut Owner| owner.refuses = Some(2);
        tidied(switches, blocks, refuse, |memory, owner| {
            assert_eq!(free_of_blocks(memory)[0], refused, "refused, {empties_all_or_none}");
            owner.agrees_with(memory, "a page whose move fails");
        });
    }
}

#[test]
fn a_kernel_with_the_series_drains_lists_for_movable_pages_alone() {
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
fn a_kernel_with_the_series_makes_no_pageblock_reclaimable() {
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
