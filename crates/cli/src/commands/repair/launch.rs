//! `freehold repair --demand`: makes what a launch needs, and rehearses it again.

use std::path::Path;
use std::sync::atomic::Ordering;

use freehold_linux::procfs::read_zones;
use freehold_monitor::verdict::{Rehearsal, Start};
use serde::Serialize;

use super::make::{lock, make, may_repair};
use super::outcome::Outcome;
use super::text;
use crate::args::Repair;
use crate::commands::launch::{LaunchPlace, largest, launch, read_demand};
use crate::commands::repair_lock::ended_by_signal;
use crate::exit::Failure;
use crate::output;
use crate::readings::Readings;

/// The repairs for a launch, and whether it starts after them.
#[derive(Serialize)]
struct RepairedLaunch {
    exit_code: u8,
    repairs: Vec<Outcome>,
    rehearsal: Rehearsal,
}

/// Repairs for one size after another, the first that fails or waits first, until the launch starts or no repair helps. Returns 0 if
/// the launch starts with at least 90 % then, 1 if it may start, 2 if it fails, and 3 if that is unknown or a signal came.
pub(super) fn repair(args: &Repair, file: &Path) -> Result<u8, Failure> {
    may_repair(args)?;
    let demand = read_demand(file)?;
    let root = args.sensing.root.as_path();
    let zones = read_zones(root)?;
    let place = LaunchPlace { root, zones: &zones, node: args.node, page_size: None };
    let launch = launch(&demand, file, place)?;
    let _lock = lock(args)?;
    let ended = ended_by_signal();
    let mut repairs: Vec<Outcome> = Vec::new();
    let rehearsal = loop {
        let readings = Readings::take(root, args.sensing.sensor.into(), largest(&launch))?;
        let rehearsal = readings.rehearse(&launch);
        let is_new = |order: u8| repairs.iter().all(|repair| repair.request.order != order);
        let request = rehearsal.repair.clone().filter(|request| is_new(request.order));
        let Some(request) = request.filter(|_| !ended.load(Ordering::Relaxed)) else { break rehearsal };
        let outcome = make(args, &request, readings, &ended)?;
        let has_changed = !outcome.steps.is_empty();
        repairs.push(outcome);
        if !has_changed {
            break rehearsal;
        }
    };
    let code = match rehearsal.start {
        _ if ended.load(Ordering::Relaxed) => 3,
        // Planned and declined repairs have changed nothing.
        Start::Slowly if repairs.iter().all(|repair| !repair.steps.is_empty()) => 0,
        start => start.exit_code(),
    };
    let repaired = RepairedLaunch { exit_code: code, repairs, rehearsal };
    let printed = if args.json { output::print_json(&repaired) } else { output::print(&repaired.text()) };
    output::with_code(printed, code)
}

impl RepairedLaunch {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        for repair in &self.repairs {
            lines.push(text::outcome(repair));
            lines.push(String::new());
        }
        lines.extend(self.rehearsal.text());
        lines.join("\n")
    }
}
