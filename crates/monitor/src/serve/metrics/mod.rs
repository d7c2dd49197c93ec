//! Metrics for Prometheus: the published state comes in, a text goes out.

mod classic;
mod document;
mod encode;
mod format;
mod metric;
mod phrases;
mod scrape;
mod series;
mod table;
mod values;

pub use document::document;
pub use metric::{Kind, Metric};
pub use series::Series;
pub use table::table;

pub(super) use format::Format;
pub(super) use scrape::Scrape;
