//! Waiting for the lab: without the GIL, while Ctrl-C works and progress is told.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use freehold_lab::Control;
use pyo3::prelude::*;

use super::error::{BugError, Failure};

/// How long Python's signals wait at most.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Does some work on a thread of its own and returns what comes of it. Meanwhile other threads of Python run, `progress` is
/// called with the events that were followed and planned so far, and a signal interrupts `control`: the exception of its
/// handler is then raised once the work has ended.
pub(super) fn wait<T: Send>(
    py: Python<'_>,
    control: &Arc<Control>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let (done, ended) = channel::<()>();
    let (outcome, told) = thread::scope(|scope| {
        let worker = scope.spawn(move || {
            // Dropped when the work ends, however it does.
            let _done = done;
            work()
        });
        let ended = std::sync::Mutex::new(ended);
        let mut told = Ok(());
        loop {
            let is_at_work = || {
                let waited = ended
                    .lock()
                    .map(|ended| ended.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout));
                waited.unwrap_or(false)
            };
            if !py.detach(is_at_work) {
                break;
            }
            if told.is_ok() {
                told = py.check_signals().and_then(|()| tell(progress, control));
                if told.is_err() {
                    control.interrupt();
                }
            }
        }
        (py.detach(|| worker.join()), told)
    });
    told?;
    let outcome = outcome.map_err(|_| BugError::new_err("a bug in Freehold: the lab panicked"))?;
    tell(progress, control)?;
    Ok(outcome?)
}

fn tell(progress: Option<&Bound<'_, PyAny>>, control: &Control) -> PyResult<()> {
    progress.map_or(Ok(()), |progress| progress.call1(control.progress()).map(drop))
}
