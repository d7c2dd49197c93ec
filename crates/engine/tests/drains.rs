//! The condition under which a request that finds no block drains the CPUs' lists.

use crate::common::{self, LONG_LISTS, Random, all_free, geometry, metadata, order, plain_zone, request};
use freehold::{Era, GfpFlags, Memory, NoReclaim, Pfn, Request, Switches, ZoneConfig};

const WAITS: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;

/// Runs with 64 pages in pageblocks of 16, all of them single pages in use.
fn all_in_use(switches: Switches, act: impl FnOnce(&Memory<'_, common::Host>)) {
    let zones = [ZoneConfig { percpu: LONG_LISTS, ..plain_zone(0x400, 64) }];
    let config = geometry(&zones, switches, 4, 4);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    while memory.alloc(request(WAITS, 0), NoReclaim).is_ok() {}
    memory.drain_all();
    assert_eq!(memory.zones()[0].free_pages(), 0);
    act(&memory);
    memory.check().expect("intact");
}

fn free(memory: &Memory<'_, common::Host>, cpu: u16, pfns: impl IntoIterator<Item = u64>) {
    pfns.into_iter().for_each(|pfn| memory.free(cpu, Pfn(pfn), order(0)).expect("a page in use"));
}

fn on_lists(memory: &Memory<'_, common::Host>) -> [u32; 2] {
    [0, 1].map(|cpu| memory.zones()[0].percpu_pages(cpu))
}

#[test]
fn no_drain_if_lists_cannot_merge_into_a_block() {
    for (drains_only_if_it_helps, kept) in [(true, [3, 1]), (false, [0, 0])] {
        let bypasses_lists_when_short = false;
        let switches =
            Switches { drains_only_if_it_helps, bypasses_lists_when_short, ..Era::Freehold.switches() };
        all_in_use(switches, |memory| {
            free(memory, 0, [0x401, 0x402, 0x404]);
            free(memory, 1, [0x407]);
            assert!(memory.alloc(request(WAITS, 1), NoReclaim).is_err(), "no two free pages are buddies");
            assert_eq!(on_lists(memory), kept);
        });
    }
}

#[test]
fn drain_if_lists_can_merge_into_a_block() {
    for era in Era::ALL {
        all_in_use(era.switches(), |memory| {
            // One page of the block is on a free list, the rest on the lists of two CPUs.
            free(memory, 0, [0x409]);
            memory.drain_all();
            free(memory, 0, [0x408, 0x40b]);
            free(memory, 1, [0x40a]);
            assert_eq!(memory.alloc(request(WAITS, 2), NoReclaim), Ok(Pfn(0x408)), "{}", era.name());
        });
    }
}

#[test]
fn failed_request_also_fails_after_a_drain() {
    for seed in 0..40 {
        all_in_use(Era::Freehold.switches(), |memory| {
            let mut random = Random::new(seed);
            let mut in_use: Vec<(Pfn, u8)> = (0x400..0x440).map(|pfn| (Pfn(pfn), 0)).collect();
            let mut failed = 0;
            for _ in 0..400 {
                let cpu = random.below(2) as u16;
                if random.below(2) == 0 && !in_use.is_empty() {
                    let (pfn, size) = in_use.swap_remove(random.below(in_use.len() as u64) as usize);
                    memory.free(cpu, pfn, order(size)).expect("a block in use");
                    continue;
                }
                let size = random.below(5) as u8;
                let ask = |gfp| memory.alloc(Request { cpu, ..request(gfp, size) }, NoReclaim);
                if let Ok(pfn) = ask(WAITS) {
                    in_use.push((pfn, size));
                    continue;
                }
                failed += 1;
                if random.below(8) == 0 {
                    memory.drain_all();
                }
                assert!(ask(WAITS.difference(GfpFlags::RECLAIM)).is_err(), "seed {seed}: order {size}");
            }
            assert!(failed > 20, "seed {seed}: {failed} requests failed");
        });
    }
}
