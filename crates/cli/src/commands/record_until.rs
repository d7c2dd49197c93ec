//! What `freehold record` waits for besides failures: the thresholds that `freehold watch` knows.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::anyhow;
use freehold_linux::sample::Sampler;
use freehold_linux::sensor::Choice;
use freehold_monitor::model::Model;
use freehold_monitor::series::Monitor;
use freehold_monitor::threshold::{Side, Threshold, Zones};

use crate::args::Triggers;
use crate::exit::{Cause, Failure};

/// Looks at this machine and says when one of the thresholds is passed.
pub(crate) struct Thresholds {
    sampler: Sampler,
    monitor: Monitor,
    zones: Zones,
    wanted: Vec<(Threshold, Side)>,
}

impl Thresholds {
    /// The thresholds, if there are any; refuses those that can never be passed.
    pub(crate) fn new(until: &Triggers) -> Result<Option<Self>, Failure> {
        let above = until.above.iter().map(|&threshold| (threshold, Side::Above));
        let below = until.below.iter().map(|&threshold| (threshold, Side::Below));
        let wanted: Vec<_> = above.chain(below).collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        // BPF would have its programs built while the machine is recorded.
        let mut sampler = Sampler::open(Path::new("/"), Choice::Procfs)?;
        let mut monitor = Monitor::new(sampler.machine().clone());
        let model = monitor.take(sampler.sample()?);
        let zones = Zones { name: until.zone.clone(), node: until.node };
        if !zones.exist_in(&model) {
            let known: Vec<_> = model.zones.iter().map(freehold_monitor::model::ZoneModel::title).collect();
            let what = anyhow!("this machine has no such zone; it has {}", known.join("; "));
            return Err(Failure::new(Cause::Input, what));
        }
        let pressure = wanted.iter().find(|(threshold, _)| threshold.quantity.needs_pressure());
        if let (Some((threshold, _)), None) = (pressure, model.pressure) {
            let what = anyhow!(
                "{} cannot be measured: this kernel has no /proc/pressure/memory",
                threshold.quantity
            );
            return Err(Failure::new(Cause::Machine, what));
        }
        Ok(Some(Self { sampler, monitor, zones, wanted }))
    }

    /// Looks once; breaks with what was measured. What cannot be read now may be read the next time.
    pub(crate) fn look(&mut self) -> ControlFlow<String> {
        let Ok(sample) = self.sampler.sample() else { return ControlFlow::Continue(()) };
        let model = self.monitor.take(sample);
        match self.wanted.iter().find_map(|(threshold, side)| self.passed(*threshold, *side, &model)) {
            Some(seen) => ControlFlow::Break(seen),
            None => ControlFlow::Continue(()),
        }
    }

    fn passed(&self, threshold: Threshold, side: Side, model: &Model) -> Option<String> {
        let measured = threshold.passed(side, model, &self.zones)?;
        let sign = if side == Side::Above { '>' } else { '<' };
        Some(format!("{} = {measured} {sign} {}", threshold.quantity, threshold.value))
    }
}
