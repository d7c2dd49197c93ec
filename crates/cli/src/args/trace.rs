//! The arguments of `freehold trace`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::common::{Form, Input, NewTrace, parse_time};

/// The largest blur.
const MOST_BLUR: Duration = Duration::from_hours(1);

#[derive(Subcommand, Debug)]
pub(crate) enum Trace {
    /// What is in a trace, and where it comes from.
    Info(TraceInfo),
    /// The first events of a trace.
    Head(TraceHead),
    /// Compress a trace harder.
    Repack(TraceRepack),
    /// Write a trace without texts, pids and dates, with the same results of `compare`.
    ///
    /// Texts go, tasks get new numbers, and times are blurred. Frames, CPUs, sizes and requests stay: docs/guide/anonymize.md
    /// says what a trace still tells.
    Anonymize(TraceAnonymize),
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
    #[command(flatten)]
    pub(crate) made: NewTrace,
    /// How hard to compress.
    #[arg(long, value_enum, default_value_t = Effort::Small)]
    pub(crate) effort: Effort,
}

#[derive(Args, Debug)]
pub(crate) struct TraceAnonymize {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) made: NewTrace,
    /// Move the time of an event by at most this, such as 500us or 1ms; their order stays.
    #[arg(long, value_parser = parse_blur, default_value = "1ms", value_name = "TIME")]
    pub(crate) blur: Duration,
    /// The seed of the blur, to repeat it; keep it secret, as it narrows the blur. A new one each time by default.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

fn parse_blur(text: &str) -> Result<Duration, String> {
    let blur = parse_time(text).filter(|&blur| blur <= MOST_BLUR);
    blur.ok_or_else(|| "a time of at most 1h with its unit, such as 500us or 1ms".to_owned())
}

/// How hard to compress.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// As a recording does.
    Fast,
    /// As small as possible.
    Small,
}
