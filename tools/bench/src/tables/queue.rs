//! Computes how CPUs wait for one lock; there may be more CPUs than processors.

use std::collections::VecDeque;

use crate::error::BenchError;

/// A CPU's next turn: work without the lock, then a hold of the lock.
///
/// Units: nanoseconds. A hold of 0 takes no lock.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Turn {
    pub(super) before: f64,
    pub(super) hold: f64,
}

/// The times of a CPU, in nanoseconds.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Outcome {
    pub(super) holds: Vec<f64>,
    pub(super) waited: f64,
    pub(super) longest_wait: f64,
    /// The time of its end.
    pub(super) end: f64,
}

/// Simulates CPUs that start at the same time. The lock is granted in the order of the requests.
///
/// `next` returns a CPU's next turn, or `None` at its end.
pub(super) fn in_turn(
    cpus: usize,
    mut next: impl FnMut(usize) -> Result<Vec<Turn>, BenchError>,
) -> Result<Vec<Outcome>, BenchError> {
    let mut outcomes = vec![Outcome::default(); cpus];
    let mut turns: Vec<VecDeque<Turn>> =
        (0..cpus).map(|cpu| next(cpu).map(Into::into)).collect::<Result<_, _>>()?;
    let mut free_at = 0.0_f64;
    loop {
        let requests =
            outcomes.iter().zip(&turns).enumerate().filter_map(|(cpu, (outcome, turns))| {
                turns.front().map(|turn| (cpu, outcome.end + turn.before))
            });
        let Some((cpu, requested_at)) = requests.min_by(|one, other| one.1.total_cmp(&other.1)) else {
            return Ok(outcomes);
        };
        let hold = turns[cpu].pop_front().map_or(0.0, |turn| turn.hold);
        let outcome = &mut outcomes[cpu];
        outcome.end = requested_at;
        if hold > 0.0 {
            let wait = (free_at - requested_at).max(0.0);
            free_at = requested_at + wait + hold;
            outcome.end = free_at;
            outcome.waited += wait;
            outcome.longest_wait = outcome.longest_wait.max(wait);
            outcome.holds.push(hold);
        }
        if turns[cpu].is_empty() {
            turns[cpu] = next(cpu)?.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &[&[(f64, f64)]]) -> Vec<Outcome> {
        let mut script: Vec<_> = script.iter().map(|turns| turns.iter()).collect();
        in_turn(script.len(), |cpu| {
            Ok(script[cpu].next().map(|&(before, hold)| Turn { before, hold }).into_iter().collect())
        })
        .unwrap()
    }

    #[test]
    fn lock_is_granted_in_the_order_of_requests() {
        let outcomes = of(&[&[(2.0, 10.0), (1.0, 10.0)], &[(1.0, 10.0)], &[(3.0, 10.0), (5.0, 0.0)]]);
        let ends: Vec<_> = outcomes.iter().map(|outcome| outcome.end).collect();
        // The second CPU holds the lock from 1 to 11, the first to 21, the third to 31, the first
        // again to 41.
        assert_eq!(ends, [41.0, 11.0, 36.0]);
        let waits: Vec<_> = outcomes.iter().map(|outcome| (outcome.waited, outcome.longest_wait)).collect();
        assert_eq!(waits, [(18.0, 9.0), (0.0, 0.0), (18.0, 18.0)]);
        assert_eq!(outcomes[0].holds, [10.0, 10.0]);
    }

    #[test]
    fn free_lock_is_taken_without_a_wait() {
        let outcomes = of(&[&[(1.0, 1.0), (9.0, 1.0)], &[(5.0, 1.0)]]);
        assert!(outcomes.iter().all(|outcome| outcome.waited == 0.0));
    }
}
