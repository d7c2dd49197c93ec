//! `cargo xtask live`: the tests that need this machine, a browser, Prometheus, QEMU or a kernel.
//!
//! Takes the name of a command, and writes the tests' verdicts to the kept list `tools/live.tsv`.

mod command;
mod guard;
mod kept;
mod list;
mod outcome;
mod sources;

pub use command::{Ended, LiveArgs, run};
pub use kept::{KEPT, findings};
