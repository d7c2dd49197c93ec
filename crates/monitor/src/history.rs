//! What the free blocks were: each sample of the last minutes, a sample a minute before.

use std::collections::VecDeque;

use freehold::MAX_ORDERS;
use serde::Serialize;

use crate::model::ZoneModel;

/// Samples that are kept one by one: a quarter of an hour at one a second.
const RECENT_POINTS: usize = 900;

/// Minutes that are kept beyond: a day.
const MINUTES: usize = 1440;

/// A minute in milliseconds.
const MINUTE_MS: u64 = 60_000;

/// What the free blocks of each zone were.
#[derive(Clone, Debug, Default, Serialize)]
pub struct History {
    /// Node and name of the zones that the points are about.
    pub zones: Vec<(u32, String)>,
    /// One point a minute, oldest first.
    minutes: VecDeque<Point>,
    /// Every point since, oldest first.
    recent: VecDeque<Point>,
}

/// The free blocks of all zones at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Point {
    /// Milliseconds since 1970.
    pub unix_ms: u64,
    /// One entry a zone of [`History::zones`]; those that came later are missing.
    pub zones: Vec<ZonePoint>,
}

/// A zone's free blocks at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZonePoint {
    /// Free pages.
    pub free_pages: u64,
    /// How many blocks of each order the free blocks of that order and above make up; with the free
    /// pages they give the unusable index of every order.
    pub blocks: [u64; MAX_ORDERS],
}

impl History {
    /// Notes what the zones are at `unix_ms`.
    pub fn note(&mut self, unix_ms: u64, zones: &[ZoneModel]) {
        for zone in zones {
            if !self.zones.iter().any(|(node, name)| *node == zone.node && *name == zone.name) {
                self.zones.push((zone.node, zone.name.clone()));
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
            self.minutes.extend(oldest.filter(|oldest| self.begins_a_minute(oldest.unix_ms)));
        }
        if self.minutes.len() > MINUTES {
            self.minutes.pop_front();
        }
    }

    fn begins_a_minute(&self, unix_ms: u64) -> bool {
        self.minutes.back().is_none_or(|last| unix_ms / MINUTE_MS != last.unix_ms / MINUTE_MS)
    }

    /// All points, oldest first.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = &Point> {
        self.minutes.iter().chain(&self.recent)
    }

    /// A zone's blocks of `order` over the last `seconds`: seconds before the last point, and the number.
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
    use crate::monitor::tests::zone;

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
