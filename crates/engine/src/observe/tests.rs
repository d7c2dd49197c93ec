//! Unit tests of the free lists' door and of the levels of a refill, with what only the engine itself can do.

use core::mem::MaybeUninit;

use crate::memory::{Memory, MemoryConfig, required_bytes};
use crate::table::{FrameIndex, Place};
use crate::types::{AllocContext, AllocFlags, Era, Migratetype, Order, Pfn, Platform, Switches, ZoneType};
use crate::zone::{Insertion, Isolation, ListOp, Zone, ZoneConfig, ZoneGuard};

struct Host;

impl Platform for Host {
    type ZoneLock = parking_lot::RawMutex;
    type PerCpuLock = parking_lot::RawMutex;
    type Tracepoints = ();
    type Rule = ();
}

const ORDER: Order = Order::new(9).expect("a valid order");

/// Runs with a zone of `pages` absent frames from 0x400 on, and pageblocks of order 9.
fn with_zone<R>(switches: Switches, pages: u64, act: impl FnOnce(&Zone<'_, Host>) -> R) -> R {
    let zones = [ZoneConfig::sized(0, ZoneType::Normal, Pfn(0x400), pages)];
    let config = MemoryConfig { switches, ..MemoryConfig::linux(&zones, 1) };
    let mut bytes = std::vec![MaybeUninit::uninit(); required_bytes::<Host>(&config)];
    let memory = Memory::<Host>::new(&config, &mut bytes).expect("valid");
    act(&memory.zones()[0])
}

/// Runs with a free movable pageblock in each era. Returns the numbers of foreign entries and of foreign leaves that
/// `act` made, and true if `check` is content.
fn counted(act: impl Fn(&mut ZoneGuard<'_, '_, Host>, FrameIndex)) -> Vec<(Era, (u64, u64), bool)> {
    let in_era = |era: Era| {
        with_zone(era.switches(), 1024, |zone| {
            zone.add_free(Pfn(0x400), 512).expect("absent frames");
            zone.check().expect("intact");
            let first = zone.frames.index(Pfn(0x400)).expect("in the zone");
            act(&mut zone.lock(), first);
            let stats = zone.stats();
            (era, (stats.hygiene_violations, stats.foreign_leaves), zone.check().is_ok())
        })
    };
    Era::ALL.map(in_era).into()
}

fn all_are(counts: &[(Era, (u64, u64), bool)], expected: (u64, u64)) {
    for &(era, counted, intact) in counts {
        assert_eq!(counted, expected, "{}", era.name());
        assert!(!(intact && era.switches().hygiene), "{}: check() is silent", era.name());
    }
}

#[test]
fn a_foreign_entry_is_counted_in_every_era() {
    let counts = counted(|guard, first| {
        guard.update_list(first, ORDER, ListOp::Leave);
        guard.update_list(first, ORDER, ListOp::Enter(Migratetype::Unmovable, Place::Head));
    });
    all_are(&counts, (1, 0));
}

#[test]
fn a_change_to_a_foreign_list_is_counted_in_every_era() {
    let counts = counted(|guard, first| {
        guard.update_list(first, ORDER, ListOp::Change(Migratetype::Unmovable));
    });
    all_are(&counts, (1, 0));
}

#[test]
fn a_leave_from_a_foreign_list_is_counted_in_every_era() {
    // The list is right again at the end, and only the statistics show what happened.
    let counts = counted(|guard, first| {
        guard.zone.blocks.set(first, Migratetype::Unmovable);
        guard.update_list(first, ORDER, ListOp::Leave);
        guard.zone.blocks.set(first, Migratetype::Movable);
        guard.update_list(first, ORDER, ListOp::Enter(Migratetype::Movable, Place::Head));
    });
    all_are(&counts, (0, 1));
}

#[test]
fn blocks_on_lists_of_their_own_type_are_not_counted() {
    let counts = counted(|guard, first| {
        guard.convert_pageblock(first, Migratetype::Reclaimable);
        guard.isolate(first, Isolation::of(Migratetype::Movable)).expect("free pages only");
        guard.unisolate(first, Migratetype::Reclaimable).expect("isolated");
        guard.update_list(first, ORDER, ListOp::Leave);
        guard.update_list(first, ORDER, ListOp::Enter(Migratetype::Reclaimable, Place::Tail));
    });
    for (era, counted, intact) in counts {
        assert_eq!((counted, intact), ((0, 0), true), "{}", era.name());
    }
}

/// Linux keeps the level in a variable of `rmqueue_bulk`, and in one inside the loop of `rmqueue_buddy`: a refill goes
/// on at the level of CMA, and the next one starts at the lists of the requested type.
#[test]
fn a_refill_goes_on_at_the_level_of_cma() {
    for remembered_mode in [true, false] {
        let switches = Switches { remembered_mode, ..Era::Linux7_3.switches() };
        let (movable, cma, unmovable) = (Pfn(0x400), Pfn(0x600), Pfn(0x800));
        let taken = with_zone(switches, 2048, |zone| {
            zone.add_allocated(movable, Order::ZERO, Migratetype::Movable).expect("absent frames");
            zone.set_block_type(cma, Migratetype::Cma).expect("nothing there yet");
            zone.add_free(cma, 4).expect("absent frames");
            zone.set_block_type(unmovable, Migratetype::Unmovable).expect("nothing there yet");
            zone.add_free(unmovable, 16).expect("absent frames");
            let own = zone.frames.index(movable).expect("in the zone");
            let (migratetype, flags) = (Migratetype::Movable, AllocFlags::CMA);
            let context = AllocContext { order: Order::ZERO, migratetype, flags };
            let mut guard = zone.lock();
            let mut refill = guard.refill(context);
            let mut taken = [None; 3];
            taken[0] = refill.next();
            // Such a page cannot appear while the lock is held. It shows which lists the refill reads.
            refill.guard().free_block(own, Order::ZERO, Migratetype::Movable, Insertion::Tail);
            taken[1] = refill.next();
            taken[2] = guard.refill(context).next();
            taken.map(|index| zone.frames.pfn(index.expect("a free page")))
        });
        let expected = if remembered_mode { [cma, cma.add(1), movable] } else { [cma, movable, cma.add(1)] };
        assert_eq!(taken, expected, "remembered: {remembered_mode}");
    }
}
