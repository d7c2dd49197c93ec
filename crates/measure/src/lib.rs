//! What the lab and the benchmarks stand on: [`Table`]s of measures, [`histogram`]s of times and sizes, and the
//! [`Environment`] that a run was in.

mod environment;
pub mod histogram;
mod table;

pub use environment::Environment;
pub use table::{Cell, Row, Table, csv_line, grouped};
