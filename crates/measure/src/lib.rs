//! What the lab and the benchmarks stand on: [`Table`]s of measures, [`histogram`]s of times and sizes, the times
//! of lock [holds](HoldLog), and the [`Environment`] that a run was in.

mod environment;
pub mod histogram;
mod hold_log;
mod table;

pub use environment::Environment;
pub use hold_log::{HoldLog, HoldTimer, Stopwatch, Waits};
pub use table::{Cell, Row, Table, csv_line, grouped};
