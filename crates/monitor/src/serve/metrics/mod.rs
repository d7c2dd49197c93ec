//! Metrics for Prometheus: the published state comes in, a text goes out.

mod classic;
mod document;
mod encode;
mod format;
mod process;
mod rows;
mod scrape;
mod table;
mod values;

pub use document::document;
pub use table::{Kind, Metric, table};

pub(super) use format::Format;
pub(super) use scrape::Scrape;
