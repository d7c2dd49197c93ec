//! Comparisons written down: comparisons go in; a page that needs nothing else, pictures and figures come out.
//!
//! [`Report::add`] takes what is to be told of a trace; [`Report::html`] and
//! [`Report::files`] only write it down, in every form from the same data.

mod data;
mod document;
mod figures;
mod page;
mod parquet;
mod pictures;
mod provenance;
mod trace_report;

pub use document::{Report, ReportFile};
pub use provenance::Provenance;
