//! Invalid frees return the right error, and change nothing.

use crate::common::dump::dump;
use crate::common::{self, all_switch_sets, geometry, metadata, order, plain_zone, request};
use freehold::{
    FreeError, GfpFlags, Memory, Migratetype, NoReclaim, Order, PerCpuSettings, Pfn, Switches, ZoneConfig,
};

type Machine<'m> = Memory<'m, common::Host>;

/// One kind of invalid free.
struct Case {
    name: &'static str,
    /// Prepares the machine, and returns the invalid free: CPU, frame, order.
    prepare: fn(&Machine<'_>) -> (u16, Pfn, u8),
    error: FreeError,
}

fn take(memory: &Machine<'_>, size: u8) -> Pfn {
    memory.alloc(request(GfpFlags::HIGHUSER_MOVABLE, size), NoReclaim).expect("free pages")
}

/// Returns a block that is already free. `size` decides whether it is on a per-CPU list.
fn freed(memory: &Machine<'_>, size: u8) -> Pfn {
    let pfn = take(memory, size);
    memory.free(0, pfn, order(size)).expect("allocated");
    pfn
}

/// Frames from 0x408 are free; before them lie a reserved frame and a hole.
const RESERVED: Pfn = Pfn(0x404);
const HOLE: Pfn = Pfn(0x405);

const CASES: [Case; 18] = [
    Case { name: "twice, on a free list", prepare: |m| (0, freed(m, 5), 5), error: FreeError::AlreadyFree },
    Case {
        name: "twice, on a per-CPU list",
        prepare: |m| (0, freed(m, 0), 0),
        error: FreeError::AlreadyFree,
    },
    Case {
        name: "twice, on another CPU's list",
        prepare: |m| (1, freed(m, 0), 0),
        error: FreeError::AlreadyFree,
    },
    Case {
        name: "twice, merged into a larger block",
        prepare: |m| {
            let pfn = freed(m, 0);
            m.drain_all();
            (0, pfn, 0)
        },
        error: FreeError::AlreadyFree,
    },
    Case {
        name: "twice, with another order",
        prepare: |m| (0, freed(m, 2), 0),
        error: FreeError::AlreadyFree,
    },
    Case {
        name: "the tail of a free block",
        prepare: |m| (0, Pfn(freed(m, 5).0 + 3), 0),
        error: FreeError::AlreadyFree,
    },
    Case {
        name: "the tail of a block on a per-CPU list",
        prepare: |m| (0, Pfn(freed(m, 2).0 + 1), 0),
        error: FreeError::AlreadyFree,
    },
    Case {
        name: "the tail of an allocated block",
        prepare: |m| (0, Pfn(take(m, 3).0 + 4), 2),
        error: FreeError::NotAllocated,
    },
    Case {
        name: "with a smaller order",
        prepare: |m| (0, take(m, 3), 1),
        error: FreeError::WrongOrder { allocated: order_of(3) },
    },
    Case {
        name: "with a larger order",
        prepare: |m| (0, take(m, 0), 3),
        error: FreeError::WrongOrder { allocated: Order::ZERO },
    },
    Case {
        name: "with an order above the largest",
        prepare: |m| (0, take(m, 0), 10),
        error: FreeError::WrongOrder { allocated: Order::ZERO },
    },
    Case { name: "never allocated", prepare: |_| (0, Pfn(0x420), 0), error: FreeError::AlreadyFree },
    Case { name: "reserved", prepare: |_| (0, RESERVED, 0), error: FreeError::NotAllocated },
    Case { name: "in a hole", prepare: |_| (0, HOLE, 0), error: FreeError::OutsideZones },
    Case { name: "before the zones", prepare: |_| (0, Pfn(0x403), 0), error: FreeError::OutsideZones },
    Case { name: "behind the zones", prepare: |_| (0, Pfn(u64::MAX), 0), error: FreeError::OutsideZones },
    Case { name: "on an absent CPU", prepare: |m| (2, take(m, 0), 0), error: FreeError::NoSuchCpu },
    Case {
        name: "twice, in an isolated pageblock",
        prepare: |m| {
            let pfn = take(m, 4);
            m.drain_all();
            m.zones()[0].isolate_block(pfn).expect("movable");
            m.free(0, pfn, order(4)).expect("allocated");
            (1, pfn, 4)
        },
        error: FreeError::AlreadyFree,
    },
];

const fn order_of(value: u8) -> Order {
    match Order::new(value) {
        Some(order) => order,
        None => Order::MAX_PAGE_ORDER,
    }
}

fn on_a_machine(switches: Switches, act: impl FnOnce(&Machine<'_>)) {
    let percpu = PerCpuSettings { batch: 4, high_min: 16, high_max: 16, flush_needs_batch: false };
    let zones = [ZoneConfig { percpu, ..plain_zone(0x404, 204) }];
    let config = geometry(&zones, switches, 4, 5);
    let mut bytes = metadata(&config);
    let memory = Memory::new(&config, &mut bytes).expect("valid");
    let zone = &memory.zones()[0];
    zone.add_reserved(RESERVED, 1).expect("an absent frame");
    zone.add_free(Pfn(0x408), 200).expect("absent frames");
    act(&memory);
}

#[test]
fn bad_free_returns_its_error_and_changes_nothing() {
    for (name, switches) in all_switch_sets() {
        for case in CASES {
            on_a_machine(switches, |memory| {
                let (cpu, pfn, size) = (case.prepare)(memory);
                let before = dump(memory);
                let context = format!("{name}: {}", case.name);
                assert_eq!(memory.free(cpu, pfn, order(size)), Err(case.error), "{context}");
                assert_eq!(dump(memory), before, "{context}");
                memory.check().unwrap_or_else(|broken| panic!("{context}: {broken}"));
            });
        }
    }
}

#[test]
fn invalid_split_changes_nothing() {
    on_a_machine(freehold::Era::Freehold.switches(), |memory| {
        let (own, free) = (take(memory, 3), freed(memory, 2));
        let before = dump(memory);
        let wrong = FreeError::WrongOrder { allocated: order(3) };
        assert_eq!(memory.split(own, order(3), order(4)), Err(wrong));
        assert_eq!(memory.split(own, order(2), order(0)), Err(wrong));
        assert_eq!(memory.split(Pfn(own.0 + 1), order(0), order(0)), Err(FreeError::NotAllocated));
        assert_eq!(memory.split(free, order(2), order(0)), Err(FreeError::AlreadyFree));
        assert_eq!(memory.split(HOLE, order(0), order(0)), Err(FreeError::OutsideZones));
        assert_eq!(dump(memory), before);
    });
}

#[test]
fn the_pieces_of_a_split_block_are_freed_one_by_one() {
    on_a_machine(freehold::Era::Freehold.switches(), |memory| {
        let whole = take(memory, 4);
        memory.split(whole, order(4), order(1)).expect("allocated");
        for piece in (whole.0..whole.0 + 16).step_by(2).map(Pfn) {
            assert_eq!(memory.allocated_block(piece), Some((order(1), Migratetype::Movable)));
            memory.check().expect("intact");
            let wrong = FreeError::WrongOrder { allocated: order(1) };
            assert_eq!(memory.free(0, piece, order(4)), Err(wrong));
            memory.free(0, piece, order(1)).expect("a piece");
        }
        memory.drain_all();
        memory.check().expect("intact");
        assert_eq!(memory.zones()[0].free_pages(), 200);
    });
}
