//! Makes models of a series of samples.

use freehold_linux::procfs::Machine;
use freehold_linux::sample::Sample;

use super::history::History;
use crate::model::{Model, trend};

/// The time that a trend covers, in seconds.
pub(crate) const TREND_SECONDS: f64 = 300.0;

/// Makes a model of each sample in turn.
pub struct Monitor {
    machine: Machine,
    last: Option<Sample>,
    history: History,
}

impl Monitor {
    /// Returns a monitor of `machine` without any samples.
    pub fn new(machine: Machine) -> Self {
        Self { machine, last: None, history: History::default() }
    }

    /// Makes the model of `sample`, with rates since the sample before and trends over the series.
    pub fn take(&mut self, sample: Sample) -> Model {
        let mut model = Model::new(&self.machine, self.last.as_ref(), &sample);
        self.history.note(model.unix_ms, &model.zones);
        let order = model.likely_pageblock_order();
        for zone in &mut model.zones {
            zone.trend = trend(&self.history.blocks_over(zone.node, &zone.name, order, TREND_SECONDS));
        }
        self.last = Some(sample);
        model
    }

    /// Returns the history of the samples.
    pub fn history(&self) -> &History {
        &self.history
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_tests::sample;

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
