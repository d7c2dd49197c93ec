//! The thresholds that end a recording, the same as those of `freehold watch`.

use std::ops::ControlFlow;
use std::path::Path;

use freehold_linux::pageblocks::Pace;
use freehold_linux::sample::Sampler;
use freehold_linux::sensor::Choice;
use freehold_monitor::series::Monitor;
use freehold_monitor::threshold::Zones;

use super::thresholds::Thresholds;
use crate::args::Triggers;
use crate::exit::Failure;

/// Samples this machine and compares it with the thresholds.
pub(super) struct Lookout {
    sampler: Sampler,
    monitor: Monitor,
    thresholds: Thresholds,
}

impl Lookout {
    /// Opens a lookout if there are thresholds. Fails if one can never be passed on this machine.
    pub(super) fn new(until: &Triggers) -> Result<Option<Self>, Failure> {
        let zones = Zones { name: until.zone.clone(), node: until.node };
        let thresholds = Thresholds::new(&until.above, &until.below, zones);
        if thresholds.is_empty() {
            return Ok(None);
        }
        // `/proc`, not BPF: the kernel would compile the BPF programs while it is recorded.
        let mut sampler = Sampler::open(Path::new("/"), Choice::Procfs)?;
        if thresholds.need_pageblocks() {
            sampler.survey_pageblocks(Pace::Unseen);
        }
        let mut monitor = Monitor::new(sampler.machine().clone());
        thresholds.check(&monitor.take(sampler.sample()?))?;
        Ok(Some(Self { sampler, monitor, thresholds }))
    }

    /// Takes a sample. Breaks with the measured value if a threshold is passed. A failed reading is
    /// ignored and tried again at the next look.
    pub(super) fn look(&mut self) -> ControlFlow<String> {
        let Ok(sample) = self.sampler.sample() else { return ControlFlow::Continue(()) };
        let model = self.monitor.take(sample);
        match self.thresholds.passed(&model).flatten().next() {
            Some(seen) => ControlFlow::Break(seen),
            None => ControlFlow::Continue(()),
        }
    }
}
