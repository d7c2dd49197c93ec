//! Makes models of a series of samples.

use std::time::Instant;

use freehold_linux::procfs::Machine;
use freehold_linux::sample::Sample;

use super::history::History;
use crate::model::{Model, trend};
use crate::verdict::{NeededBlocks, Standing, standing};

/// The time that a trend covers, in seconds.
pub(crate) const TREND_SECONDS: f64 = 300.0;

/// The most time that judging takes, as a part of all time: one in so many.
const JUDGING: u64 = 2000;

/// Makes a model of each sample in turn.
pub struct Monitor {
    machine: Machine,
    last: Option<Sample>,
    history: History,
    needs: Vec<NeededBlocks>,
    verdicts: Vec<Standing>,
    /// The next verdicts are of a sample of this time or later, in milliseconds since 1970.
    judges_at_ms: u64,
}

impl Monitor {
    /// Returns a monitor of `machine` without any samples.
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            last: None,
            history: History::default(),
            needs: Vec::new(),
            verdicts: Vec::new(),
            judges_at_ms: 0,
        }
    }

    /// Names the numbers of blocks that verdicts are about.
    #[must_use]
    pub fn with_needs(self, needs: Vec<NeededBlocks>) -> Self {
        Self { needs, ..self }
    }

    /// Makes the model of `sample`, with rates since the sample before and trends over the series.
    ///
    /// On a machine with so many pageblocks that judging takes more than a 2000th of the time, verdicts are those of
    /// an earlier sample, and say so. The sample that ends the first survey is always judged.
    pub fn take(&mut self, sample: Sample) -> Model {
        let mut model = Model::new(&self.machine, self.last.as_ref(), &sample);
        let turned_back = self.verdicts.first().is_some_and(|verdict| verdict.unix_ms > sample.unix_ms);
        let is_surveyed = sample.pageblocks.as_ref().is_some_and(|surveyed| surveyed.first_round.is_none());
        let is_first = is_surveyed && self.verdicts.iter().any(|verdict| verdict.survey_age_ms.is_none());
        if sample.unix_ms >= self.judges_at_ms || turned_back || is_first {
            let began = Instant::now();
            self.verdicts = standing(&self.machine, &sample, &self.needs);
            let pause_ms = began.elapsed().as_micros() as u64 * JUDGING / 1000;
            self.judges_at_ms = match sample.pageblocks {
                Some(_) => sample.unix_ms.saturating_add(pause_ms),
                None => 0,
            };
        }
        model.verdicts.clone_from(&self.verdicts);
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
    use std::sync::Arc;

    use freehold_linux::pageblocks::{PageblockMap, Surveyed};

    use super::*;
    use crate::sample_tests::sample;

    #[test]
    fn the_end_of_the_first_survey_is_judged_at_once() {
        let mut monitor = Monitor::new(Machine { page_bytes: 4096, ..Machine::default() });
        let of = |second, first_round| {
            let map = Arc::new(PageblockMap { pageblock_order: 9, zones: Vec::new() });
            let surveyed = Surveyed { map, first_round, round_ms: 1, types: None };
            Sample { pageblocks: Some(surveyed), ..sample(second, "Normal", 4) }
        };
        assert_eq!(monitor.take(of(0, Some((0, 0)))).verdicts[0].survey_age_ms, None);
        // However long the first judgement took.
        monitor.judges_at_ms = u64::MAX;
        assert_eq!(monitor.take(of(1, Some((0, 0)))).verdicts[0].unix_ms, 0, "nothing new is known");
        assert_eq!(monitor.take(of(2, None)).verdicts[0].survey_age_ms, Some(1));
    }

    #[test]
    fn falling_numbers_have_a_trend() {
        let mut monitor = Monitor::new(Machine::default());
        let models: Vec<_> =
            (0..60).map(|second| monitor.take(sample(second, "Normal", 1000 - 10 * second))).collect();
        assert_eq!(models[1].zones[0].trend, None, "two points are no trend");
        let trend = models[59].zones[0].trend.unwrap();
        assert!((trend.per_second + 10.0).abs() < 1e-6);
    }
}
