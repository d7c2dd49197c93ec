//! What a benchmark found, written down: tables and charts go in, text, JSON and pictures come out.

mod chart;
mod draw;
mod report;

pub use chart::Chart;
pub use draw::draw;
pub use report::Report;
