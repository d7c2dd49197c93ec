//! Many replays of a trace: a product of settings goes in, a row of measures for each combination comes out.

mod columns;
mod grid;
mod knobs;
mod measure;
mod row;
mod summary;

pub use columns::{SweepError, to_csv, to_parquet};
pub use grid::Grid;
pub use knobs::{Knob, Settings, Value};
pub use row::SweepRow;
pub use summary::summary;
