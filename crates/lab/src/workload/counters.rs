//! Counters under the names of `/proc/vmstat`.

use std::collections::BTreeMap;

use freehold::{Memory, Order, Pfn};

use super::fallbacks::HostPlatform;

/// The counters of a generated machine.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    /// The frame after each zone, and the pages allocated in the zone.
    allocated: Vec<(u64, u64)>,
    freed: u64,
    named: BTreeMap<&'static str, u64>,
}

impl Counters {
    pub(super) fn new(memory: &Memory<'_, HostPlatform>) -> Self {
        let allocated = memory.zones().iter().map(|zone| (zone.end().0, 0)).collect();
        Self { allocated, freed: 0, named: BTreeMap::new() }
    }

    /// Counts an allocated block.
    #[inline]
    pub(super) fn allocated(&mut self, pfn: Pfn, order: Order) {
        if let Some((_, pages)) = self.allocated.iter_mut().find(|(end, _)| pfn.0 < *end) {
            *pages += order.pages();
        }
    }

    /// Counts a freed block.
    #[inline]
    pub(super) fn freed(&mut self, order: Order) {
        self.freed += order.pages();
    }

    /// Adds `number` to a counter.
    pub(super) fn add(&mut self, name: &'static str, number: u64) {
        *self.named.entry(name).or_default() += number;
    }

    /// Returns all counters by name, including those of the engine.
    pub(super) fn vmstat(&self, memory: &Memory<'_, HostPlatform>) -> BTreeMap<String, u64> {
        let mut vmstat: BTreeMap<_, _> =
            self.named.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
        let events = serde_json::to_value(memory.vm_events()).unwrap_or_default();
        let events = events.as_object().into_iter().flatten();
        vmstat.extend(events.filter_map(|(name, number)| Some((name.clone(), number.as_u64()?))));
        for (zone, (_, pages)) in memory.zones().iter().zip(&self.allocated) {
            vmstat.insert(format!("pgalloc_{}", zone.kind().name().to_lowercase()), *pages);
        }
        vmstat.insert("pgfree".to_owned(), self.freed);
        let free = memory.zones().iter().map(freehold::Zone::free_pages).sum();
        vmstat.insert("nr_free_pages".to_owned(), free);
        vmstat
    }
}
