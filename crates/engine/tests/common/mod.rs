//! A small machine and a repeatable random sequence for the tests.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod dump;

use core::mem::MaybeUninit;

use fastrand::Rng;
use freehold::{
    Era, GfpFlags, Memory, MemoryConfig, Migratetype, Order, PerCpuSettings, Pfn, Request, Sections,
    Switches, Watermarks, Zone, ZoneConfig, ZoneType, required_bytes,
};

/// The locks of the tests.
pub(crate) type Platform = (parking_lot::RawMutex, parking_lot::RawMutex);

/// A zone with an odd start and end and small marks.
pub(crate) fn zone(kind: ZoneType, start: u64, spanned: u64) -> ZoneConfig {
    ZoneConfig {
        node: 0,
        kind,
        start: Pfn(start),
        spanned,
        // Large enough for a reserve for atomic requests.
        managed: 60_000,
        watermarks: Watermarks { min: 32, low: 40, high: 48 },
        lowmem_reserve: [0; 6],
        percpu: PerCpuSettings { batch: 7, high_min: 28, high_max: 200, flush_needs_batch: false },
    }
}

/// A machine of the given zones.
pub(crate) fn config(zones: &[ZoneConfig], switches: Switches) -> MemoryConfig<'_> {
    MemoryConfig {
        zones,
        sections: Sections::ALL,
        cpus: 2,
        max_order: Order::MAX_PAGE_ORDER,
        pageblock_order: order(9),
        huge_pages: true,
        switches,
        watermark_boost_factor: None,
    }
}

/// The order with this number.
pub(crate) fn order(value: u8) -> Order {
    Order::new(value).expect("an order up to 18")
}

/// Bytes for a machine's metadata.
pub(crate) fn metadata(config: &MemoryConfig<'_>) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); required_bytes::<Platform>(config)]
}

/// Sets a machine up with all frames of all zones free.
pub(crate) fn all_free<'m>(
    config: &MemoryConfig<'_>,
    metadata: &'m mut [MaybeUninit<u8>],
) -> Memory<'m, Platform> {
    let memory = Memory::new(config, metadata).expect("a valid configuration");
    for zone in config.zones {
        let target = memory.zone_of(zone.start).expect("the zone that was configured");
        target.add_free(zone.start, zone.spanned).expect("absent frames");
    }
    memory
}

/// A repeatable generator.
pub(crate) struct Random(Rng);

impl Random {
    /// A sequence of its own for every seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.u64(..bound)
    }
}

/// Returns every era, and every era with each system and rule of placement turned over; sets that the engine cannot
/// tell apart once.
pub(crate) fn all_switch_sets() -> Vec<(String, Switches)> {
    let mut sets: Vec<(String, Switches)> = Vec::new();
    for (name, switches) in named_switch_sets() {
        if !sets.iter().any(|(_, kept)| kept.in_effect() == switches.in_effect()) {
            sets.push((name, switches));
        }
    }
    sets
}

/// Returns the eras and then the other sets, by each name, also those that are the same in effect.
pub(crate) fn named_switch_sets() -> Vec<(String, Switches)> {
    let mut sets: Vec<_> = Era::ALL.map(|era| (era.name().to_owned(), era.switches())).into();
    for era in Era::ALL {
        for switch in freehold::Switch::all() {
            for on in [false, true] {
                let name = format!("{} with {} {on}", era.name(), switch.name());
                sets.push((name, switch.set(era.switches(), on)));
            }
        }
    }
    sets
}

/// Per-CPU lists that keep nothing.
pub(crate) const NO_LISTS: PerCpuSettings =
    PerCpuSettings { batch: 1, high_min: 0, high_max: 0, flush_needs_batch: false };

/// Per-CPU lists that keep what they get.
pub(crate) const LONG_LISTS: PerCpuSettings =
    PerCpuSettings { batch: 1, high_min: 1000, high_max: 1000, flush_needs_batch: false };

/// A zone without marks or per-CPU lists, all of it managed.
pub(crate) fn plain_zone(start: u64, spanned: u64) -> ZoneConfig {
    ZoneConfig {
        managed: spanned,
        watermarks: Watermarks::default(),
        percpu: NO_LISTS,
        ..zone(ZoneType::Normal, start, spanned)
    }
}

/// A machine of the given zones and geometry.
pub(crate) fn geometry(zones: &[ZoneConfig], switches: Switches, block: u8, max: u8) -> MemoryConfig<'_> {
    MemoryConfig {
        max_order: order(max),
        pageblock_order: order(block),
        huge_pages: block < max,
        ..config(zones, switches)
    }
}

/// What CPU 0 of node 0 asks for.
pub(crate) fn request(gfp: GfpFlags, size: u8) -> Request {
    Request { cpu: 0, node: 0, order: order(size), gfp }
}

/// The frames at the heads of a free list's blocks.
pub(crate) fn listed(zone: &Zone<'_, Platform>, size: u8, kind: Migratetype) -> Vec<u64> {
    zone.free_list(order(size), kind).map(|pfn| pfn.0).collect()
}

/// Lists of one length, whatever happens.
pub(crate) fn fixed_lists(batch: u32, high: u32) -> PerCpuSettings {
    PerCpuSettings { batch, high_min: high, high_max: high, flush_needs_batch: false }
}
