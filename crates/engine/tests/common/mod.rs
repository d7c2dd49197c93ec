//! Small machines and repeatable random numbers for the tests.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod dump;

use core::mem::MaybeUninit;

use fastrand::Rng;
use freehold::{
    Era, GfpFlags, Memory, MemoryConfig, Migratetype, Order, PerCpuSettings, Pfn, Request, Sections,
    Switches, Watermarks, Zone, ZoneConfig, ZoneType, required_bytes,
};

/// The platform of the tests.
#[derive(Debug)]
pub(crate) struct Host;

impl freehold::Platform for Host {
    type ZoneLock = parking_lot::RawMutex;
    type PerCpuLock = parking_lot::RawMutex;
    type Tracepoints = ();
    type Rule = ();
}

/// Returns a zone with an odd start and end, and small watermarks.
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

/// Returns the configuration of a machine with these zones.
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

/// Returns the order with this number.
pub(crate) fn order(value: u8) -> Order {
    Order::new(value).expect("an order up to 18")
}

/// Returns bytes for a machine's metadata.
pub(crate) fn metadata(config: &MemoryConfig<'_>) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); required_bytes::<Host>(config)]
}

/// Sets a machine up with all frames of all zones free.
pub(crate) fn all_free<'m>(
    config: &MemoryConfig<'_>,
    metadata: &'m mut [MaybeUninit<u8>],
) -> Memory<'m, Host> {
    let memory = Memory::new(config, metadata).expect("a valid configuration");
    for zone in config.zones {
        let target = memory.zone_of(zone.start).expect("the zone that was configured");
        target.add_free(zone.start, zone.spanned).expect("absent frames");
    }
    memory
}

/// A repeatable generator of random numbers.
pub(crate) struct Random(Rng);

impl Random {
    /// Returns a generator. Each seed gives another sequence.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// Returns the next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.u64(..bound)
    }
}

/// Returns every era, and every era with each system and rule of placement switched over. Sets that are equal in effect
/// appear once.
pub(crate) fn all_switch_sets() -> Vec<(String, Switches)> {
    let mut sets: Vec<(String, Switches)> = Vec::new();
    for (name, switches) in named_switch_sets() {
        if !sets.iter().any(|(_, kept)| kept.in_effect() == switches.in_effect()) {
            sets.push((name, switches));
        }
    }
    sets
}

/// Returns the eras and then the other sets with their names, including sets that are equal in effect.
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

/// Settings of per-CPU lists that keep no pages.
pub(crate) const NO_LISTS: PerCpuSettings =
    PerCpuSettings { batch: 1, high_min: 0, high_max: 0, flush_needs_batch: false };

/// Settings of per-CPU lists that keep all pages.
pub(crate) const LONG_LISTS: PerCpuSettings =
    PerCpuSettings { batch: 1, high_min: 1000, high_max: 1000, flush_needs_batch: false };

/// Returns a zone without watermarks and per-CPU lists. All of its pages are managed.
pub(crate) fn plain_zone(start: u64, spanned: u64) -> ZoneConfig {
    ZoneConfig {
        managed: spanned,
        watermarks: Watermarks::default(),
        percpu: NO_LISTS,
        ..zone(ZoneType::Normal, start, spanned)
    }
}

/// Returns the configuration of a machine with these zones and orders.
pub(crate) fn geometry(zones: &[ZoneConfig], switches: Switches, block: u8, max: u8) -> MemoryConfig<'_> {
    MemoryConfig {
        max_order: order(max),
        pageblock_order: order(block),
        huge_pages: block < max,
        ..config(zones, switches)
    }
}

/// Returns a request of CPU 0 to node 0.
pub(crate) fn request(gfp: GfpFlags, size: u8) -> Request {
    Request { cpu: 0, node: 0, order: order(size), gfp }
}

/// Returns the first frames of a free list's blocks.
pub(crate) fn listed(zone: &Zone<'_, Host>, size: u8, kind: Migratetype) -> Vec<u64> {
    zone.free_list(order(size), kind).map(|pfn| pfn.0).collect()
}

/// Returns settings of per-CPU lists with a fixed `high`.
pub(crate) fn fixed_lists(batch: u32, high: u32) -> PerCpuSettings {
    PerCpuSettings { batch, high_min: high, high_max: high, flush_needs_batch: false }
}
