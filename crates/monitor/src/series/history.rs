//! The history of free blocks: every sample of the last minutes, and one sample a minute before that.

use std::sync::Arc;

use freehold_trace::ByOrder;

use super::queue::Queue;
use crate::model::ZoneModel;

/// Samples that are kept one by one: 15 minutes at one a second.
const RECENT_POINTS: usize = 900;

/// Points that are kept of the time before, one a minute: a day.
const MINUTES: usize = 1440;

/// A minute in milliseconds.
const MINUTE_MS: u64 = 60_000;

/// The history of each zone's free blocks.
///
/// A clone shares its points with the original, so that cloning is cheap however long the history is.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Node and name of the zones that the points describe.
    pub zones: Arc<[(u32, String)]>,
    /// One point a minute, oldest first.
    minutes: Queue<Point>,
    /// Every point after those of `minutes`, oldest first.
    recent: Queue<Point>,
}

/// The free blocks of all zones at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    /// Milliseconds since 1970.
    pub unix_ms: u64,
    /// One entry for each zone of [`History::zones`], without zones that appeared later.
    pub zones: Arc<[ZonePoint]>,
}

/// A zone's free blocks at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ZonePoint {
    /// Free pages.
    pub free_pages: u64,
    /// Blocks of each order that the free blocks of that order and above can be split into. With the
    /// free pages they determine the unusable index of every order.
    pub blocks: ByOrder<u64>,
}

impl History {
    /// Adds a point of `zones` at `unix_ms`.
    pub fn note(&mut self, unix_ms: u64, zones: &[ZoneModel]) {
        for zone in zones {
            if !self.zones.iter().any(|(node, name)| *node == zone.node && *name == zone.name) {
                let new = (zone.node, zone.name.clone());
                self.zones = self.zones.iter().cloned().chain([new]).collect();
            }
        }
        let at = |(node, name): &(u32, String)| {
            let zone = zones.iter().find(|zone| zone.node == *node && zone.name == *name);
            zone.map_or_else(ZonePoint::default, |zone| ZonePoint {
                free_pages: zone.free_pages,
                blocks: zone.blocks,
            })
        };
        let point = Point { unix_ms, zones: self.zones.iter().map(at).collect() };
        self.recent.push_back(point);
        if self.recent.len() > RECENT_POINTS {
            let oldest = self.recent.pop_front();
            if let Some(oldest) = oldest.filter(|oldest| self.begins_a_minute(oldest.unix_ms)) {
                self.minutes.push_back(oldest);
            }
        }
        if self.minutes.len() > MINUTES {
            self.minutes.pop_front();
        }
    }

    fn begins_a_minute(&self, unix_ms: u64) -> bool {
        self.minutes.back().is_none_or(|last| unix_ms / MINUTE_MS != last.unix_ms / MINUTE_MS)
    }

    /// Returns all points, oldest first.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = &Point> {
        self.minutes.iter().chain(self.recent.iter())
    }

    /// Returns a zone's blocks of `order` over the last `seconds`, each with its time relative to
    /// the last point in (negative) seconds.
    pub fn blocks_over(&self, node: u32, name: &str, order: usize, seconds: f64) -> Vec<(f64, f64)> {
        let Some(zone) = self.zones.iter().position(|(n, known)| *n == node && known == name) else {
            return Vec::new();
        };
        let end = self.recent.back().map_or(0, |last| last.unix_ms);
        let point = |point: &Point| {
            let blocks = *point.zones.get(zone)?.blocks.get(order)?;
            Some(((point.unix_ms as f64 - end as f64) / 1000.0, blocks as f64))
        };
        self.recent.iter().filter_map(point).filter(|(at, _)| *at >= -seconds).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_tests::zone;

    #[test]
    fn old_points_thin_out_to_one_a_minute() {
        let mut history = History::default();
        let seconds = 3 * 24 * 3600_u64;
        for second in 0..seconds {
            history.note(second * 1000, &[zone("Normal", second)]);
        }
        assert_eq!((history.minutes.len(), history.recent.len()), (MINUTES, RECENT_POINTS));
        assert!(history.points().is_sorted_by_key(|point| point.unix_ms));
        let oldest = history.points().next().unwrap().unix_ms;
        assert_eq!(oldest / 1000, seconds - RECENT_POINTS as u64 - MINUTES as u64 * 60);
    }

    #[test]
    fn a_zone_that_comes_later_is_not_in_earlier_points() {
        let mut history = History::default();
        history.note(0, &[zone("Normal", 4)]);
        history.note(1000, &[zone("Normal", 5), zone("Movable", 6)]);
        assert_eq!(history.blocks_over(0, "Normal", 0, 60.0), [(-1.0, 4.0), (0.0, 5.0)]);
        assert_eq!(history.blocks_over(0, "Movable", 0, 60.0), [(0.0, 6.0)]);
        assert!(history.blocks_over(1, "Normal", 0, 60.0).is_empty());
    }
}
