//! Building a memory from ranges of frames.

use core::mem::MaybeUninit;

use crate::common::{Host, order, request};
use freehold::{
    Era, GfpFlags, MemoryBuilder, MemoryConfig, NoReclaim, Pfn, SetupError, StaticMemory, Sysctls,
    ZoneConfig, ZoneType, required_bytes,
};

fn bytes(builder: &MemoryBuilder<'_>) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); builder.required_bytes::<Host>()]
}

#[test]
fn ranges_become_zones_with_holes() {
    // The ranges are unordered, and one lies in two zones.
    let ranges =
        [Pfn(0xff000)..Pfn(0x10_2000), Pfn(0x10)..Pfn(0x90), Pfn(0x2000)..Pfn(0x4000), Pfn(9)..Pfn(9)];
    for era in Era::ALL {
        let builder = MemoryBuilder::new(&ranges, 2)
            .zone_below(ZoneType::Dma, Pfn(0x1000))
            .zone_below(ZoneType::Dma32, Pfn(0x10_0000))
            .era(era);
        let mut metadata = bytes(&builder);
        let memory = builder.build::<Host>(&mut metadata).expect("ranges of three zones");
        let seen: Vec<_> = memory
            .zones()
            .iter()
            .map(|zone| (zone.kind(), zone.start(), zone.end(), zone.free_pages()))
            .collect();
        let expected = [
            (ZoneType::Dma, Pfn(0x10), Pfn(0x90), 0x80),
            (ZoneType::Dma32, Pfn(0x2000), Pfn(0x10_0000), 0x3000),
            (ZoneType::Normal, Pfn(0x10_0000), Pfn(0x10_2000), 0x2000),
        ];
        assert_eq!(seen, expected, "{}", era.name());
        for zone in memory.zones() {
            assert_eq!(zone.managed_pages(), zone.free_pages());
            assert_eq!(zone.present_pages(), zone.free_pages());
        }
        assert_eq!(memory.switches(), era.switches());
        assert!(
            memory
                .alloc(request(GfpFlags::KERNEL | GfpFlags::DMA, 0), NoReclaim)
                .is_ok_and(|pfn| pfn.0 < 0x90)
        );
        memory.check().expect("every invariant holds");
    }
}

/// The builder and a full configuration set up the same zone.
#[test]
fn one_range_is_the_zone_that_linux_would_set_up() {
    let ranges = [Pfn(0x400)..Pfn(0x8400)];
    let mut zones = [ZoneConfig::sized(0, ZoneType::Normal, Pfn(0x400), 0x8000)];
    let mut sysctls = Sysctls::linux(3);
    sysctls.page_bytes = 16_384;
    sysctls.apply(&mut zones);
    let config = MemoryConfig {
        max_order: order(13),
        pageblock_order: order(11),
        switches: Era::Linux6_12.switches(),
        ..MemoryConfig::linux(&zones, 3)
    };
    let builder =
        MemoryBuilder::new(&ranges, 3).page_bytes(16_384).orders(order(13), order(11)).era(Era::Linux6_12);
    assert_eq!(builder.required_bytes::<Host>(), required_bytes::<Host>(&config));
    let mut metadata = bytes(&builder);
    let memory = builder.build::<Host>(&mut metadata).expect("a zone");
    let zone = &memory.zones()[0];
    assert_eq!(zone.watermarks(), zones[0].watermarks);
    assert_eq!(zone.percpu_settings(2), Some(zones[0].percpu));
    assert_eq!((zone.max_order(), zone.pageblock_order()), (order(13), order(11)));
}

#[test]
fn empty_and_overlapping_ranges_are_refused() {
    let build = |ranges: &[core::ops::Range<Pfn>]| {
        let builder = MemoryBuilder::new(ranges, 1);
        builder.build::<Host>(&mut bytes(&builder)).map(|_| ()).expect_err("no memory")
    };
    assert_eq!(build(&[]), SetupError::EmptyZone);
    assert_eq!(build(&[Pfn(7)..Pfn(7)]), SetupError::EmptyZone);
    let twice = [Pfn(0x100)..Pfn(0x200), Pfn(0x1ff)..Pfn(0x300)];
    assert_eq!(build(&twice), SetupError::OverlappingZones { at: Pfn(0x1ff) });
    let all = core::slice::from_ref(&(Pfn(0)..Pfn(u64::MAX)));
    assert_eq!(MemoryBuilder::new(all, 1).build::<Host>(&mut []).map(|_| ()), Err(SetupError::ZoneTooLarge));
}

#[test]
fn a_static_is_built_once() {
    static MEMORY: StaticMemory<Host> = StaticMemory::new();
    let ranges = [Pfn(0x100)..Pfn(0x200)];
    let builder = MemoryBuilder::new(&ranges, 1);
    let memory = builder.build_static(&MEMORY, Box::leak(bytes(&builder).into())).expect("not set up before");
    assert_eq!(memory.zones()[0].free_pages(), 0x100);
    let again = builder.build_static(&MEMORY, Box::leak(bytes(&builder).into())).map(|_| ());
    assert_eq!(again, Err(SetupError::AlreadySetUp));
}
