//! Waiting for the lab without the GIL, with Ctrl-C and progress reports.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use freehold_lab::Control;
use pyo3::prelude::*;

use super::error::{BugError, Failure};

/// The longest delay of Python's signals.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs `work` on its own thread and returns its result. Meanwhile other Python threads run. Calls `progress` with
/// the numbers of replayed and planned events. A signal interrupts `control`; the exception of its handler is raised
/// after the end of the work.
pub(super) fn wait<T: Send>(
    py: Python<'_>,
    control: &Arc<Control>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let (done, ended) = channel::<()>();
    let (outcome, reported) = thread::scope(|scope| {
        let worker = scope.spawn(move || {
            // Dropped when the work ends, also by a panic.
            let _done = done;
            work()
        });
        let ended = std::sync::Mutex::new(ended);
        let mut reported = Ok(());
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
            if reported.is_ok() {
                reported = py.check_signals().and_then(|()| report(progress, control));
                if reported.is_err() {
                    control.interrupt();
                }
            }
        }
        (py.detach(|| worker.join()), reported)
    });
    reported?;
    let outcome = outcome.map_err(|_| BugError::new_err("a bug in Freehold: the lab panicked"))?;
    report(progress, control)?;
    Ok(outcome?)
}

fn report(progress: Option<&Bound<'_, PyAny>>, control: &Control) -> PyResult<()> {
    progress.map_or(Ok(()), |progress| progress.call1(control.progress()).map(drop))
}
