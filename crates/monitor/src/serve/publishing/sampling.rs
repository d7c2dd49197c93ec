//! The thread that takes samples and publishes them.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use freehold_linux::sample::{Sample, Sampler};
use tokio::sync::watch;

use super::published::{Published, Tally};
use crate::series::Monitor;
use crate::serve::error::ServeError;

/// A running sampling thread. Dropping it ends the thread.
pub(in crate::serve) struct Sampling {
    /// The last published state.
    pub(in crate::serve) published: watch::Receiver<Arc<Published>>,
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Takes a first sample, then one every `interval` on a thread of its own.
///
/// # Errors
/// If the first sample fails.
pub(in crate::serve) fn start(mut sampler: Sampler, interval: Duration) -> Result<Sampling, ServeError> {
    let mut monitor = Monitor::new(sampler.machine().clone());
    let mut tally = Tally::default();
    let interval_ms = interval.as_millis() as u64;
    let first = take(&mut monitor, sampler.sample()?, &mut tally, interval_ms, None);
    let (publisher, published) = watch::channel(Arc::new(first));
    let (stop, stopped) = mpsc::channel();
    let mut rounds = Rounds { sampler, monitor, publisher, tally, interval };
    let thread = thread::Builder::new().name("sampling".to_owned()).spawn(move || rounds.run(&stopped));
    let thread = thread.map_err(ServeError::Runtime)?;
    Ok(Sampling { published, stop: Some(stop), thread: Some(thread) })
}

impl Drop for Sampling {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has already printed why.
            let _ = thread.join();
        }
    }
}

/// The state of the sampling thread.
struct Rounds {
    sampler: Sampler,
    monitor: Monitor,
    publisher: watch::Sender<Arc<Published>>,
    tally: Tally,
    interval: Duration,
}

impl Rounds {
    fn run(&mut self, stopped: &Receiver<()>) {
        let mut due = Instant::now() + self.interval;
        while stopped.recv_timeout(due.saturating_duration_since(Instant::now()))
            == Err(RecvTimeoutError::Timeout)
        {
            self.round();
            // Samples that were missed, because the machine slept or a sample took long, are
            // not repeated.
            due = (due + self.interval).max(Instant::now());
        }
    }

    fn round(&mut self) {
        let before = Arc::clone(&self.publisher.borrow());
        let next = match self.sampler.sample() {
            Ok(sample) => take(&mut self.monitor, sample, &mut self.tally, before.interval_ms, Some(&before)),
            Err(error) => {
                self.tally.errors += 1;
                before.failing(error.to_string(), self.tally)
            }
        };
        self.publisher.send_replace(Arc::new(next));
    }
}

/// Makes what is published of a sample. `before` is what was published before.
pub(in crate::serve) fn take(
    monitor: &mut Monitor,
    sample: Sample,
    tally: &mut Tally,
    interval_ms: u64,
    before: Option<&Published>,
) -> Published {
    let model = monitor.take(sample);
    tally.samples += 1;
    tally.read_ns += model.sensor.cost_ns;
    Published::new(model, monitor.history().clone(), *tally, interval_ms, before)
}
