//! Many replays of a trace: a product of settings goes in, a row of measures for each combination comes out.

mod columns;
mod grid;
mod knobs;
mod measure;
mod row;
mod runs;
mod summary;

pub use columns::{columns, to_csv, to_parquet};
pub use grid::{Grid, GridError};
pub use knobs::{Knob, Settings, UnknownSetting, Value, era, knob, known_knobs, switch};
pub use row::SweepRow;
pub use runs::{RunOptions, run_trace};
pub use summary::summary;
