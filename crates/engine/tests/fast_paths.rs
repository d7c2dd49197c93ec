//! The fast paths of requests and frees give the same results as the slow paths.

use crate::common::{self, Host, all_switch_sets, geometry, metadata};
use crate::twins::Twins;
use freehold::{
    Era, Memory, MemoryConfig, Migratetype, PerCpuSettings, Pfn, Switches, Watermarks, ZoneConfig, ZoneType,
};

/// Node, type and pages of consecutive zones.
type Layout = [(u16, ZoneType, u64)];

const ONE: &Layout = &[(0, ZoneType::Normal, 0x1a03)];

/// The same zone, with an end that no pageblock crosses.
const ALIGNED: &Layout = &[(0, ZoneType::Normal, 0xaa0d)];

/// The second node has the lower addresses, and no border is aligned.
const NODES: &Layout = &[
    (1, ZoneType::Normal, 0x781),
    (1, ZoneType::Movable, 0x2fe),
    (0, ZoneType::Dma32, 0x555),
    (0, ZoneType::Normal, 0x1203),
];

/// More zones than an [`freehold::Exclusive`] locks.
const MANY: &Layout = &[
    (0, ZoneType::Dma, 0x101),
    (0, ZoneType::Dma32, 0x303),
    (0, ZoneType::Normal, 0x805),
    (1, ZoneType::Normal, 0x503),
    (1, ZoneType::Movable, 0x201),
    (2, ZoneType::Normal, 0x407),
    (2, ZoneType::Movable, 0x3ff),
    (3, ZoneType::Normal, 0x302),
    (3, ZoneType::Movable, 0x401),
    (4, ZoneType::Movable, 0x333),
];

/// Enough pages, most of them absent, for the largest stack.
const LARGE: u64 = 2048 * 256;

fn zones(layout: &Layout, percpu: PerCpuSettings) -> Vec<ZoneConfig> {
    let mut start = 0x5f3;
    let zone = |&(node, kind, spanned): &(u16, ZoneType, u64)| {
        let here = Pfn(start);
        start += spanned;
        ZoneConfig {
            node,
            watermarks: Watermarks { min: 32, low: 60, high: 90 },
            percpu,
            ..common::zone(kind, here.0, spanned)
        }
    };
    layout.iter().map(zone).collect()
}

/// Sets up a machine with some pageblocks of every type. All frames are free, except the last `absent` frames of the
/// last zone.
fn machine<'m>(
    config: &MemoryConfig<'_>,
    bytes: &'m mut [core::mem::MaybeUninit<u8>],
    absent: u64,
) -> Memory<'m, Host> {
    let memory = Memory::<Host>::new(config, bytes).expect("a valid machine");
    for (number, at) in config.zones.iter().enumerate() {
        let zone = memory.zone_of(at.start).expect("a zone");
        let spanned = at.spanned - if number + 1 == config.zones.len() { absent } else { 0 };
        let block = config.pageblock_order.pages();
        let kinds = [Migratetype::Cma, Migratetype::Unmovable, Migratetype::Reclaimable];
        for (nth, kind) in [(1, kinds[0]), (2, kinds[0]), (4, kinds[1]), (5, kinds[2])] {
            let pfn = Pfn((at.start.0 & !(block - 1)) + nth * block);
            if pfn.0 + block <= at.start.0 + spanned {
                zone.set_block_type(pfn, kind).expect("nothing there yet");
            }
        }
        zone.add_free(at.start, spanned).expect("absent frames");
    }
    memory
}

/// The number of random steps.
const STEPS: u64 = 160;

struct Case<'c> {
    name: &'c str,
    layout: &'c Layout,
    switches: Switches,
    percpu: PerCpuSettings,
    orders: (u8, u8),
    seed: u64,
    /// True if the zones of the slow side never have plenty.
    never_plenty: bool,
    /// The number of absent pages at the end of the last zone on the fast side.
    absent: u64,
}

fn run(case: &Case<'_>) {
    let fast_zones = zones(case.layout, case.percpu);
    let mut slow_zones = fast_zones.clone();
    if case.never_plenty {
        // This reserve applies to requests that the test never makes, but it keeps the zone from having plenty.
        for zone in &mut slow_zones {
            zone.lowmem_reserve[ZoneType::Device as usize] = 1 << 40;
        }
    }
    let mut fast_zones = fast_zones;
    fast_zones.last_mut().expect("a zone").spanned += case.absent;
    let (block, max) = case.orders;
    let config = geometry(&fast_zones, case.switches, block, max);
    let slow_config = geometry(&slow_zones, case.switches, block, max);
    let (mut one, mut other) = (metadata(&config), metadata(&slow_config));
    let (fast, slow) = (machine(&config, &mut one, case.absent), machine(&slow_config, &mut other, 0));
    let mut twins = Twins::new(&slow_config, &fast, &slow, case.seed);
    for step in 0..STEPS {
        twins.context = format!("{} {:?} seed {} step {step}", case.name, case.orders, case.seed);
        twins.step(step / 60 % 3 < 2);
        if step % 16 == 0 {
            twins.compare();
            twins.check();
        }
    }
    twins.empty();
    twins.compare();
    twins.check();
    let answered: u64 = twins.request_stats().allocs.iter().sum();
    assert!(answered > 10 * STEPS, "{}: {answered} answers", case.name);
}

const fn tuned(batch: u32, high_min: u32, high_max: u32) -> PerCpuSettings {
    PerCpuSettings { batch, high_min, high_max, flush_needs_batch: false }
}

const SMALL: PerCpuSettings = tuned(7, 28, 200);
const WIDE: PerCpuSettings = tuned(63, 300, 2500);

fn case<'c>(name: &'c str, layout: &'c Layout, switches: Switches, seed: u64) -> Case<'c> {
    Case {
        name,
        layout,
        switches,
        percpu: if seed.is_multiple_of(2) { SMALL } else { WIDE },
        orders: [(9, 10), (5, 7), (3, 3), (4, 10), (10, 10), (1, 4)][(seed / 2 % 6) as usize],
        seed,
        never_plenty: true,
        absent: 0,
    }
}

#[test]
fn fast_path_matches_slow_path() {
    for (number, (name, switches)) in all_switch_sets().into_iter().enumerate() {
        for (at, layout) in [ONE, NODES, MANY].into_iter().enumerate() {
            run(&case(&name, layout, switches, 3 * number as u64 + at as u64));
        }
    }
}

#[test]
fn fast_path_matches_slow_path_for_every_largest_order() {
    let layout = [(0, ZoneType::Dma32, 0x1_2345), (0, ZoneType::Normal, 0x9_a003)];
    for (number, era) in Era::ALL.into_iter().enumerate() {
        let all = [(0, 0), (0, 5), (1, 11), (12, 13), (9, 18), (18, 18)].into_iter().enumerate();
        // Each era runs with three of the geometries, and each geometry with three eras.
        for (at, orders) in all.filter(|(at, _)| (at + number) % 2 == 0) {
            let base = case(era.name(), &layout, era.switches(), (300 + 7 * number + at) as u64);
            run(&Case { orders, never_plenty: (at / 2 + number / 2) % 2 == 0, ..base });
        }
    }
}

#[test]
fn exclusive_owner_matches_slow_path() {
    for (number, (name, switches)) in all_switch_sets().into_iter().enumerate() {
        let layout = [ONE, NODES, MANY][number % 3];
        for seed in [100 + 2 * number as u64, 101 + 2 * number as u64] {
            run(&Case { never_plenty: false, ..case(&name, layout, switches, seed) });
        }
    }
}

#[test]
fn large_stack_matches_small_stack() {
    for (number, (name, switches)) in all_switch_sets().into_iter().enumerate().filter(|(at, _)| at % 3 == 0)
    {
        let orders = [(9, 10), (5, 7)][number % 2];
        let base = case(&name, ALIGNED, switches, 200 + number as u64);
        let percpu = tuned(63, 3000, 6000);
        run(&Case { never_plenty: false, absent: LARGE, percpu, orders, ..base });
    }
}
