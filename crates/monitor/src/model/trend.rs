//! The trend of the number of large free blocks.

use serde::Serialize;

/// The most points that a trend is computed from, as all pairs of them are compared.
const MOST_POINTS: usize = 64;

/// How a number changes over time. It predicts no end: free blocks that fall are what a machine does whose page cache
/// grows.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Trend {
    /// The change per second: the median over all pairs of points, so that a single spike changes
    /// little.
    pub per_second: f64,
    /// The time between the first and the last point in seconds.
    pub over_s: f64,
}

/// Returns the trend of points `(seconds, value)` in the order of time, or `None` for fewer than three
/// points.
///
/// The slope is the Theil–Sen estimator over at most 64 of the points, evenly chosen.
pub fn trend(points: &[(f64, f64)]) -> Option<Trend> {
    let (first, last) = (points.first()?, points.last()?);
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    let chosen: Vec<_> = points.iter().rev().step_by(step).collect();
    if chosen.len() < 3 {
        return None;
    }
    let mut slopes = Vec::new();
    for (at, later) in chosen.iter().enumerate() {
        for earlier in &chosen[at + 1..] {
            if later.0 > earlier.0 {
                slopes.push((later.1 - earlier.1) / (later.0 - earlier.0));
            }
        }
    }
    let middle = slopes.len() / 2;
    let per_second =
        *slopes.get(middle).is_some().then(|| slopes.select_nth_unstable_by(middle, f64::total_cmp).1)?;
    Some(Trend { per_second, over_s: last.0 - first.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_falling_line_falls_as_fast_as_it_does() {
        let points: Vec<_> = (0..300).map(|s| (f64::from(s), 1000.0 - 2.0 * f64::from(s))).collect();
        let trend = trend(&points).unwrap();
        assert!((trend.per_second + 2.0).abs() < 1e-9);
        assert!((trend.over_s - 299.0).abs() < 1e-9);
    }

    #[test]
    fn a_spike_moves_nothing() {
        let mut points: Vec<_> = (0..50).map(|s| (f64::from(s), 70.0)).collect();
        points[20].1 = 0.0;
        assert!(trend(&points).unwrap().per_second.abs() < f64::EPSILON);
        assert!(trend(&points[..2]).is_none() && trend(&[]).is_none());
        assert!(trend(&[(1.0, 5.0); 9]).is_none(), "points of one moment have no slope");
    }
}
