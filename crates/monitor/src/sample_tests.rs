//! Samples and zones for tests.

use std::collections::BTreeMap;

use freehold_linux::procfs::Machine;
use freehold_linux::sample::Sample;
use freehold_linux::sensor::{FreeBlocks, Source, ZoneFreeBlocks};
use freehold_trace::{ByOrder, FreeCount, KernelTypes};

use crate::model::{Model, ZoneModel};

/// Returns a sample of one zone with `free` free pages, all of order 0.
pub(super) fn sample(second: u64, name: &str, free: u64) -> Sample {
    let mut total = ByOrder::<FreeCount>::default();
    total[0].blocks = free;
    let zone = ZoneFreeBlocks { name: name.to_owned(), total, ..ZoneFreeBlocks::default() };
    let free = FreeBlocks {
        source: Source::Buddyinfo,
        time_ns: second * 1_000_000_000,
        cost_ns: 1000,
        types_time_ns: None,
        pageblock_order: Some(0),
        types: KernelTypes::default(),
        zones: vec![zone],
    };
    let counters = BTreeMap::new();
    Sample {
        unix_ms: second * 1000,
        free,
        zones: Vec::new(),
        counters,
        swap_pages: 0,
        pressure: None,
        pageblocks: None,
        notes: Vec::new(),
    }
}

/// Returns a zone with `free` free pages, all of order 0.
pub(super) fn zone(name: &str, free: u64) -> ZoneModel {
    Model::new(&Machine::default(), None, &sample(0, name, free)).zones.remove(0)
}
