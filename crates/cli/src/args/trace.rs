//! The arguments of `freehold trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::common::{Form, Input};

#[derive(Subcommand, Debug)]
pub(crate) enum Trace {
    /// What is in a trace, and where it comes from.
    Info(TraceInfo),
    /// The first events of a trace.
    Head(TraceHead),
    /// Compress a trace harder.
    Repack(TraceRepack),
}

#[derive(Args, Debug)]
pub(crate) struct TraceInfo {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) form: Form,
}

#[derive(Args, Debug)]
pub(crate) struct TraceHead {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) form: Form,
    /// How many events.
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    pub(crate) events: u64,
}

#[derive(Args, Debug)]
pub(crate) struct TraceRepack {
    #[command(flatten)]
    pub(crate) input: Input,
    /// The trace to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// How hard to compress.
    #[arg(long, value_enum, default_value_t = Effort::Small)]
    pub(crate) effort: Effort,
}

/// How hard to compress.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// As a recording does.
    Fast,
    /// As small as possible.
    Small,
}
