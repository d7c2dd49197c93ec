//! A metric: its meaning, source, exactness and cost.

use super::scrape::{Rows, Scrape};
use super::values;
use crate::model::Rated;

/// One metric.
pub struct Metric {
    /// The name of its samples.
    pub name: String,
    /// Its kind in Prometheus's terms.
    pub kind: Kind,
    /// What its values count.
    pub unit: &'static str,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it means.
    pub help: String,
    /// Where its values come from.
    pub source: &'static str,
    /// How exact its values are.
    pub exactness: &'static str,
    /// What one reading costs the machine.
    pub cost: &'static str,
    pub(super) fill: Fill,
}

/// The kind of a metric in Prometheus's terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A value that rises and falls.
    Gauge,
    /// A value that only rises.
    Counter,
    /// Always 1; the labels carry the information.
    Info,
}

impl Kind {
    /// Returns the suffix of the names of its samples.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Gauge => "",
            Self::Counter => "_total",
            Self::Info => "_info",
        }
    }

    /// Returns the word for documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Info => "info",
        }
    }
}

/// How the values are found.
#[derive(Clone, Copy)]
pub(super) enum Fill {
    By(fn(&Scrape, &mut Rows)),
    Rate(&'static Rated),
}

impl Metric {
    pub(super) fn fill(&self, scrape: &Scrape, rows: &mut Rows) {
        match self.fill {
            Fill::By(fill) => fill(scrape, rows),
            Fill::Rate(rated) => values::counter_of_vmstat(rated, scrape, rows),
        }
    }
}

/// A row of the table: `(name, kind, unit, labels)`, help, `(source, exactness, cost)`, values.
pub(super) type Row = (
    (&'static str, Kind, &'static str, &'static [&'static str]),
    &'static str,
    (&'static str, &'static str, &'static str),
    fn(&Scrape, &mut Rows),
);
