//! The command line: in come words, out come arguments that were validated, and nothing else is done.

mod analyze;
mod bench;
mod check;
mod cli;
mod common;
mod compare;
mod generate;
mod import;
mod monitor;
mod predict;
mod record;
mod replay;
mod sweep;
mod trace;

pub(crate) use analyze::Analyze;
pub(crate) use bench::Bench;
pub(crate) use check::Check;
pub(crate) use cli::{Cli, Command, refuse};
pub(crate) use common::{Form, Input};
pub(crate) use compare::Compare;
pub(crate) use generate::Generate;
pub(crate) use import::Import;
pub(crate) use monitor::{Sensing, Serve, Snapshot, SnapshotFormat, Top, Watch};
pub(crate) use predict::Predict;
pub(crate) use record::{Record, Triggers};
pub(crate) use replay::Replay;
pub(crate) use sweep::Sweep;
pub(crate) use trace::{Effort, Trace, TraceHead, TraceInfo, TraceRepack};
