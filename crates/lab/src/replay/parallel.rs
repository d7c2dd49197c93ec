//! Parallel jobs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs jobs 0 to `jobs` - 1, at most `threads` of them at the same time; `None` for one on each processor. Returns the
/// outcomes in the order of the jobs; `None` for a job that did not finish.
pub(crate) fn in_parallel<T: Send>(
    jobs: usize,
    threads: Option<usize>,
    job: impl Fn(usize) -> T + Sync,
) -> Vec<Option<T>> {
    let processors = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = threads.unwrap_or_else(processors).clamp(1, jobs.max(1));
    let next = AtomicUsize::new(0);
    let outcomes: Vec<_> = (0..jobs).map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed))
            && let Some(outcome) = outcomes.get(number)
        {
            let done = job(number);
            if let Ok(mut slot) = outcome.lock() {
                *slot = Some(done);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If a thread cannot be started, fewer threads do the work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    outcomes.into_iter().map(|slot| slot.into_inner().ok().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_in_the_order_of_jobs() {
        for threads in [None, Some(1), Some(3), Some(100)] {
            let squares: Vec<_> = (0..20).map(|number| Some(number * number)).collect();
            assert_eq!(in_parallel(20, threads, |number| number * number), squares);
        }
        assert!(in_parallel(0, None, |number| number).is_empty());
    }
}
