//! The report of a benchmark in three forms.

use std::fmt::Write as _;

use freehold_measure::Table;
use serde::Serialize;

use super::chart::Chart;
use crate::harness::Digest;

/// The results of one benchmark.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Name of the table on the command line.
    pub name: String,
    /// The tables.
    pub tables: Vec<Table>,
    /// Tables that are too large for the text.
    pub details: Vec<Table>,
    /// Notes for readers of the tables.
    pub notes: Vec<String>,
    /// A digest of all frames that were allocated and all numbers that were read.
    pub digest: String,
    /// The pictures.
    pub charts: Vec<Chart>,
}

impl Report {
    /// Returns an empty report.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            tables: Vec::new(),
            details: Vec::new(),
            notes: Vec::new(),
            digest: String::new(),
            charts: Vec::new(),
        }
    }

    pub(crate) fn finish(mut self, digest: Digest) -> Self {
        self.digest = format!("{:016x}", digest.0);
        self
    }

    /// Returns the tables, then the notes and the digest as lines.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for table in &self.tables {
            text += &table.to_text();
            text += "\n\n";
        }
        for note in &self.notes {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "- {note}");
        }
        text + &format!("- digest of the work: {}\n", self.digest)
    }
}
