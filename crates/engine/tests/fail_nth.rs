//! The Nth request fails, for every N. A failure does not change the state of the memory.

use crate::common::dump::dump;
use crate::common::{
    self, Random, all_free, all_switch_sets, geometry, metadata, order, plain_zone, request,
};
use freehold::{
    AllocError, GfpFlags, Memory, NoReclaim, Order, PerCpuSettings, Pfn, Switches, Watermarks, ZoneConfig,
};

const GFPS: [GfpFlags; 3] =
    [GfpFlags::KERNEL, GfpFlags::HIGHUSER_MOVABLE, GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE)];

/// Returns the requests of one script: flags and order.
fn script() -> Vec<(GfpFlags, u8)> {
    let mut random = Random::new(7);
    (0..90)
        .map(|_| {
            let size = if random.below(4) == 0 { random.below(5) as u8 } else { 0 };
            (GFPS[random.below(3) as usize], size)
        })
        .collect()
}

/// Runs with watermarks that leave `spare` pages to requests.
fn limited(
    switches: Switches,
    spare: u64,
    lists: PerCpuSettings,
    act: impl FnOnce(&Memory<'_, common::Host>),
) {
    let mark = 201 - spare;
    let watermarks = Watermarks { min: mark, low: mark, high: mark };
    let zones = [ZoneConfig { watermarks, percpu: lists, ..plain_zone(0x404, 200) }];
    let config =
        freehold::MemoryConfig { watermark_boost_factor: Some(0), ..geometry(&zones, switches, 4, 5) };
    let mut bytes = metadata(&config);
    act(&all_free(&config, &mut bytes));
}

fn play(memory: &Memory<'_, common::Host>, context: &str) {
    let mut in_use: Vec<(Pfn, Order)> = Vec::new();
    let mut failures = 0;
    for (gfp, size) in script() {
        match memory.alloc(request(gfp, size), NoReclaim) {
            Ok(pfn) => in_use.push((pfn, order(size))),
            Err(error) => {
                assert_eq!(error, AllocError::NoMemory, "{context}");
                failures += 1;
            }
        }
        memory.check().unwrap_or_else(|broken| panic!("{context}, {} in use: {broken}", in_use.len()));
    }
    assert!(failures > 0, "{context}: the script must request more than is free");
    for (pfn, size) in in_use.into_iter().rev() {
        memory.free(0, pfn, size).expect("a block in use");
    }
    memory.drain_all();
    memory.check().unwrap_or_else(|broken| panic!("{context}, at the end: {broken}"));
    assert_eq!(memory.zones()[0].free_pages(), 200, "{context}");
}

#[test]
fn any_request_of_a_script_may_fail() {
    let lists = PerCpuSettings { batch: 4, high_min: 8, high_max: 24, flush_needs_batch: false };
    for (name, switches) in all_switch_sets() {
        for spare in 1..=120 {
            for settings in [lists, common::NO_LISTS] {
                limited(switches, spare, settings, |memory| play(memory, &format!("{name}, {spare} spare")));
            }
        }
    }
}

#[test]
fn a_refused_request_changes_no_list() {
    for (name, switches) in all_switch_sets() {
        limited(switches, 40, common::NO_LISTS, |memory| {
            while memory.alloc(request(GfpFlags::KERNEL, 0), NoReclaim).is_ok() {}
            let before = dump(memory).0;
            for size in 0..=5 {
                for gfp in GFPS {
                    assert_eq!(
                        memory.alloc(request(gfp, size), NoReclaim),
                        Err(AllocError::NoMemory),
                        "{name}"
                    );
                }
            }
            assert_eq!(dump(memory).0, before, "{name}");
        });
    }
}

#[test]
fn early_failure_matches_slow_path_failure() {
    // MEMALLOC, revoked by NOMEMALLOC, forces the slow path.
    let slow_path = GfpFlags::MEMALLOC | GfpFlags::NOMEMALLOC;
    for (name, switches) in all_switch_sets() {
        for gfp in [GfpFlags::NOWAIT, GfpFlags::GFP_ATOMIC, GfpFlags::TRANSHUGE_LIGHT] {
            let mut left = Vec::new();
            for flags in [gfp, gfp | slow_path] {
                limited(switches, 201, common::NO_LISTS, |memory| {
                    // Only single pages are free. The buddy of each is in use.
                    let pages: Vec<Pfn> =
                        std::iter::from_fn(|| memory.alloc(request(gfp, 0), NoReclaim).ok()).collect();
                    for &pfn in pages.iter().filter(|pfn| pfn.0.is_multiple_of(2)) {
                        memory.free(0, pfn, order(0)).expect("in use");
                    }
                    let zone = &memory.zones()[0];
                    zone.take_kswapd_wake();
                    zone.restore_state(freehold::ZoneState::default());
                    assert_eq!(
                        memory.alloc(request(flags, 4), NoReclaim),
                        Err(AllocError::NoMemory),
                        "{name}"
                    );
                    left.push((dump(memory), zone.state(), zone.take_kswapd_wake()));
                });
            }
            assert_eq!(left[0], left[1], "{name}, {gfp:?}");
        }
    }
}

#[test]
fn invalid_requests_return_their_error() {
    limited(freehold::Era::Freehold.switches(), 40, common::NO_LISTS, |memory| {
        assert_eq!(memory.alloc(request(GfpFlags::KERNEL, 6), NoReclaim), Err(AllocError::OrderTooLarge));
        let elsewhere = freehold::Request { cpu: 2, ..request(GfpFlags::KERNEL, 0) };
        assert_eq!(memory.alloc(elsewhere, NoReclaim), Err(AllocError::NoSuchCpu));
    });
}
