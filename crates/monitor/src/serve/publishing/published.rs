//! The state that the sampling thread publishes.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::body::Bytes;
use serde::Serialize;

use super::picture::Picture;
use super::thinned::Thinned;
use crate::model::{Map, Model};
use crate::series::History;

/// The last known state of the machine, and how the sampling goes.
///
/// Texts for clients are made when a client first needs them, and shared by all clients.
pub(in crate::serve) struct Published {
    /// The model of the last successful sample, without the map.
    pub(in crate::serve) model: Arc<Model>,
    /// What the pageblocks hold; `None` if that cannot be read.
    pub(in crate::serve) map: Option<Arc<Shown>>,
    /// The age of the oldest part of the map in milliseconds.
    pub(in crate::serve) map_age_ms: Option<u64>,
    /// The time of the last successful sample.
    pub(in crate::serve) taken: Instant,
    /// The history up to the last successful sample.
    history: History,
    /// Why the samples since then failed; `None` if the last sample succeeded.
    pub(in crate::serve) failing: Option<String>,
    /// Counts since the start.
    pub(in crate::serve) tally: Tally,
    /// Milliseconds from one sample to the next.
    pub(in crate::serve) interval_ms: u64,
    event: OnceLock<Bytes>,
    history_text: OnceLock<Bytes>,
}

/// What the sampling thread counts.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::serve) struct Tally {
    /// Samples that succeeded.
    pub(in crate::serve) samples: u64,
    /// Samples that failed.
    pub(in crate::serve) errors: u64,
    /// The total duration of the readings of free blocks in nanoseconds.
    pub(in crate::serve) read_ns: u64,
}

/// A map, and its text for the page.
pub(in crate::serve) struct Shown {
    pub(in crate::serve) map: Arc<Map>,
    event: OnceLock<Bytes>,
}

impl Published {
    /// Publishes a successful sample's model and history. `before` is the state that was published
    /// before.
    pub(in crate::serve) fn new(
        mut model: Model,
        history: History,
        tally: Tally,
        interval_ms: u64,
        before: Option<&Self>,
    ) -> Self {
        let map_age_ms = model.map.as_ref().map(|map| map.age_ms);
        let map = model.map.take().map(|map| Shown::new(map, before.and_then(|before| before.map.as_ref())));
        Self {
            model: Arc::new(model),
            map,
            map_age_ms,
            taken: Instant::now(),
            history,
            failing: None,
            tally,
            interval_ms,
            event: OnceLock::new(),
            history_text: OnceLock::new(),
        }
    }

    /// Returns the same state with a failed sample noted.
    pub(in crate::serve) fn failing(&self, error: String, tally: Tally) -> Self {
        Self {
            model: Arc::clone(&self.model),
            map: self.map.clone(),
            map_age_ms: self.map_age_ms,
            taken: self.taken,
            history: self.history.clone(),
            failing: Some(error),
            tally,
            interval_ms: self.interval_ms,
            event: OnceLock::new(),
            history_text: self.history_text.clone(),
        }
    }

    /// Returns the event that carries the model.
    pub(in crate::serve) fn event(&self) -> Bytes {
        #[derive(Serialize)]
        struct Event<'a> {
            model: &'a Model,
            failing: Option<&'a str>,
            interval_ms: u64,
        }
        let event =
            Event { model: &self.model, failing: self.failing.as_deref(), interval_ms: self.interval_ms };
        self.event.get_or_init(|| named_event("model", &event)).clone()
    }

    /// Returns the history that a page loads before its first event.
    pub(in crate::serve) fn history(&self) -> Bytes {
        self.history_text.get_or_init(|| Bytes::from(json(&Thinned::new(&self.history)))).clone()
    }
}

impl Shown {
    /// Returns `map`, or `before` if both are equal.
    fn new(map: Arc<Map>, before: Option<&Arc<Self>>) -> Arc<Self> {
        match before {
            Some(before) if Arc::ptr_eq(&before.map, &map) || look_alike(&before.map, &map) => {
                Arc::clone(before)
            }
            _ => Arc::new(Self { map, event: OnceLock::new() }),
        }
    }

    /// Returns the event that carries the map.
    pub(in crate::serve) fn event(&self) -> Bytes {
        self.event.get_or_init(|| named_event("map", &Picture::new(&self.map))).clone()
    }
}

/// Returns true if two maps look the same: numbers of pages within gigabytes are not shown.
fn look_alike(one: &Map, other: &Map) -> bool {
    let states = |map: &Map| map.gigabytes.iter().map(|gigabyte| gigabyte.state).collect::<Vec<_>>();
    one.zones == other.zones && states(one) == states(other)
}

fn named_event(name: &str, value: &impl Serialize) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {}\n\n", json(value)))
}

/// Returns `value` as JSON in one line.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Holds, ZoneMap};
    use crate::sample_tests::sample;
    use freehold_linux::procfs::Machine;

    fn published(map: Option<Map>, before: Option<&Published>) -> Published {
        let mut model = Model::new(&Machine::default(), None, &sample(1, "Normal", 4));
        model.map = map.map(Arc::new);
        Published::new(model, History::default(), Tally::default(), 1000, before)
    }

    fn map(blocks: Vec<Holds>) -> Map {
        let zone = ZoneMap { name: "Normal".to_owned(), blocks, ..ZoneMap::default() };
        Map { zones: vec![zone], ..Map::default() }
    }

    #[test]
    fn an_unchanged_map_is_not_published_again() {
        let first = published(Some(map(vec![Holds::Free])), None);
        let older = Map { age_ms: 9, ..map(vec![Holds::Free]) };
        let same = published(Some(older), Some(&first));
        let other = published(Some(map(vec![Holds::Stuck])), Some(&same));
        assert!(Arc::ptr_eq(first.map.as_ref().unwrap(), same.map.as_ref().unwrap()));
        assert_eq!(
            (first.map_age_ms, same.map_age_ms),
            (Some(0), Some(9)),
            "its age is reported all the same"
        );
        assert!(!Arc::ptr_eq(first.map.as_ref().unwrap(), other.map.as_ref().unwrap()));
        assert!(
            !std::str::from_utf8(&same.event()).unwrap().contains("cells"),
            "a model goes without its map"
        );
    }

    #[test]
    fn a_failure_keeps_the_model_and_says_why() {
        let failing = published(None, None).failing("gone".to_owned(), Tally::default());
        let event = failing.event();
        let text = std::str::from_utf8(&event).unwrap();
        assert!(text.contains("\"failing\":\"gone\"") && text.contains("\"free_pages\":4"), "{text}");
    }
}
