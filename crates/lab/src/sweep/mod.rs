//! Many replays of a trace: a product of settings goes in, a row of measures for each combination comes out.

mod columns;
mod grid;
mod knobs;
mod measure;
mod row;
mod runs;
mod shard;
mod summary;

pub use columns::{columns, to_csv, to_parquet};
pub use grid::{Grid, GridError};
pub use knobs::{Knob, Settings, UnknownSetting, Value, era, knob, known_knobs, switch};
pub use row::SweepRow;
pub use runs::{Prepared, RunOptions, run_trace};
pub use shard::{rows_of_shard, shard};
pub use summary::summary;
