//! Shared parts of the lab, the benchmarks and the monitor: [`Table`]s of measures, [`histogram`]s of times and sizes,
//! the times of lock [holds](HoldLog), the [`Environment`] of a run, the [style](PAGE_STYLE) of HTML pages, and the
//! escaping of [foreign] text.

mod environment;
pub mod foreign;
pub mod histogram;
mod hold_log;
mod page;
mod table;

pub use environment::Environment;
pub use hold_log::{HoldLog, HoldTimer, Stopwatch, Waits};
pub use page::{PAGE_CELLS, PAGE_CHART, PAGE_STYLE, PAGE_WORDS, REPLAY_STYLE, filled};
pub use table::{Cell, Row, Table, csv_line, duration, grouped};
