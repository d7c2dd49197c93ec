//! Many replays of a trace: a product of settings goes in, a row of measures for each combination comes out.

mod column_name;
#[cfg(feature = "report")]
mod columns;
mod grid;
mod knobs;
mod measure;
mod row;
mod summary;

#[cfg(feature = "report")]
pub use columns::{SweepError, to_csv, to_parquet};
pub use grid::Grid;
pub use knobs::{Knob, Settings, Value};
pub use row::SweepRow;
pub use summary::summary;
