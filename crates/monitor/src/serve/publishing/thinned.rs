//! A history reduced to the size of a page.

use serde::Serialize;

use crate::series::{History, Point};

/// The most points of the last 15 minutes that a page loads, and the most points before them.
const HISTORY_POINTS: usize = 300;

/// The time that counts as the last minutes, in milliseconds.
const LAST_MINUTES_MS: u64 = 15 * 60_000;

/// A zone at one time: its free pages, and its blocks of each order.
type ThinZone<'a> = (u64, &'a [u64]);

/// A history with fewer points: dense in the last minutes, sparse before.
#[derive(Serialize)]
pub(super) struct Thinned<'a> {
    zones: &'a [(u32, String)],
    /// Times, and the zones at each time.
    points: Vec<(u64, Vec<ThinZone<'a>>)>,
}

impl<'a> Thinned<'a> {
    pub(super) fn new(history: &'a History) -> Self {
        let points: Vec<&Point> = history.points().collect();
        let end = points.last().map_or(0, |last| last.unix_ms);
        let split = points.partition_point(|point| point.unix_ms + LAST_MINUTES_MS < end);
        let (before, last) = points.split_at(split);
        let chosen = thinned(before).chain(thinned(last));
        let point = |point: &'a Point| {
            let zones = point.zones.iter().map(|zone| (zone.free_pages, &zone.blocks[..]));
            (point.unix_ms, zones.collect())
        };
        Self { zones: &history.zones, points: chosen.map(point).collect() }
    }
}

/// Returns at most [`HISTORY_POINTS`] of `points`, evenly chosen, the last among them.
fn thinned<'a, 'b>(points: &'b [&'a Point]) -> impl Iterator<Item = &'a Point> + 'b {
    let step = points.len().div_ceil(HISTORY_POINTS).max(1);
    points.iter().skip((points.len() + step - 1) % step).step_by(step).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_tests::zone;

    #[test]
    fn a_long_history_is_thinned_and_keeps_its_end() {
        let mut history = History::default();
        for second in 0..100_000 {
            history.note(second * 1000, &[zone("Normal", second)]);
        }
        let thinned = Thinned::new(&history);
        assert!(thinned.points.len() <= 2 * HISTORY_POINTS && thinned.points.len() > HISTORY_POINTS);
        assert!(thinned.points.is_sorted_by_key(|point| point.0));
        assert_eq!(thinned.points.last().unwrap().0, 99_999_000);
        assert_eq!(Thinned::new(&History::default()).points.len(), 0);
    }
}
