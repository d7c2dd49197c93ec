//! Metrics for Prometheus: the published state comes in, a text goes out.

mod classic;
mod document;
mod encode;
mod format;
mod machine_metrics;
mod metric;
mod phrases;
mod process;
mod rows;
mod scrape;
mod series;
mod server_metrics;
mod table;
mod values;
mod verdict_metrics;
mod zone_metrics;

pub use document::document;
pub use metric::{Kind, Metric};
pub use series::Series;
pub use table::table;

pub(super) use format::Format;
pub(super) use scrape::Scrape;
