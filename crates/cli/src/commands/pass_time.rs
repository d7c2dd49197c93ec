//! The time that is watched: so many seconds, or until the command ends.

use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::{Cause, Failure};

/// Lets time pass, for `most` at most, or until the command or a signal ends it. Calls `look` every `interval`. A command that
/// runs for longer goes on.
pub(super) fn pass_time(
    most: Option<Duration>,
    command: &[String],
    interval: Duration,
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
        let left = most.map_or(interval, |most| most.saturating_sub(started.elapsed()).min(interval));
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
