//! Pins threads to processors.

use std::thread;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::BenchError;

/// Returns the processors that this thread may run on, at most `most`, lowest first.
pub(crate) fn processors(most: usize) -> Result<Vec<usize>, BenchError> {
    let allowed = sched_getaffinity(None).map_err(|error| BenchError::Pin(error.into()))?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).take(most).collect())
}

/// Pins this thread to one processor.
pub(crate) fn pin(processor: usize) -> Result<(), BenchError> {
    let mut set = CpuSet::new();
    set.set(processor);
    sched_setaffinity(None, &set).map_err(|error| BenchError::Pin(error.into()))
}

/// Returns a sentence for the report if two threads must share a processor.
pub(crate) fn sharing_note(processors: &[usize]) -> Option<String> {
    (processors.len() < 2).then(|| {
        "only one processor is available: threads that should run beside each other took turns".to_owned()
    })
}

/// Runs `work` on a thread that is pinned to one processor.
pub(crate) fn on_one_processor<R: Send>(
    work: impl FnOnce() -> Result<R, BenchError> + Send,
) -> Result<R, BenchError> {
    let processor = processors(1)?[0];
    thread::scope(|scope| {
        let thread = scope.spawn(|| pin(processor).and_then(|()| work()));
        thread.join().map_err(|_| BenchError::Stopped)?
    })
}
