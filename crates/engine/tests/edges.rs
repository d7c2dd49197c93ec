//! Numbers at the limits of their types: the engine neither panics nor wraps.

use crate::common::{self, Host, all_free, geometry, metadata, order, plain_zone, request};
use freehold::{
    AllocError, Era, GfpFlags, Memory, NoReclaim, Order, PerCpuSettings, PerCpuState, Pfn, SetupError,
    Watermarks, ZoneConfig, ZoneState, required_bytes,
};

const MOST: Watermarks = Watermarks { min: u64::MAX, low: u64::MAX, high: u64::MAX };

#[test]
fn pfn_add_saturates() {
    assert_eq!(Pfn(5).add(7), Pfn(12));
    assert_eq!(Pfn(u64::MAX).add(1), Pfn(u64::MAX));
    assert_eq!(Pfn(3).add(u64::MAX), Pfn(u64::MAX));
}

#[test]
fn required_bytes_saturates_for_the_largest_span() {
    for (start, spanned) in [(0, u64::MAX), (u64::MAX, u64::MAX), (1023, u64::MAX), (u64::MAX, 1)] {
        let zones = [plain_zone(start, spanned)];
        let config = geometry(&zones, Era::Freehold.switches(), 9, 10);
        let needed = required_bytes::<Host>(&config);
        assert!(spanned < 1 << 31 || needed == usize::MAX, "{start:#x}, {spanned:#x}: {needed}");
        let refused = Memory::<Host>::new(&config, &mut []).map(|_| ());
        assert_eq!(refused, Err(SetupError::ZoneTooLarge));
    }
}

#[test]
fn huge_watermarks_refuse_requests() {
    for era in Era::ALL {
        let reserve = [u64::MAX; 6];
        let full = ZoneConfig { watermarks: MOST, ..plain_zone(0x400, 256) };
        let kept = ZoneConfig { lowmem_reserve: reserve, ..plain_zone(0x400, 256) };
        let both = ZoneConfig { lowmem_reserve: reserve, managed: u64::MAX, ..full };
        for zone in [full, kept, both] {
            let zones = [zone];
            let config = geometry(&zones, era.switches(), 4, 6);
            let mut bytes = metadata(&config);
            let memory = all_free(&config, &mut bytes);
            let zone = &memory.zones()[0];
            zone.set_watermark_boost_factor(u32::MAX);
            let gfps = [GfpFlags::KERNEL, GfpFlags::HIGHUSER_MOVABLE, GfpFlags::GFP_ATOMIC];
            let ask = |gfp: GfpFlags, size| memory.alloc(request(gfp, size), NoReclaim);
            for size in [0, 2, 5] {
                for gfp in gfps {
                    assert_eq!(ask(gfp, size), Err(AllocError::NoMemory), "{}: {gfp:?}", era.name());
                }
                assert!(ask(GfpFlags::KERNEL | GfpFlags::MEMALLOC, size).is_ok(), "{}", era.name());
            }
            let _ = memory.should_compact_proactively(0);
            memory.compact_node(0, 0, &mut ());
            memory.kcompactd(0, 0, &mut ());
            zone.restore_state(ZoneState { watermark_boost: u64::MAX, ..zone.state() });
            assert_eq!(ask(GfpFlags::KERNEL, 0), Err(AllocError::NoMemory));
            zone.relax_boost(1);
            // Lower watermarks apply again, and low may be below min.
            zone.set_watermarks(Watermarks { min: 8, low: 0, high: 0 });
            let answer = ask(GfpFlags::KERNEL, 5);
            assert_eq!(answer.is_ok(), config.zones[0].lowmem_reserve == [0; 6], "{}", era.name());
            memory.compact_node(0, 0, &mut ());
            memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
        }
    }
}

#[test]
fn any_percpu_settings_are_accepted() {
    let numbers = [0, 1, 7, 1 << 31, u32::MAX];
    for era in Era::ALL {
        let zones = [plain_zone(0x400, 256)];
        let config = geometry(&zones, era.switches(), 4, 6);
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        let zone = &memory.zones()[0];
        for batch in numbers {
            for (high_min, high_max) in [(0, 0), (u32::MAX, 0), (0, u32::MAX), (u32::MAX, u32::MAX), (9, 3)] {
                let settings = PerCpuSettings { batch, high_min, high_max, flush_needs_batch: false };
                zone.set_percpu_settings(0, settings);
                for number in numbers {
                    let state = PerCpuState {
                        high: number,
                        alloc_factor: number,
                        free_count: number,
                        free_factor: number,
                        last_free_was_high_order: true,
                    };
                    zone.restore_percpu_state(0, state);
                    let ask = |size| memory.alloc(request(GfpFlags::HIGHUSER_MOVABLE, size), NoReclaim);
                    let found: Vec<_> = [0, 0, 1, 3, 0].map(|size| (size, ask(size))).into();
                    for (size, pfn) in found {
                        memory.free(0, pfn.expect("free pages"), order(size)).expect("in use");
                    }
                    memory.refresh(0);
                }
            }
        }
        memory.drain_all();
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
        assert_eq!(zone.free_pages(), 256);
        assert!(memory.alloc(request(GfpFlags::KERNEL, Order::ZERO.get()), NoReclaim).is_ok());
    }
}

/// `Debug` of the large types takes no lock, so that the holder of a lock can print them.
#[test]
fn debug_of_large_types_takes_no_lock() {
    let zones = [common::plain_zone(0x400, 64)];
    let config = common::geometry(&zones, freehold::Era::Freehold.switches(), 4, 5);
    let mut bytes = common::metadata(&config);
    let memory = common::all_free(&config, &mut bytes);
    let owner = memory.exclusive(1).expect("a CPU");
    let in_use = memory.zones()[0].free_list(freehold::Order::ZERO, freehold::Migratetype::Movable);
    let text = format!("{memory:?} {owner:?}");
    drop(in_use);
    for part in ["Normal", "pfn 0x400..pfn 0x440", "free_pages: 64", "Exclusive { cpu: 1, .. }"] {
        assert!(text.contains(part), "no {part}: {text}");
    }
}
