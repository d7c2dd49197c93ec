//! The command line: words come in, validated arguments go out; nothing is opened and nothing is run.

mod analyze;
mod blame;
mod check;
mod cli;
mod common;
mod compare;
mod diff;
mod explain;
mod fallbacks;
mod generate;
mod import;
mod manual;
mod monitor;
mod need;
mod new_rule;
mod page_size;
mod predict;
mod record;
mod repair;
mod replay;
mod sweep;
mod trace;

pub(super) use analyze::Analyze;
pub(super) use blame::Blame;
pub(super) use check::{By, Check, GiveBack, ZonesChoice};
pub(super) use cli::{Cli, Command, Dev, refuse};
#[cfg(test)]
pub(super) use common::NewTrace;
pub(super) use common::{Form, Input};
pub(super) use compare::Compare;
pub(super) use diff::Diff;
pub(super) use explain::Explain;
pub(super) use fallbacks::Fallbacks;
pub(super) use generate::Generate;
pub(super) use import::Import;
pub(super) use manual::{Completions, Man};
pub(super) use monitor::{Sensing, Serve, Snapshot, SnapshotFormat, Top, Watch};
pub(super) use need::{Need, NeedSource, Needs};
pub(super) use new_rule::NewRule;
pub(super) use predict::Predict;
pub(super) use record::{Record, Triggers};
pub(super) use repair::{KernelWrite, Repair};
pub(super) use replay::Replay;
pub(super) use sweep::Sweep;
pub(super) use trace::{Effort, Trace, TraceAnonymize, TraceHead, TraceInfo, TraceRepack};
