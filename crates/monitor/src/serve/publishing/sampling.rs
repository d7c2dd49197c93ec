//! The thread that takes samples and publishes them.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use freehold_linux::pageblocks::Pace;
use freehold_linux::sample::{Sample, Sampler};
use tokio::sync::watch;

use super::published::{Published, Tally};
use crate::series::Monitor;
use crate::serve::error::ServeError;

/// How often samples are taken.
pub(in crate::serve) struct SamplingPace {
    /// Time from one sample to the next while a page is open, or pageblocks have not been read once.
    pub(in crate::serve) watched: Duration,
    /// The same otherwise.
    pub(in crate::serve) unwatched: Duration,
    /// Returns true while a page is open.
    pub(in crate::serve) is_watched: Box<dyn Fn() -> bool + Send>,
}

/// A message to the sampling thread.
enum Call {
    PageOpened,
    Stop,
}

/// Tells the sampling thread of new pages.
#[derive(Clone)]
pub(in crate::serve) struct Caller(mpsc::Sender<Call>);

impl Caller {
    /// Makes the next sample due as soon as an open page wants it.
    pub(in crate::serve) fn page_opened(&self) {
        // A thread that has ended takes no samples.
        let _ = self.0.send(Call::PageOpened);
    }

    /// Returns a caller that no thread listens to.
    #[cfg(test)]
    pub(in crate::serve) fn to_nobody() -> Self {
        Self(mpsc::channel().0)
    }
}

/// A running sampling thread. Dropping it ends the thread.
pub(in crate::serve) struct Sampling {
    /// The last published state.
    pub(in crate::serve) published: watch::Receiver<Arc<Published>>,
    caller: Caller,
    thread: Option<JoinHandle<()>>,
}

/// Takes a first sample, then others on a thread of its own.
///
/// # Errors
/// If the first sample fails.
pub(in crate::serve) fn start(
    mut sampler: Sampler,
    mut monitor: Monitor,
    pace: SamplingPace,
) -> Result<Sampling, ServeError> {
    let mut tally = Tally::default();
    let interval_ms = pace.watched.as_millis() as u64;
    let sample = sampler.sample()?;
    let is_surveying = is_first_round(&sample);
    let first = take(&mut monitor, sample, &mut tally, interval_ms, None);
    let (publisher, published) = watch::channel(Arc::new(first));
    let (caller, calls) = mpsc::channel();
    let mut rounds = Rounds { sampler, monitor, publisher, tally, pace, is_surveying };
    let thread = thread::Builder::new().name("sampling".to_owned()).spawn(move || rounds.run(&calls));
    let thread = thread.map_err(ServeError::Runtime)?;
    Ok(Sampling { published, caller: Caller(caller), thread: Some(thread) })
}

impl Sampling {
    /// Returns what tells the thread of new pages.
    pub(in crate::serve) fn caller(&self) -> Caller {
        self.caller.clone()
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        let _ = self.caller.0.send(Call::Stop);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has already printed why.
            let _ = thread.join();
        }
    }
}

/// Returns true if the pageblocks have not been read once.
fn is_first_round(sample: &Sample) -> bool {
    sample.pageblocks.as_ref().is_some_and(|surveyed| surveyed.first_round.is_some())
}

/// The state of the sampling thread.
struct Rounds {
    sampler: Sampler,
    monitor: Monitor,
    publisher: watch::Sender<Arc<Published>>,
    tally: Tally,
    pace: SamplingPace,
    /// True while pageblocks have not been read once.
    is_surveying: bool,
}

impl Rounds {
    fn run(&mut self, calls: &Receiver<Call>) {
        let mut last = Instant::now();
        let mut due = last + self.interval();
        loop {
            match calls.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(Call::PageOpened) => due = due.min(last + self.pace.watched),
                Ok(Call::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    last = Instant::now();
                    self.round();
                    // Samples that were missed, because the machine slept or a sample took long, are
                    // not repeated.
                    due = (due + self.interval()).max(Instant::now());
                }
            }
        }
    }

    fn interval(&self) -> Duration {
        let is_watched = self.is_surveying || (self.pace.is_watched)();
        if is_watched { self.pace.watched } else { self.pace.unwatched }
    }

    fn round(&mut self) {
        let before = Arc::clone(&self.publisher.borrow());
        self.sampler.set_pace(if (self.pace.is_watched)() { Pace::Watched } else { Pace::Served });
        let next = match self.sampler.sample() {
            Ok(sample) => {
                self.is_surveying = is_first_round(&sample);
                let interval_ms = self.interval().as_millis() as u64;
                take(&mut self.monitor, sample, &mut self.tally, interval_ms, Some(&before))
            }
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use freehold_linux::sensor::Choice;

    use super::*;

    #[test]
    fn an_open_page_makes_samples_due() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures/linux-6.18");
        let sampler = Sampler::open(&root, Choice::Procfs).unwrap();
        let monitor = Monitor::new(sampler.machine().clone());
        let is_open = Arc::new(AtomicBool::new(false));
        let pages = Arc::clone(&is_open);
        let pace = SamplingPace {
            watched: Duration::from_millis(1),
            unwatched: Duration::from_hours(1),
            is_watched: Box::new(move || pages.load(Ordering::Relaxed)),
        };
        let sampling = start(sampler, monitor, pace).unwrap();
        let samples = || sampling.published.borrow().tally.samples;
        let caller = sampling.caller();
        caller.page_opened();
        let began = Instant::now();
        while samples() < 2 && began.elapsed() < Duration::from_mins(1) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(50));
        assert_eq!(samples(), 2, "the page has gone again: the next sample is due in an hour");
        is_open.store(true, Ordering::Relaxed);
        caller.page_opened();
        while samples() < 5 && began.elapsed() < Duration::from_mins(1) {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(samples() >= 5 && sampling.published.borrow().interval_ms == 1);
        // Ends the thread, which otherwise waits for its next sample.
        is_open.store(false, Ordering::Relaxed);
        drop(sampling);
    }
}
