//! What `freehold record` waits for besides failures: the thresholds that `freehold watch` knows.

use std::ops::ControlFlow;
use std::path::Path;

use freehold_linux::sample::Sampler;
use freehold_linux::sensor::Choice;
use freehold_monitor::series::Monitor;
use freehold_monitor::threshold::Zones;

use super::thresholds::Thresholds;
use crate::args::Triggers;
use crate::exit::Failure;

/// Looks at this machine and says when one of the thresholds is passed.
pub(super) struct Lookout {
    sampler: Sampler,
    monitor: Monitor,
    thresholds: Thresholds,
}

impl Lookout {
    /// A lookout for the thresholds, if there are any; refuses those that can never be passed.
    pub(super) fn new(until: &Triggers) -> Result<Option<Self>, Failure> {
        let zones = Zones { name: until.zone.clone(), node: until.node };
        let thresholds = Thresholds::new(&until.above, &until.below, zones);
        if thresholds.is_empty() {
            return Ok(None);
        }
        // BPF would have its programs built while the machine is recorded.
        let mut sampler = Sampler::open(Path::new("/"), Choice::Procfs)?;
        let mut monitor = Monitor::new(sampler.machine().clone());
        thresholds.check(&monitor.take(sampler.sample()?))?;
        Ok(Some(Self { sampler, monitor, thresholds }))
    }

    /// Looks once; breaks with what was measured. What cannot be read now may be read the next time.
    pub(super) fn look(&mut self) -> ControlFlow<String> {
        let Ok(sample) = self.sampler.sample() else { return ControlFlow::Continue(()) };
        let model = self.monitor.take(sample);
        match self.thresholds.passed(&model).flatten().next() {
            Some(seen) => ControlFlow::Break(seen),
            None => ControlFlow::Continue(()),
        }
    }
}
