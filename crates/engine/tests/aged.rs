//! Requests of several pages in aged memory, whose free pages are scattered.

use crate::common::{self, Random, geometry, metadata, order, plain_zone, request};
use freehold::{
    Era, GfpFlags, Memory, Migratetype, NoReclaim, Order, PerCpuSettings, Pfn, Switches, ZoneConfig,
};

const MOVABLE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;

/// A zone of 128 MiB: small enough for a test, and large enough that the shares differ by less than a percent between
/// seeds.
const PAGES: u64 = 1 << 15;

/// The steps of a churn for each page: as many as a zone of 4 GiB has in 4 million steps.
const STEPS_PER_PAGE: u64 = 4;

/// The lists of one CPU as Linux tunes them: a batch of 63 pages, and up to an eighth of the zone.
const LISTS: PerCpuSettings =
    PerCpuSettings { batch: 63, high_min: 252, high_max: PAGES as u32 / 8, flush_needs_batch: false };

/// The shares of refused requests, in percent.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Refused {
    orders_1_to_3: f64,
    order_9: f64,
}

/// Takes all memory as single pages and returns a random fifth. Then allocates and frees at a constant fill level: 90 %
/// single pages, 8 % orders 1 to 3, 2 % order 9. Returns the shares of refused requests and the number of free
/// pageblocks at the end.
fn aged_churn(switches: Switches, seed: u64, owner: bool) -> (Refused, usize) {
    let zones = [ZoneConfig { percpu: LISTS, ..plain_zone(0x400, PAGES) }];
    let config = geometry(&zones, switches, 9, 10);
    let mut bytes = metadata(&config);
    let memory = common::all_free(&config, &mut bytes);
    let mut random = Random::new(seed);
    let mut in_use: Vec<(Pfn, Order)> = Vec::new();
    let single = || memory.alloc(request(MOVABLE, 0), NoReclaim).ok();
    while let Some(pfn) = single() {
        in_use.push((pfn, Order::ZERO));
    }
    assert_eq!(in_use.len() as u64, PAGES, "seed {seed}: not every page was handed out");
    for _ in 0..PAGES / 5 {
        let (pfn, order) = in_use.swap_remove(random.below(in_use.len() as u64) as usize);
        memory.free(0, pfn, order).expect("in use");
    }
    memory.drain_all();
    let mut exclusive = owner.then(|| memory.exclusive(0).expect("CPU 0"));
    let (mut balance, mut asked, mut refused) = (0_i64, [0_u32; 2], [0_u32; 2]);
    for _ in 0..STEPS_PER_PAGE * PAGES {
        if balance > 0 {
            let (pfn, order) = in_use.swap_remove(random.below(in_use.len() as u64) as usize);
            match &mut exclusive {
                Some(owner) => owner.free(pfn, order),
                None => memory.free(0, pfn, order),
            }
            .expect("in use");
            balance -= order.pages() as i64;
            continue;
        }
        let size = match random.below(100) {
            0..90 => 0,
            90..98 => 1 + random.below(3) as u8,
            _ => 9,
        };
        let block = match &mut exclusive {
            Some(owner) => owner.alloc(request(MOVABLE, size)),
            None => memory.alloc(request(MOVABLE, size), NoReclaim),
        };
        let class = usize::from(size == 9);
        asked[class] += u32::from(size > 0);
        match block {
            Ok(pfn) => {
                in_use.push((pfn, order(size)));
                balance += order(size).pages() as i64;
            }
            Err(_) => refused[class] += u32::from(size > 0),
        }
    }
    drop(exclusive);
    memory.check().unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
    let [orders_1_to_3, order_9] =
        [0, 1].map(|class| f64::from(refused[class]) * 100.0 / f64::from(asked[class]));
    let whole =
        memory.zones()[0].pageblocks().filter(|used| u64::from(used.free) == order(9).pages()).count();
    (Refused { orders_1_to_3, order_9 }, whole)
}

/// The shares of this test are in `docs/design/tried.md`.
#[test]
fn scattered_free_pages_merge_before_small_requests_are_refused() {
    for seed in [7, 8] {
        for owner in [false, true] {
            let (linux, _) = aged_churn(Era::Linux7_3.switches(), seed, owner);
            let (freehold, whole) = aged_churn(Era::Freehold.switches(), seed, owner);
            eprintln!(
                "seed {seed}, owner {owner}: Linux 7.3 {linux:?}, freehold {freehold:?}, {whole} free pageblocks"
            );
            assert!(linux.orders_1_to_3 > 50.0, "seed {seed}, owner {owner}: {linux:?}");
            assert!(freehold.orders_1_to_3 < 18.0, "seed {seed}, owner {owner}: {freehold:?}");
        }
    }
}

#[test]
fn lists_are_used_again_once_a_pageblock_is_free() {
    // The rule has no effect without hygiene.
    for (bypasses_lists_when_short, hygiene) in [(true, true), (false, true), (true, false)] {
        let switches = Switches { bypasses_lists_when_short, hygiene, ..Era::Freehold.switches() };
        let zones = [ZoneConfig { percpu: common::fixed_lists(4, 32), ..plain_zone(0x400, 1024) }];
        let config = geometry(&zones, switches, 9, 10);
        let mut bytes = metadata(&config);
        let memory = Memory::<common::Host>::new(&config, &mut bytes).expect("valid");
        let zone = &memory.zones()[0];
        for page in 0..1024 {
            zone.add_allocated(Pfn(0x400 + page), Order::ZERO, Migratetype::Movable).expect("absent frames");
        }
        let free = |page: u64| memory.free(0, Pfn(0x400 + page), Order::ZERO).expect("in use");
        free(0);
        assert_eq!(zone.percpu_pages(0), 1);
        assert!(memory.alloc(request(MOVABLE, 1), NoReclaim).is_err());
        // The refusal drained the list. From now on freed pages merge at once.
        free(1);
        let on_list = if bypasses_lists_when_short && hygiene { 0 } else { 2 };
        assert_eq!(zone.percpu_pages(0), on_list);
        (2..512).for_each(free);
        memory.drain_all();
        assert_eq!(zone.free_pages(), 512);
        free(512);
        assert_eq!(zone.percpu_pages(0), 1, "a pageblock is free, so lists are used");
        memory.check().expect("intact");
    }
}

#[test]
fn refusal_for_lack_of_a_block_leaves_the_mark_alone() {
    for marks_by_pages in [true, false] {
        let switches = Switches { marks_by_pages, ..Era::Freehold.switches() };
        let zones = [plain_zone(0x400, 1024)];
        let config = geometry(&zones, switches, 9, 10);
        let mut bytes = metadata(&config);
        let memory = Memory::<common::Host>::new(&config, &mut bytes).expect("valid");
        let zone = &memory.zones()[0];
        for page in (0..1024).step_by(2) {
            zone.add_free(Pfn(0x400 + page), 1).expect("absent frames");
            zone.add_allocated(Pfn(0x401 + page), Order::ZERO, Migratetype::Movable).expect("absent frames");
        }
        // The first requests take the early failure and the slow path.
        for (size, gfp) in [(9, MOVABLE), (3, MOVABLE), (9, MOVABLE | GfpFlags::NOFAIL)] {
            assert!(memory.alloc(request(gfp, size), NoReclaim).is_err());
            assert_eq!(zone.state().below_high, !marks_by_pages, "order {size}");
        }
        while memory.alloc(request(MOVABLE, 0), NoReclaim).is_ok() {}
        assert!(zone.state().below_high, "no page is free");
    }
}
