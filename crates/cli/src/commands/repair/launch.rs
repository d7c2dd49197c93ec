//! `freehold repair --demand`: makes what a launch needs, and rehearses it again.

use std::path::Path;

use freehold_linux::procfs::read_zones;
use freehold_monitor::verdict::Rehearsal;
use serde::Serialize;

use super::make::{lock, make, may_repair};
use super::outcome::{Ending, Outcome};
use super::text;
use crate::args::Repair;
use crate::commands::launch::{LaunchPlace, largest, read_launch};
use crate::exit::Failure;
use crate::output;
use crate::readings::Readings;

/// The repairs for a launch, and whether it starts after them.
#[derive(Serialize)]
struct RepairedLaunch {
    rehearsal: Rehearsal,
    repairs: Vec<Outcome>,
}

/// Repairs for one size after another, the first that fails or waits first, until the launch starts or no repair helps. Returns the
/// exit code of the last rehearsal, or 3 after a signal.
pub(super) fn repair(args: &Repair, file: &Path) -> Result<u8, Failure> {
    may_repair(args)?;
    let root = args.sensing.root.as_path();
    let zones = read_zones(root)?;
    let launch = read_launch(file, LaunchPlace { root, zones: &zones, node: args.node, page_size: None })?;
    let _lock = lock(args)?;
    let mut repairs: Vec<Outcome> = Vec::new();
    let rehearsal = loop {
        let readings = Readings::take(root, args.sensing.sensor.into(), largest(&launch))?;
        let rehearsal = readings.rehearse(&launch);
        let is_new = |order: u8| repairs.iter().all(|repair| repair.request.order != order);
        let Some(request) = rehearsal.repair.clone().filter(|request| is_new(request.order)) else {
            break rehearsal;
        };
        let outcome = make(args, &request, readings)?;
        let has_changed = !outcome.steps.is_empty() && outcome.ending != Ending::Interrupted;
        repairs.push(outcome);
        if !has_changed {
            break rehearsal;
        }
    };
    let is_interrupted = repairs.iter().any(|repair| repair.ending == Ending::Interrupted);
    let code = if is_interrupted { 3 } else { rehearsal.exit_code };
    let repaired = RepairedLaunch { rehearsal, repairs };
    let printed = if args.json { output::print_json(&repaired) } else { output::print(&repaired.text()) };
    output::with_code(printed, code)
}

impl RepairedLaunch {
    fn text(&self) -> String {
        let mut lines = self.rehearsal.text();
        for repair in &self.repairs {
            lines.push(String::new());
            lines.push(text::outcome(repair));
        }
        lines.join("\n")
    }
}
