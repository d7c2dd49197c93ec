//! The common parts of all benchmarks: warming up, interleaving the sides, timing the work.

use std::hint::black_box;
use std::time::Instant;

use freehold::{Order, Pfn};
use rustix::time::{ClockId, clock_gettime};

use super::digest::Digest;
use super::pages::Pages;
use crate::error::BenchError;

/// Runs every side once a round and starts with another side each time. Returns each side's samples in
/// the order of the rounds.
///
/// The first round warms up and is left out.
pub fn interleave<S, T>(
    rounds: usize,
    sides: &mut [S],
    mut run: impl FnMut(&mut S) -> Result<T, BenchError>,
) -> Result<Vec<Vec<T>>, BenchError> {
    let mut samples: Vec<Vec<T>> = sides.iter().map(|_| Vec::with_capacity(rounds)).collect();
    for round in 0..=rounds {
        for step in 0..sides.len() {
            let at = (round + step) % sides.len();
            let sample = run(&mut sides[at])?;
            if round > 0 {
                samples[at].push(sample);
            }
        }
    }
    Ok(samples)
}

/// The share of its time for which a thread may be off its processor in a valid sample.
const DISTURBED: f64 = 0.01;

/// The number of attempts at a sample.
const TRIES: u32 = 3;

/// Takes a sample. Repeats it up to twice if other threads used this thread's processor.
pub(crate) fn calmest<T>(mut run: impl FnMut() -> Result<T, BenchError>) -> Result<T, BenchError> {
    let mut best: Option<(f64, T)> = None;
    for _ in 0..TRIES {
        let (start, start_ns) = (Instant::now(), processor_ns());
        let sample = run()?;
        let lost = 1.0 - (processor_ns() - start_ns) / ns_since(start);
        if best.as_ref().is_none_or(|(least, _)| lost < *least) {
            best = Some((lost, sample));
        }
        if lost < DISTURBED {
            break;
        }
    }
    best.map(|(_, sample)| sample).ok_or(BenchError::Stopped)
}

/// Returns the processor time of this thread in nanoseconds.
fn processor_ns() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// Returns the nanoseconds since `start`.
pub(crate) fn ns_since(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64
}

/// Returns the cost of reading the clock twice, which is subtracted from the times of single calls.
///
/// Units: nanoseconds.
pub(crate) fn clock_ns() -> f64 {
    let mut costs: Vec<f64> = (0..1001).map(|_| ns_since(Instant::now())).collect();
    costs.sort_by(f64::total_cmp);
    costs[costs.len() / 2]
}

/// Allocates and frees one block, `times` times. Returns nanoseconds per pair.
///
/// # Errors
/// [`BenchError::Wrong`] if an allocation or a free fails.
pub fn pairs(
    side: &mut (impl Pages + ?Sized),
    order: Order,
    times: u32,
    digest: &mut Digest,
) -> Result<f64, BenchError> {
    let mut sum = 0_u64;
    let mut taken = true;
    let start = Instant::now();
    for _ in 0..times {
        let Some(pfn) = side.alloc(order) else { return Err(wrong("has no block left")) };
        // The caller of a real allocator uses the frame: the compiler must not remove the pair.
        let pfn = black_box(pfn);
        sum = sum.wrapping_add(pfn.0);
        taken &= side.free(pfn, order);
    }
    let ns = ns_since(start) / f64::from(times);
    digest.add(sum);
    if taken { Ok(ns) } else { Err(wrong("did not take back what it handed out")) }
}

/// Fills all places, then frees them. Returns nanoseconds per block for allocating and for freeing.
///
/// # Errors
/// As for [`pairs`].
pub fn batch(
    side: &mut (impl Pages + ?Sized),
    order: Order,
    places: &mut [Option<Pfn>],
    digest: &mut Digest,
) -> Result<(f64, f64), BenchError> {
    let start = Instant::now();
    let filled = side.alloc_batch(order, places);
    let alloc_ns = ns_since(start);
    digest.add_places(places);
    let start = Instant::now();
    let taken = side.free_batch(order, places);
    let free_ns = ns_since(start);
    if filled < places.len() {
        return Err(wrong("has no block left"));
    }
    if !taken {
        return Err(wrong("did not take back what it handed out"));
    }
    let blocks = places.len() as f64;
    Ok((alloc_ns / blocks, free_ns / blocks))
}

/// The name of a side in errors, until the caller adds its real name.
pub(crate) const UNNAMED: &str = "a side";

pub(crate) fn wrong(what: &str) -> BenchError {
    BenchError::Wrong { side: UNNAMED.into(), what: what.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_runs_once_a_round_and_the_first_round_does_not_count() {
        let mut order = Vec::new();
        let samples = interleave(2, &mut ['a', 'b'], |side| {
            order.push(*side);
            Ok(*side)
        });
        assert_eq!(samples.unwrap(), [['a'; 2], ['b'; 2]]);
        assert_eq!(order, ['a', 'b', 'b', 'a', 'a', 'b']);
    }
}
