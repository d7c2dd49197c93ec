//! The time that is watched: so many seconds, or until the command ends.

use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use freehold_linux::blame::{AllocationWatch, Stacks, Symbols, Watched};
use freehold_linux::sensor::BpfSensor;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::{Cause, Failure};

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
    pass_time(most, command, || {
        watch.keep_below(MOST_COST).map_err(|e| freehold_linux::Error::from(e).into())
    })?;
    // Modules that were loaded meanwhile are among them.
    let symbols = Symbols::read(root)?;
    Ok(watch.finish(&symbols, stacks).map_err(freehold_linux::Error::from)?)
}

/// Lets the same time pass without a watch.
pub(super) fn only_run(most: Option<Duration>, command: &[String]) -> Result<(), Failure> {
    pass_time(most, command, || Ok(()))
}

/// Lets the time pass, and calls `look` every now and then. A command that runs for longer goes on.
fn pass_time(
    most: Option<Duration>,
    command: &[String],
    mut look: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Registration fails only for signals that cannot be handled, and these can.
        let _ = signal_hook::flag::register(signal, Arc::clone(&ended));
    }
    let mut child = start(command)?;
    let started = Instant::now();
    loop {
        let left =
            most.map_or(POLL_INTERVAL, |most| most.saturating_sub(started.elapsed()).min(POLL_INTERVAL));
        let is_done = child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None)));
        if left.is_zero() || is_done || ended.load(Ordering::Relaxed) {
            return Ok(());
        }
        // A command that ends soon is not waited for much longer.
        thread::sleep(if child.is_some() { left.min(Duration::from_millis(20)) } else { left });
        look()?;
    }
}

fn start(command: &[String]) -> Result<Option<Child>, Failure> {
    let Some((program, arguments)) = command.split_first() else { return Ok(None) };
    let started = Command::new(program).args(arguments).spawn();
    let refused = |error| {
        let what = anyhow!("cannot start `{program}`: {error}. Check its name, its path and its permissions");
        Failure::new(Cause::Usage, what)
    };
    started.map(Some).map_err(refused)
}
