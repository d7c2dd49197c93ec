//! Sample in, model out, with what only a series of samples can tell.

use freehold_linux::procfs::Machine;
use freehold_linux::sample::Sample;

use crate::history::History;
use crate::model::Model;
use crate::trend::trend;

/// The order that trends are about where the pageblock order is not known: 2 MiB in pages of 4 KiB.
const USUAL_PAGEBLOCK_ORDER: u8 = 9;

/// How far back a trend looks, in seconds.
const TREND_SECONDS: f64 = 300.0;

/// Turns one sample after the other into models.
pub struct Monitor {
    machine: Machine,
    last: Option<Sample>,
    history: History,
}

impl Monitor {
    /// A monitor of `machine` that has seen nothing yet.
    pub fn new(machine: Machine) -> Self {
        Self { machine, last: None, history: History::default() }
    }

    /// What `sample` says, against the one before and all since the start.
    pub fn take(&mut self, sample: Sample) -> Model {
        let mut model = Model::new(&self.machine, self.last.as_ref(), &sample);
        self.history.note(model.unix_ms, &model.zones);
        let order = usize::from(model.pageblock_order.unwrap_or(USUAL_PAGEBLOCK_ORDER));
        for zone in &mut model.zones {
            zone.trend = trend(&self.history.blocks_over(zone.node, &zone.name, order, TREND_SECONDS));
        }
        self.last = Some(sample);
        model
    }

    /// What the samples were.
    pub fn history(&self) -> &History {
        &self.history
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use freehold::MAX_ORDERS;
    use freehold_linux::sensor::{FreeBlocks, Source, ZoneFreeBlocks};
    use freehold_trace::FreeCount;

    use super::*;
    use crate::model::ZoneModel;

    /// A sample of one zone with so many free pages, all of order 0.
    pub(crate) fn sample(second: u64, name: &str, free: u64) -> Sample {
        let mut total = [FreeCount::default(); MAX_ORDERS];
        total[0].blocks = free;
        let zone = ZoneFreeBlocks { name: name.to_owned(), total, ..ZoneFreeBlocks::default() };
        let free = FreeBlocks {
            source: Source::Buddyinfo,
            time_ns: second * 1_000_000_000,
            cost_ns: 1000,
            types_time_ns: None,
            pageblock_order: Some(0),
            types: Vec::new(),
            zones: vec![zone],
        };
        let counters = BTreeMap::new();
        Sample {
            unix_ms: second * 1000,
            free,
            zones: Vec::new(),
            counters,
            pressure: None,
            pageblocks: None,
            notes: Vec::new(),
        }
    }

    /// A zone with so many free pages, all of order 0.
    pub(crate) fn zone(name: &str, free: u64) -> ZoneModel {
        Model::new(&Machine::default(), None, &sample(0, name, free)).zones.remove(0)
    }

    #[test]
    fn a_zone_that_runs_dry_is_foretold() {
        let mut monitor = Monitor::new(Machine::default());
        let models: Vec<_> =
            (0..60).map(|second| monitor.take(sample(second, "Normal", 1000 - 10 * second))).collect();
        assert_eq!(models[1].zones[0].trend, None, "two points are no trend");
        let trend = models[59].zones[0].trend.unwrap();
        assert!((trend.exhausted_in_s.unwrap() - 41.0).abs() < 1e-6);
    }
}
