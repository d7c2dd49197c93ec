//! The input of one scrape, and the values of one metric.

use std::fmt::Display;
use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};

use crate::model::{Map, Model};
use crate::serve::publishing::Published;

/// Everything that one text is made of.
pub(in crate::serve) struct Scrape {
    pub(super) published: Arc<Published>,
    /// The connections of the server; `None` if the text is for a file.
    pub(super) connections: Option<Connections>,
    pub(super) cpu_seconds: f64,
    pub(super) resident_bytes: Option<u64>,
}

/// Connections of a server.
#[derive(Clone, Copy)]
pub(super) struct Connections {
    pub(super) open: u64,
    pub(super) refused: u64,
}

impl Scrape {
    /// Returns what a client of the server gets.
    pub(in crate::serve) fn new(published: Arc<Published>, connections: usize, refused: u64) -> Self {
        let connections = Connections { open: connections as u64, refused };
        Self { connections: Some(connections), ..Self::for_file(published) }
    }

    /// Returns what a file gets.
    pub(in crate::serve) fn for_file(published: Arc<Published>) -> Self {
        let (cpu_seconds, resident_bytes) = (cpu_seconds(), resident_bytes());
        Self { published, connections: None, cpu_seconds, resident_bytes }
    }

    /// Returns true if this process takes sample after sample. Otherwise what it counts would begin anew with each text.
    pub(super) fn is_of_a_series(&self) -> bool {
        self.published.interval_ms > 0
    }

    pub(super) fn model(&self) -> &Model {
        &self.published.model
    }

    pub(super) fn map(&self) -> Option<&Map> {
        self.published.map.as_deref().map(|shown| &*shown.map)
    }
}

/// The values of one metric, each with its labels' values.
#[derive(Default)]
pub(super) struct Rows(pub(super) Vec<(Vec<String>, Value)>);

/// A value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    Whole(u64),
    Real(f64),
}

impl Rows {
    pub(super) fn whole(&mut self, labels: &[&dyn Display], value: u64) {
        self.0.push((labels.iter().map(ToString::to_string).collect(), Value::Whole(value)));
    }

    pub(super) fn real(&mut self, labels: &[&dyn Display], value: f64) {
        self.0.push((labels.iter().map(ToString::to_string).collect(), Value::Real(value)));
    }
}

/// Returns the processor time since the start in seconds.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns the resident bytes, or `None` if `/proc` does not report them.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
