//! The arguments of `freehold trace`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::common::{Form, Input, NewTrace, parse_time};

/// The largest blur.
const MOST_BLUR: Duration = Duration::from_hours(1);

#[derive(Subcommand, Debug)]
pub(crate) enum Trace {
    /// Show the contents and the origin of a trace.
    Info(TraceInfo),
    /// Show the first events of a trace.
    Head(TraceHead),
    /// Compress a trace harder.
    Repack(TraceRepack),
    /// Remove texts, pids and dates from a trace; `compare` gives the same results.
    ///
    /// The command removes texts, renumbers tasks and blurs times. It keeps frames, CPUs, sizes
    /// and requests. docs/guide/anonymize.md lists what a trace still reveals.
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
    /// The number of events.
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
    /// The largest shift of an event's time, such as 500us; the order stays.
    #[arg(long, value_parser = parse_blur, default_value = "1ms", value_name = "TIME")]
    pub(crate) blur: Duration,
    /// The seed of the blur, random by default; keep it secret: a person who knows the
    /// seed can narrow the blur.
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
