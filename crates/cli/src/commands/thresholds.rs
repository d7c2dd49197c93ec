//! Thresholds to wait for, and the zones that they apply to.

use anyhow::anyhow;
use freehold_monitor::model::{Model, ZoneModel};
use freehold_monitor::threshold::{Quantity, Side, Threshold, Zones};

use super::request::refuse_larger;
use crate::exit::{Cause, Failure};

/// Thresholds to wait for.
pub(super) struct Thresholds {
    wanted: Vec<(Threshold, Side)>,
    zones: Zones,
}

impl Thresholds {
    pub(super) fn new(above: &[Threshold], below: &[Threshold], zones: Zones) -> Self {
        let above = above.iter().map(|&threshold| (threshold, Side::Above));
        let below = below.iter().map(|&threshold| (threshold, Side::Below));
        Self { wanted: above.chain(below).collect(), zones }
    }

    /// Returns true if a threshold takes a survey of pageblocks.
    pub(super) fn need_pageblocks(&self) -> bool {
        self.wanted.iter().any(|(threshold, _)| threshold.quantity.needs_pageblocks())
    }

    /// Returns true if there are no thresholds.
    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Fails if a threshold can never be passed on this machine.
    pub(super) fn check(&self, model: &Model) -> Result<(), Failure> {
        if !self.zones.exist_in(model) {
            let known: Vec<_> = model.zones.iter().map(ZoneModel::title).collect();
            let what = anyhow!("this machine has no such zone; it has {}", known.join("; "));
            return Err(Failure::new(Cause::Usage, what));
        }
        let mut quantities = self.wanted.iter().map(|(threshold, _)| threshold.quantity);
        for order in quantities.clone().filter_map(Quantity::order) {
            refuse_larger(order, model.largest_order(), model.machine.page_bytes)?;
        }
        if self.need_pageblocks() {
            // Before the first round nothing is known of any pageblock, and notes say what keeps it from ever being so.
            let survey = model.notes.iter().find(|note| note.contains("kpageflags"));
            if let (Some(note), None) = (survey, &model.map) {
                return Err(Failure::new(Cause::Machine, anyhow!("the verdict is unknown: {note}")));
            }
        }
        match quantities.find(|quantity| quantity.needs_pressure()) {
            Some(quantity) if model.pressure.is_none() => {
                let what = anyhow!("{quantity} cannot be measured: this kernel has no /proc/pressure/memory");
                Err(Failure::new(Cause::Machine, what))
            }
            _ => Ok(()),
        }
    }

    /// Returns the thresholds, each with the value of now.
    pub(super) fn waiting(&self, model: &Model) -> String {
        let each = self.wanted.iter().map(|(threshold, side)| {
            let sign = if *side == Side::Above { '>' } else { '<' };
            let now = threshold.quantity.measure(model, &self.zones);
            let now = now.map_or("not known yet".to_owned(), |now| format!("{now} now"));
            format!("{} {sign} {} ({now})", threshold.quantity, threshold.value)
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// Returns for each threshold the measured value if it is passed, otherwise `None`. A verdict has
    /// with it the one thing to do.
    pub(super) fn passed<'m>(&'m self, model: &'m Model) -> impl Iterator<Item = Option<String>> + 'm {
        self.wanted.iter().map(|(threshold, side)| {
            let measured = threshold.passed(*side, model, &self.zones)?;
            let sign = if *side == Side::Above { '>' } else { '<' };
            let passed = format!("{} = {measured} {sign} {}", threshold.quantity, threshold.value);
            let verdict = model.verdicts.first().filter(|_| threshold.quantity == Quantity::Verdict);
            let action = verdict.and_then(|verdict| verdict.action.as_ref());
            Some(action.map_or(passed.clone(), |action| format!("{passed}: {action}")))
        })
    }
}
