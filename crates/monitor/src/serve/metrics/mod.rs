//! Metrics for Prometheus: the published state comes in, a text goes out.

mod document;
mod encode;
mod process;
mod rows;
mod scrape;
mod table;
mod values;

pub use document::document;
pub use table::{Kind, Metric, table};

pub(super) use encode::{CONTENT_TYPE, text};
pub(super) use scrape::Scrape;
