//! The watch of allocations, or the same time without one.

use std::path::Path;
use std::time::Duration;

use freehold_linux::blame::{AllocationWatch, Stacks, Symbols, Watched};
use freehold_linux::sensor::BpfSensor;

use crate::commands::pass_time::pass_time;
use crate::exit::Failure;

/// The time of a CPU that the watch aims at, by its own account.
const MOST_COST: f64 = 0.007;

/// How often the cost of the watch is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Watches for `most` at most, or until the command or a signal ends it. Names of functions are those below `root`.
pub(super) fn watch(
    sensor: &mut BpfSensor,
    most: Option<Duration>,
    command: &[String],
    root: &Path,
    stacks: &mut Stacks,
) -> Result<Watched, Failure> {
    let mut watch = AllocationWatch::start(sensor).map_err(freehold_linux::Error::from)?;
    pass_time(most, command, POLL_INTERVAL, || {
        watch.keep_below(MOST_COST).map_err(|e| freehold_linux::Error::from(e).into())
    })?;
    // Modules that were loaded meanwhile are among them.
    let symbols = Symbols::read(root)?;
    Ok(watch.finish(&symbols, stacks).map_err(freehold_linux::Error::from)?)
}

/// Lets the same time pass without a watch.
pub(super) fn only_run(most: Option<Duration>, command: &[String]) -> Result<(), Failure> {
    pass_time(most, command, POLL_INTERVAL, || Ok(()))
}
