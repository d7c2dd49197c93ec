//! A report of one or several traces, in all its forms.

use super::provenance::Provenance;
use super::trace_report::TraceReport;
use super::{data, figures, page, parquet, pictures};
use crate::compare::Comparison;
use crate::error::LabError;
use crate::replay::Lab;

/// One file of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportFile {
    /// The name of the file, without a folder.
    pub name: String,
    /// The contents of the file.
    pub contents: Vec<u8>,
}

/// A report of one or several traces.
#[derive(Clone, Debug)]
pub struct Report {
    provenance: Provenance,
    traces: Vec<TraceReport>,
}

impl Report {
    /// Returns a report without traces.
    pub fn new(provenance: Provenance) -> Self {
        Self { provenance, traces: Vec::new() }
    }

    /// Adds a trace; `name` is the path that the user gave.
    pub fn add(&mut self, name: &str, lab: &Lab<'_>, comparison: Comparison) {
        let mut report = TraceReport::new(name, lab, comparison);
        let stem = report.stem.clone();
        let taken = |traces: &[TraceReport], stem: &str| traces.iter().any(|other| other.stem == stem);
        for number in 2.. {
            if !taken(&self.traces, &report.stem) {
                break;
            }
            report.stem = format!("{stem}-{number}");
        }
        self.traces.push(report);
    }

    /// Returns the HTML page: one document that loads no other file.
    pub fn html(&self) -> String {
        page::page(&self.traces, &data::of_page(&self.provenance, &self.traces))
    }

    /// Returns every picture as SVG, every table as CSV, all data as JSON, the figures in long form as CSV and
    /// Parquet, and the page.
    ///
    /// # Errors
    /// [`LabError::Picture`] and [`LabError::Figures`] if Freehold cannot write its own numbers: a bug in Freehold.
    pub fn files(&self) -> Result<Vec<ReportFile>, LabError> {
        let mut files = vec![ReportFile::text("report.html", self.html())];
        files.push(ReportFile::text("report.json", data::whole(&self.provenance, &self.traces).to_string()));
        let figures: Vec<_> = self.traces.iter().flat_map(figures::figures).collect();
        files.push(ReportFile::text("figures.csv", figures::to_csv(&figures)));
        let parquet =
            parquet::to_parquet(&figures).map_err(|error| LabError::Figures { what: error.to_string() })?;
        files.push(ReportFile { name: "figures.parquet".to_owned(), contents: parquet });
        for trace in &self.traces {
            let tables = trace.comparison.named_tables().into_iter();
            files.extend(
                tables.map(|(name, table)| {
                    ReportFile::text(format!("{}-{name}.csv", trace.stem), table.to_csv())
                }),
            );
            for (name, svg) in pictures::pictures(trace)? {
                files.push(ReportFile::text(format!("{}-{name}.svg", trace.stem), svg));
            }
        }
        Ok(files)
    }
}

impl ReportFile {
    fn text(name: impl Into<String>, contents: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), contents: contents.into() }
    }
}
