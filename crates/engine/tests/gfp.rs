//! The effects of flags, as the documentation of `GfpFlags` states them.

use crate::common::{Host, all_free, geometry, metadata, order, plain_zone, request};
use freehold::{
    AllocError, Era, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order, Pfn, Reclaimed, Relocate,
    Request, ShrinkControl, Shrinker, Switches, Watermarks, ZoneConfig, ZoneType,
};

/// The pages of the zone and, in `MIN`, its min watermark.
const PAGES: u64 = 256;
const MIN: u64 = 64;

fn zone(kind: ZoneType, start: u64) -> ZoneConfig {
    let watermarks = Watermarks { min: MIN, low: 80, high: 96 };
    ZoneConfig { kind, watermarks, ..plain_zone(start, PAGES) }
}

fn with_memory(zones: &[ZoneConfig], switches: Switches, act: impl FnOnce(&Memory<'_, Host>)) {
    let config: MemoryConfig<'_> = geometry(zones, switches, 4, 5);
    let mut bytes = metadata(&config);
    act(&all_free(&config, &mut bytes));
}

/// Returns the number of pages that requests for single pages with these flags leave free in a zone of [`PAGES`] pages.
fn pages_left(switches: Switches, gfp: GfpFlags) -> u64 {
    let mut left = 0;
    with_memory(&[zone(ZoneType::Normal, 0x400)], switches, |memory| {
        while memory.alloc(request(gfp, 0), NoReclaim).is_ok() {}
        left = memory.zones()[0].free_pages();
    });
    left
}

#[test]
fn movable_wins_over_reclaimable_and_the_lowest_zone_over_others() {
    let both = GfpFlags::MOVABLE | GfpFlags::RECLAIMABLE;
    assert_eq!(both.migratetype(), Migratetype::Movable);
    for (flags, zone) in [
        (GfpFlags::DMA | GfpFlags::DMA32, ZoneType::Dma),
        (GfpFlags::DMA | GfpFlags::HIGHMEM, ZoneType::Dma),
        (GfpFlags::DMA32 | GfpFlags::HIGHMEM | GfpFlags::MOVABLE, ZoneType::Dma32),
    ] {
        assert_eq!(flags.highest_zone(), zone, "{flags:?}");
    }
}

#[test]
fn flags_open_watermarks_as_documented() {
    for era in Era::ALL {
        let switches = era.switches();
        let left = |gfp| pages_left(switches, gfp);
        let (high, none) = (GfpFlags::HIGH, GfpFlags::empty());
        let patient = GfpFlags::DIRECT_RECLAIM;
        let name = era.name();
        assert_eq!(left(patient), MIN, "{name}");
        assert_eq!(left(patient | high), MIN / 2, "{name}");
        assert_eq!(left(GfpFlags::NOMEMALLOC), MIN, "{name}: the request may not use reserves");
        assert_eq!(left(high | GfpFlags::NOMEMALLOC), MIN / 2, "{name}");
        assert_eq!(left(GfpFlags::MEMALLOC), 0, "{name}");
        assert_eq!(left(GfpFlags::MEMALLOC | GfpFlags::NOMEMALLOC), MIN, "{name}");
        assert_eq!(left(patient | GfpFlags::NOFAIL), 0, "{name}");
        assert_eq!(left(patient | GfpFlags::NOFAIL | GfpFlags::NORETRY), MIN, "{name}");
        assert_eq!(left(GfpFlags::NOFAIL), left(none), "{name}: a caller that cannot wait may fail");
    }
}

/// A shrinker that counts its calls, and frees nothing.
#[derive(Default)]
struct CountingShrinker(u32);

impl Shrinker<Host> for CountingShrinker {
    fn shrink(&mut self, _: &Memory<'_, Host>, _: ShrinkControl) -> Reclaimed {
        self.0 += 1;
        Reclaimed::default()
    }

    fn reclaimable_pages(&mut self, _: u16, _: ZoneType) -> u64 {
        PAGES
    }
}

impl Relocate for CountingShrinker {
    fn is_movable(&mut self, _: Pfn, _: Order) -> bool {
        false
    }

    fn relocate(&mut self, _: Pfn, _: Pfn, _: Order) -> bool {
        false
    }
}

#[test]
fn noretry_limits_rounds_and_nofail_makes_a_last_attempt() {
    for era in Era::ALL {
        with_memory(&[zone(ZoneType::Normal, 0x400)], era.switches(), |memory| {
            while memory.alloc(request(GfpFlags::KERNEL, 0), NoReclaim).is_ok() {}
            let ask = |gfp| {
                let mut shrinker = CountingShrinker::default();
                let answer = memory.alloc(request(GfpFlags::KERNEL | gfp, 0), &mut shrinker);
                (answer.is_ok(), shrinker.0)
            };
            let (answered, once) = ask(GfpFlags::NORETRY);
            assert!(!answered, "{}", era.name());
            let (answered, many) = ask(GfpFlags::RETRY_MAYFAIL);
            assert!(!answered && many > once, "{}: {many} rounds, {once} with NORETRY", era.name());
            assert_eq!(ask(GfpFlags::NORETRY | GfpFlags::RETRY_MAYFAIL), (false, once), "{}", era.name());
            assert_eq!(ask(GfpFlags::NORETRY | GfpFlags::NOFAIL), (true, once), "{}", era.name());
        });
    }
}

#[test]
fn thisnode_fails_if_the_node_lacks_the_zone() {
    let zones = [ZoneConfig { node: 1, ..zone(ZoneType::Normal, 0x400) }, zone(ZoneType::Dma, 0x10)];
    with_memory(&zones, Era::Freehold.switches(), |memory| {
        let far = Request { cpu: 0, node: 1, order: order(0), gfp: GfpFlags::KERNEL | GfpFlags::DMA };
        assert!(memory.alloc(far, NoReclaim).is_ok(), "another node has the zone");
        let near = Request { gfp: far.gfp | GfpFlags::THISNODE, ..far };
        assert_eq!(memory.alloc(near, NoReclaim), Err(AllocError::NoMemory));
    });
}
