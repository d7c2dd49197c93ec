//! Zones of many shapes: holes, odd ends, several nodes, every geometry.

use crate::common::{self, Random, all_free, config, geometry, metadata, order, plain_zone, request, zone};
use freehold::{
    AllocError, Era, FreeError, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order, Pfn, Request,
    SetupError, ZoneConfig, ZoneType, required_bytes,
};

/// Allocates everything in blocks of random orders, and frees it. Returns the number of pages allocated.
fn empty_and_refill(memory: &Memory<'_, common::Host>, seed: u64, context: &str) -> u64 {
    let largest = u64::from(memory.zones()[0].max_order().get()) + 1;
    let gfps = [GfpFlags::KERNEL, GfpFlags::HIGHUSER_MOVABLE, GfpFlags::KERNEL | GfpFlags::RECLAIMABLE];
    let mut random = Random::new(seed);
    let mut in_use = Vec::new();
    let mut misses = 0;
    while misses < 50 {
        let size = random.below(largest) as u8;
        let gfp = gfps[random.below(3) as usize] | GfpFlags::MEMALLOC;
        match memory.alloc(request(gfp, if misses > 25 { 0 } else { size }), NoReclaim) {
            Ok(pfn) => in_use.push((pfn, order(if misses > 25 { 0 } else { size }))),
            Err(_) => misses += 1,
        }
        memory.check().unwrap_or_else(|broken| panic!("{context}: {broken}"));
    }
    let mut frames: Vec<u64> = in_use.iter().flat_map(|&(pfn, size)| pfn.0..pfn.0 + size.pages()).collect();
    let taken = frames.len();
    frames.sort_unstable();
    frames.dedup();
    assert_eq!(frames.len(), taken, "{context}: a page was allocated twice");
    while !in_use.is_empty() {
        let at = random.below(in_use.len() as u64) as usize;
        let (pfn, size) = in_use.swap_remove(at);
        memory.free(0, pfn, size).unwrap_or_else(|error| panic!("{context}: {pfn}: {error}"));
    }
    memory.drain_all();
    memory.check().unwrap_or_else(|broken| panic!("{context}: {broken}"));
    assert_eq!(memory.zones().iter().map(freehold::Zone::free_pages).sum::<u64>(), taken as u64, "{context}");
    taken as u64
}

#[test]
fn every_geometry_allocates_and_frees_every_page() {
    for (block, max) in [(1, 1), (1, 3), (3, 3), (3, 5), (4, 4), (9, 10), (10, 10)] {
        for era in [Era::Linux6_1, Era::Freehold] {
            for (start, pages) in [(0x400, 1024), (0x3ff, 1026), (0x401, 1), (0x7fe, 3), (0, 1500)] {
                let zones =
                    [ZoneConfig { percpu: zone(ZoneType::Normal, 0, 1).percpu, ..plain_zone(start, pages) }];
                let config = geometry(&zones, era.switches(), block, max);
                let mut bytes = metadata(&config);
                let memory = all_free(&config, &mut bytes);
                let context = format!("{}, orders {block}/{max}, {pages} pages at {start:#x}", era.name());
                assert_eq!(empty_and_refill(&memory, pages, &context), pages, "{context}");
            }
        }
    }
}

#[test]
fn holes_and_reserved_frames_are_never_given_away() {
    for era in Era::ALL {
        let zones = [plain_zone(0x3f9, 300)];
        let config = geometry(&zones, era.switches(), 4, 6);
        let mut bytes = metadata(&config);
        let memory = Memory::<common::Host>::new(&config, &mut bytes).expect("valid");
        let zone = &memory.zones()[0];
        // Of every 37 frames, three are a hole and one is reserved.
        for start in (0x3f9..0x3f9 + 259).step_by(37) {
            zone.add_free(Pfn(start), 33).expect("absent frames");
            zone.add_reserved(Pfn(start + 33), 1).expect("an absent frame");
        }
        assert_eq!(empty_and_refill(&memory, 5, era.name()), 7 * 33);
        assert_eq!(memory.free(0, Pfn(0x3f9 + 34), order(0)), Err(FreeError::OutsideZones));
        assert_eq!(memory.free(0, Pfn(0x3f9 + 33), order(0)), Err(FreeError::NotAllocated));
        let again = zone.add_free(Pfn(0x3f9 + 32), 2);
        assert_eq!(again, Err(SetupError::OverlappingZones { at: Pfn(0x3f9 + 32) }));
        zone.add_free(Pfn(0x3f9 + 34), 3).expect("hotplug fills a hole");
        memory.check().expect("intact");
        assert_eq!(zone.free_pages(), 7 * 33 + 3);
    }
}

/// Returns the zones of two nodes: node 0 has zones DMA32 and Normal, node 1 only zone Normal.
fn two_nodes() -> [ZoneConfig; 3] {
    [
        ZoneConfig { kind: ZoneType::Dma32, ..plain_zone(0x400, 64) },
        plain_zone(0x800, 64),
        ZoneConfig { node: 1, ..plain_zone(0x1000, 64) },
    ]
}

#[test]
fn a_request_goes_through_its_own_node_first() {
    let zones = two_nodes();
    let config = geometry(&zones, Era::Linux7_3.switches(), 4, 5);
    for (node, starts) in [(0, [0x800, 0x400, 0x1000]), (1, [0x1000, 0x800, 0x400])] {
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        let ask = |gfp| memory.alloc(Request { node, ..request(gfp, 5) }, NoReclaim).map(|pfn| pfn.0 & !0x3f);
        for start in starts {
            assert_eq!(
                [ask(GfpFlags::HIGHUSER_MOVABLE), ask(GfpFlags::KERNEL)],
                [Ok(start); 2],
                "node {node}"
            );
        }
        assert_eq!(ask(GfpFlags::KERNEL), Err(AllocError::NoMemory));
        memory.check().expect("intact");
    }
}

#[test]
fn a_request_for_one_node_or_zone_stays_there() {
    let zones = two_nodes();
    let config = geometry(&zones, Era::Freehold.switches(), 4, 5);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let here = GfpFlags::KERNEL | GfpFlags::THISNODE;
    let count = |gfp, node| {
        core::iter::from_fn(|| memory.alloc(Request { node, ..request(gfp, 4) }, NoReclaim).ok()).count()
    };
    assert_eq!(count(GfpFlags::KERNEL | GfpFlags::DMA32, 1), 4, "node 0 has the only such zone");
    assert_eq!(count(here, 1), 4);
    assert_eq!(count(here, 0), 4, "the normal zone is all that is left");
    assert_eq!(count(GfpFlags::HIGHUSER_MOVABLE, 1), 0);
}

#[test]
fn absent_node_is_refused() {
    // Node 1 has no zones, as a node without memory has none.
    let zones = [plain_zone(0x400, 64), ZoneConfig { node: 2, ..plain_zone(0x800, 64) }];
    for gfp in [GfpFlags::KERNEL, GfpFlags::KERNEL | GfpFlags::THISNODE, GfpFlags::GFP_ATOMIC] {
        let config = geometry(&zones, Era::Freehold.switches(), 4, 5);
        let mut bytes = metadata(&config);
        let memory = all_free(&config, &mut bytes);
        for (node, size) in [(3, 0), (3, 4), (u16::MAX, 0)] {
            let ask = Request { node, ..request(gfp, size) };
            assert_eq!(memory.alloc(ask, NoReclaim), Err(AllocError::NoSuchNode));
            assert_eq!(memory.alloc_bulk(ask, &mut [None; 4]), 0);
            let mut owner = memory.exclusive(0).expect("a CPU");
            assert_eq!(owner.alloc(ask), Err(AllocError::NoSuchNode));
            assert_eq!(owner.alloc_batch(ask, &mut [None; 4]), 0);
            // A request for a node that is there comes through afterwards.
            owner.alloc(Request { node: 2, ..ask }).expect("free pages");
            drop(owner);
            assert_eq!(memory.alloc_contig_pages(ask, 4, &mut ()), Err(AllocError::NoSuchNode));
        }
        let nearest =
            memory.alloc(Request { node: 1, ..request(gfp, 0) }, NoReclaim).map(|pfn| pfn.0 >= 0x800);
        let only = gfp.contains(GfpFlags::THISNODE);
        assert_eq!(nearest, if only { Err(AllocError::NoMemory) } else { Ok(true) });
    }
}

#[test]
fn largest_node_number_is_accepted() {
    let zones = [ZoneConfig { node: u16::MAX, ..plain_zone(0x400, 64) }];
    let config = geometry(&zones, Era::Freehold.switches(), 4, 5);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    for node in [0, 1, u16::MAX - 1, u16::MAX] {
        for size in [0, 2] {
            memory.alloc(Request { node, ..request(GfpFlags::KERNEL, size) }, NoReclaim).expect("free pages");
        }
    }
    let mut text = String::new();
    memory.write_pagetypeinfo(&mut text, freehold::PageTypeRows::default()).expect("a string");
    assert!(text.contains("Node 65535"), "{text}");
    memory.check().expect("intact");
}

#[test]
fn a_request_that_must_not_fail_may_fail() {
    let zones = [plain_zone(0x400, 64)];
    let config = geometry(&zones, Era::Freehold.switches(), 4, 5);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let ask = || memory.alloc(request(GfpFlags::KERNEL | GfpFlags::NOFAIL, 5), NoReclaim);
    assert!(ask().is_ok() && ask().is_ok());
    assert_eq!(ask(), Err(AllocError::NoMemory), "an answer, as the documentation says, not a hang");
}

#[test]
fn local_memory_matters_more_than_unmixed_blocks() {
    let zones = two_nodes();
    let config = geometry(&zones, Era::Linux7_3.switches(), 4, 5);
    let mut bytes = metadata(&config);
    let memory = Memory::<common::Host>::new(&config, &mut bytes).expect("valid");
    let [low, local, remote] = [0, 1, 2].map(|number| &memory.zones()[number]);
    low.add_reserved(Pfn(0x400), 64).expect("absent frames");
    local.add_allocated(Pfn(0x800), order(3), Migratetype::Movable).expect("absent frames");
    local.add_allocated(Pfn(0x808), order(2), Migratetype::Movable).expect("absent frames");
    local.add_free(Pfn(0x80c), 4).expect("absent frames");
    remote.add_free(Pfn(0x1000), 64).expect("absent frames");
    assert_eq!(memory.alloc(request(GfpFlags::KERNEL, 0), NoReclaim), Ok(Pfn(0x80c)), "mixed, yet local");
    memory.check().expect("intact");
}

#[test]
fn impossible_machines_are_refused() {
    let era = Era::Freehold.switches();
    let good = [plain_zone(0x400, 64)];
    let overlapping = [plain_zone(0x400, 64), ZoneConfig { kind: ZoneType::Dma32, ..plain_zone(0x430, 64) }];
    let set_up = |config: &MemoryConfig<'_>| {
        let mut bytes = metadata(config);
        Memory::<common::Host>::new(config, &mut bytes).map(|_| ())
    };
    assert_eq!(set_up(&geometry(&good, era, 4, 5)), Ok(()));
    assert_eq!(set_up(&geometry(&good, era, 5, 4)), Err(SetupError::BadPageblockOrder));
    assert_eq!(set_up(&geometry(&good, era, 0, 4)), Ok(()));
    assert_eq!(set_up(&geometry(&[], era, 4, 5)), Err(SetupError::EmptyZone));
    let at = Pfn(0x430);
    assert_eq!(set_up(&geometry(&overlapping, era, 4, 5)), Err(SetupError::OverlappingZones { at }));
    let config = geometry(&good, era, 4, 5);
    assert_eq!(set_up(&MemoryConfig { cpus: 0, ..config }), Err(SetupError::NoCpu));
    let mut bytes = metadata(&config);
    let given = bytes.len() / 2;
    let too_small = Memory::<common::Host>::new(&config, &mut bytes[..given]).map(|_| ());
    assert!(matches!(too_small, Err(SetupError::MetadataTooSmall { given: was, .. }) if was == given));
}

/// Compares the metadata sizes of machines with the sizes before orders above 10 existed.
#[test]
fn unused_orders_cost_no_metadata() {
    let large = [
        zone(ZoneType::Dma, 1, 0xfff),
        zone(ZoneType::Dma32, 0x1000, 0xf_f000),
        zone(ZoneType::Normal, 0x10_0000, 0x10_0000),
    ];
    let small = [zone(ZoneType::Normal, 0x400, 0x4000)];
    let many_cpus = [zone(ZoneType::Normal, 0x10_0000, 1 << 24)];
    for (zones, cpus, before) in
        [(&small[..], 1, 171_358), (&large[..], 2, 21_117_252), (&many_cpus[..], 64, 169_719_220)]
    {
        for era in Era::ALL {
            let config = MemoryConfig { cpus, ..config(zones, era.switches()) };
            let now = required_bytes::<common::Host>(&config);
            // One bit per page, in words of four bytes.
            let pages: u64 = zones.iter().map(|zone| zone.spanned + 1024).sum();
            let marks = if era.switches().marks_movable_pages { pages as usize / 8 } else { 0 };
            // 16 places for each of fifteen lists of blocks of orders 4 to 8.
            let lists = if era.switches().percpu_large_orders { 15 * 16 * 4 } else { 0 };
            let before = before + marks + lists * zones.len() * usize::from(cpus);
            assert!(now <= before, "{} with {cpus} CPUs: {now} bytes, {before} before", era.name());
        }
    }
}

/// Blocks of 1 GiB with pages of 4 KiB, as a virtual machine monitor uses them.
#[test]
fn the_largest_blocks_are_allocated_counted_and_printed() {
    let zones = [ZoneConfig { managed: 3 << 18, ..plain_zone(0x5_0003, 3 << 18) }];
    let config = geometry(&zones, Era::Freehold.switches(), 9, 18);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let gib = request(GfpFlags::HIGHUSER_MOVABLE, 18);
    let first = memory.alloc(gib, NoReclaim).expect("two whole blocks");
    let second = memory.alloc(gib, NoReclaim).expect("two whole blocks");
    assert!(first.is_aligned(Order::MAX) && second.is_aligned(Order::MAX) && first != second);
    assert_eq!(memory.alloc(gib, NoReclaim), Err(AllocError::NoMemory));
    let stats = memory.request_stats();
    assert_eq!((stats.allocs[18], stats.failures[18]), (2, 1));
    memory.free(0, first, Order::MAX).expect("allocated");
    assert_eq!(memory.zones()[0].counts_relaxed().total[18], 1);
    let mut text = String::new();
    memory.write_buddyinfo(&mut text).expect("a string");
    assert_eq!(text.split_whitespace().skip(4).count(), 19, "{text}");
    memory.free(0, second, Order::MAX).expect("allocated");
    memory.check().expect("intact");
}
