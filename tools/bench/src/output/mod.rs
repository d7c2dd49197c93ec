//! The output: tables and charts come in; text, JSON and pictures go out.

mod chart;
mod draw;
mod report;

pub use chart::Chart;
pub use draw::draw;
pub use report::Report;
