//! What racing frees leave behind, if the embedder has promised that there are none.

use core::mem::MaybeUninit;
use std::vec::Vec;

use crate::memory::{Memory, MemoryConfig, required_bytes};
use crate::request::NoReclaim;
use crate::table::FrameKind;
use crate::types::{Era, GfpFlags, Order, OwnersFreeOnce, Pfn, Platform, Request, ZoneType};
use crate::zone::ZoneConfig;

struct Host;

impl Platform for Host {
    type ZoneLock = parking_lot::RawMutex;
    type PerCpuLock = parking_lot::RawMutex;
    type Tracepoints = ();
    type Rule = ();
}

type Trusting = OwnersFreeOnce<Host>;

const START: Pfn = Pfn(0x400);
const PAGES: u64 = 8192;

/// Runs with a memory of two CPUs, in each era.
fn with_memory(act: impl Fn(Era, &Memory<'_, Trusting>)) {
    for era in Era::ALL {
        let zones = [ZoneConfig::sized(0, ZoneType::Normal, START, PAGES)];
        let config = MemoryConfig { switches: era.switches(), ..MemoryConfig::linux(&zones, 2) };
        let mut bytes = std::vec![MaybeUninit::uninit(); required_bytes::<Trusting>(&config)];
        let memory = Memory::<Trusting>::new(&config, &mut bytes).expect("valid");
        memory.zones()[0].add_free(START, PAGES).expect("absent frames");
        act(era, &memory);
    }
}

fn alloc(memory: &Memory<'_, Trusting>, cpu: u16, order: Order) -> Option<Pfn> {
    let gfp = GfpFlags::HIGHUSER_MOVABLE.difference(GfpFlags::DIRECT_RECLAIM);
    memory.alloc(Request { cpu, node: 0, order, gfp }, NoReclaim).ok()
}

/// Frees a block on both CPUs, as two callers do at one instant that have both seen that it is allocated.
fn free_twice(memory: &Memory<'_, Trusting>, pfn: Pfn, order: Order) {
    let zone = &memory.zones()[0];
    let frame = zone.frames.frame(zone.frames.index(pfn).expect("in the zone"));
    let allocated = frame.word();
    memory.free(0, pfn, order).expect("it is allocated");
    // A block that has left the list already was freed long ago.
    if frame.word().kind() == FrameKind::PerCpu {
        frame.set_word(allocated);
        memory.free(1, pfn, order).expect("it seems to be allocated");
    }
}

/// Uses and drains the memory, which ends, and never counts more than there is.
fn use_all(era: Era, memory: &Memory<'_, Trusting>, order: Order) {
    let zone = &memory.zones()[0];
    for cpu in [0, 1, 0] {
        let blocks: Vec<_> = (0..40).filter_map(|_| alloc(memory, cpu, order)).collect();
        for pfn in blocks {
            let _ = memory.free(cpu, pfn, order);
        }
        zone.drain_cpu(1 - cpu);
    }
    zone.drain_all();
    let lists = (0..2).filter_map(|cpu| zone.lock_lists(cpu));
    let counts: Vec<_> = lists.map(|lists| lists.count()).collect();
    assert_eq!(counts, [0, 0], "{era:?}, {order:?}: drained lists are empty");
    // Whatever is wrong, looking for it ends.
    let _ = memory.check();
}

/// Orders that have lists: frees of others are one after the other, under the zone lock.
fn orders(memory: &Memory<'_, Trusting>) -> impl Iterator<Item = Order> {
    let orders = [0, 1, 3, 4, 8, 9].into_iter().filter_map(Order::new);
    orders.filter(|&order| memory.zones()[0].has_percpu_list(order))
}

#[test]
fn a_block_on_two_lists_ends_no_drain() {
    with_memory(|era, memory| {
        for order in orders(memory) {
            let pfn = alloc(memory, 0, order).expect("a block");
            free_twice(memory, pfn, order);
            memory.zones()[0].drain_cpu(0);
            use_all(era, memory, order);
        }
    });
}

#[test]
fn blocks_on_two_stacks_reach_the_free_lists_once() {
    with_memory(|era, memory| {
        let order = Order::ZERO;
        let zone = &memory.zones()[0];
        zone.drain_all();
        let free = zone.free_pages();
        let pages: Vec<_> = (0..8).filter_map(|_| alloc(memory, 0, order)).collect();
        for &pfn in pages.iter().step_by(2) {
            free_twice(memory, pfn, order);
        }
        for &pfn in pages.iter().skip(1).step_by(2) {
            memory.free(1, pfn, order).expect("it is allocated");
        }
        zone.drain_all();
        assert_eq!(zone.free_pages(), free, "{era:?}");
        memory.check().unwrap_or_else(|broken| panic!("{era:?}: {broken}"));
    });
}

/// More blocks than a stack has places, so that they are linked, and the links of both lists become mixed.
#[test]
fn mixed_links_are_left_alone() {
    with_memory(|era, memory| {
        for order in orders(memory).filter(|&order| order <= Order::COSTLY) {
            let most = (PAGES as usize / 2) >> order.get();
            let blocks: Vec<_> = (0..most.min(300)).map_while(|_| alloc(memory, 0, order)).collect();
            for (at, &pfn) in blocks.iter().enumerate() {
                match at % 3 {
                    0 => free_twice(memory, pfn, order),
                    one => {
                        let _ = memory.free((one - 1) as u16, pfn, order);
                    }
                }
            }
            use_all(era, memory, order);
        }
    });
}
