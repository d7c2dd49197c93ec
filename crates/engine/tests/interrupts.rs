//! What comes between: an interrupt, or another CPU, just before a lock is taken.
#![expect(unsafe_code, reason = "locks behind the interface of the engine's")]

mod common;

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{geometry, order, plain_zone};
use freehold::{
    Era, GfpFlags, Locks, Memory, MemoryConfig, Migratetype, Order, Pfn, Request, ZoneConfig, required_bytes,
};

/// What comes between, and before which lock: of this kind, so many times of taking one from now on.
type Next = Option<(Name, u32, Box<dyn FnOnce()>)>;

thread_local! {
    static NEXT: RefCell<Next> = const { RefCell::new(None) };
}

/// The two kinds of locks.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Name {
    Zone,
    PerCpu,
}

/// Lets `act` come between before a lock is taken `skip` times and once more. The caller keeps all that
/// `act` refers to until then.
fn before(name: Name, skip: u32, act: impl FnOnce()) {
    let act: Box<dyn FnOnce()> = Box::new(act);
    // SAFETY: the same box but for the lifetime, which the caller looks after.
    let act = unsafe { core::mem::transmute::<Box<dyn FnOnce()>, Box<dyn FnOnce() + 'static>>(act) };
    NEXT.set(Some((name, skip, act)));
}

fn come_between(name: Name) {
    let act = NEXT.take();
    match act {
        Some((of, 0, act)) if of == name => act(),
        Some((of, skip, act)) if of == name => NEXT.set(Some((of, skip - 1, act))),
        other => NEXT.set(other),
    }
}

/// A spin lock of whom others come before.
struct Interrupted<const PERCPU: bool>(AtomicBool);

impl<const PERCPU: bool> Interrupted<PERCPU> {
    const NAME: Name = if PERCPU { Name::PerCpu } else { Name::Zone };

    fn take(&self) -> bool {
        !self.0.swap(true, Ordering::Acquire)
    }
}

// SAFETY: `take` succeeds for one caller until `unlock`.
unsafe impl<const PERCPU: bool> lock_api::RawMutex for Interrupted<PERCPU> {
    const INIT: Self = Self(AtomicBool::new(false));

    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        come_between(Self::NAME);
        while !self.take() {
            std::thread::yield_now();
        }
    }

    fn try_lock(&self) -> bool {
        come_between(Self::NAME);
        self.take()
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

type Interruptible = (Interrupted<false>, Interrupted<true>);

const MOVABLE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;

fn request(size: u8) -> Request {
    Request { cpu: 0, node: 0, order: order(size), gfp: MOVABLE }
}

/// Runs on four free pageblocks of 16 pages.
fn on_a_machine<L: Locks<Tracepoints = ()>>(era: Era, act: impl FnOnce(&Memory<'_, L>)) {
    let zones = [ZoneConfig { percpu: common::fixed_lists(4, 64), ..plain_zone(0x400, 64) }];
    let config: MemoryConfig<'_> = geometry(&zones, era.switches(), 4, 5);
    let mut bytes = vec![core::mem::MaybeUninit::uninit(); required_bytes::<L>(&config)];
    let memory = Memory::new(&config, &mut bytes).expect("valid");
    memory.zones()[0].add_free(Pfn(0x400), 64).expect("absent frames");
    act(&memory);
    memory.drain_all();
    memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
}

#[test]
fn a_free_during_an_isolation_leaves_no_page_on_a_list() {
    for era in Era::ALL {
        for size in [0, 1, 3] {
            on_a_machine::<Interruptible>(era, |memory| {
                let zone = &memory.zones()[0];
                let mut pfn = memory.alloc(request(size)).expect("free pages");
                memory.drain_all();
                for skip in 0..3 {
                    before(Name::PerCpu, skip, || {
                        zone.isolate_block(pfn).expect("movable");
                        zone.drain_all();
                    });
                    memory.free(0, pfn, order(size)).expect("allocated");
                    if NEXT.take().is_none() {
                        assert_eq!(zone.percpu_pages(0), 0, "{}: {size}, {skip}", era.name());
                        zone.unisolate_block(pfn).expect("isolated");
                    }
                    pfn = memory.alloc(request(size)).expect("free pages");
                    memory.drain_all();
                }
                memory.free(0, pfn, order(size)).expect("allocated");
            });
        }
    }
}

#[test]
fn a_range_is_taken_as_it_is_found() {
    for era in Era::ALL {
        for skip in 0..12 {
            on_a_machine::<Interruptible>(era, |memory| {
                let zone = &memory.zones()[0];
                // The range is free. What comes between frees its neighbour, and the two merge.
                let block = memory.alloc(request(4)).expect("free pages");
                memory.split(block, order(4), Order::ZERO).expect("allocated");
                memory.free_contig_range(0, block, 15).expect("single pages");
                memory.drain_all();
                let last = block.add(15);
                before(Name::Zone, skip, || memory.free(0, last, Order::ZERO).expect("allocated"));
                let taken = memory.alloc_contig_range(block.add(12), 3, Migratetype::Movable);
                assert_eq!(taken, Ok(()), "{}: {skip}", era.name());
                if NEXT.take().is_some() {
                    memory.free(0, last, Order::ZERO).expect("allocated");
                }
                memory.free_contig_range(0, block.add(12), 3).expect("single pages");
                memory.drain_all();
                assert_eq!(zone.free_pages(), 64, "{}: {skip}", era.name());
            });
        }
    }
}
