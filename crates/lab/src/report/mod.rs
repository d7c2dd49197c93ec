//! Reports: comparisons come in; a page that loads no other file, pictures and figures go out.
//!
//! [`Report::add`] takes a trace's results (`trace_report.rs`); [`Report::html`] and [`Report::files`] write the same
//! data in every form. `data.rs` makes the JSON of the page and `page.rs` inserts it; `pictures` draws. `figures.rs`
//! has a row for each value, for CSV and `parquet.rs`.

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
