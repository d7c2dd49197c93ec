//! Many replays of a trace: a product of settings comes in, a row of measures for each combination goes out.
//!
//! `knobs.rs` is the table of settings, one line each, and `runs.rs` replays the combinations of a trace. The command
//! keeps a journal of finished runs. `python/freehold/_sweep.py` keeps a dataset of finished shards (`shard.rs`).

mod column_name;
mod columns;
mod grid;
mod knobs;
mod measure;
mod row;
mod runs;
#[cfg(feature = "report")]
mod shard;
mod summary;

#[cfg(feature = "report")]
pub use columns::to_parquet;
pub use columns::{columns, to_csv};
pub use grid::{Grid, GridError};
pub use knobs::{Knob, Settings, UnknownSetting, Value, era, knob, known_knobs, switch};
pub use row::SweepRow;
pub use runs::{Prepared, RunOptions, run_trace};
#[cfg(feature = "report")]
pub use shard::{rows_of_shard, shard};
pub use summary::summary;
