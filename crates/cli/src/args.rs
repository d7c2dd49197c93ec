//! The command line: parsing only validates.

mod analyze;
mod compare;
mod generate;
mod monitor;
mod record;
mod sweep;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use freehold::{Era, Order, Switch};
use freehold_linux::ftrace_text::PfnRadix;

pub(crate) use analyze::Analyze;
pub(crate) use compare::Compare;
pub(crate) use generate::Generate;
pub(crate) use monitor::{Sensing, SensorChoice, Serve, Snapshot, SnapshotFormat, Top, Watch};
pub(crate) use record::{Record, Triggers};
pub(crate) use sweep::Sweep;

/// Compare generations of the Linux page allocator on a trace of a real machine.
#[derive(Parser, Debug)]
#[command(name = "freehold", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 a bug in Freehold; 2 unusable arguments or input;
3 this machine lacks something (root, tracefs, trace events); 4 the output could not be written;
5 the output is whole, but some runs of a sweep failed.
`check` has those of monitoring plugins: see `freehold check --help`.";

const CHECK_CODES: &str = "\
Exit codes: 0 available now; 1 only after compaction or reclaim; 2 not before memory is freed or the
machine reboots; 3 could not tell, which unusable arguments are too.";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Replay traces through every era and show the differences.
    Compare(Compare),
    /// Replay a trace through one era, in depth.
    Replay(Replay),
    /// Show what a trace asks of an allocator: orders, types, lifetimes, who allocates, bursts, pollution.
    #[command(long_about = analyze::LONG_ABOUT)]
    Analyze(Analyze),
    /// Replay traces with every combination of settings, and write all measures as one Parquet file.
    #[command(long_about = sweep::LONG_ABOUT)]
    Sweep(Sweep),
    /// Record this machine's page allocator into a trace (needs root).
    Record(Record),
    /// Turn the text of ftrace, trace-cmd or perf into a trace.
    Import(Import),
    /// Generate a trace of a workload by seed.
    Generate(Generate),
    /// Judge whether this machine can give blocks of an order: now, after compaction, or not at all.
    Check(Check),
    /// Measure the engine on this machine: a table for each of its systems.
    Bench(Bench),
    /// Look into a trace.
    #[command(subcommand)]
    Trace(Trace),
    /// Print this machine's free blocks as the kernel's texts do, or as JSON.
    Snapshot(Snapshot),
    /// Run a command when memory passes a threshold.
    Watch(Watch),
    /// Show where this machine's memory stands: a page in the terminal.
    Top(Top),
    /// Show this machine's memory to browsers and Prometheus.
    Serve(Serve),
}

/// Says what is wrong with the arguments, or the help that was asked for.
///
/// Unusable arguments are 2, but 3 for `check`: of a monitoring plugin 2 would mean that memory is short.
pub(crate) fn refuse(error: &clap::Error) -> ExitCode {
    let unprinted = error.print().is_err();
    let checks = std::env::args_os().nth(1).is_some_and(|command| command == "check");
    match error.exit_code() {
        0 if unprinted => ExitCode::from(4),
        0 => ExitCode::SUCCESS,
        _ if checks => ExitCode::from(3),
        code => ExitCode::from(u8::try_from(code).unwrap_or(2)),
    }
}

/// Which trace, and how it is shown.
#[derive(Args, Debug)]
pub(crate) struct Input {
    /// The trace.
    pub(crate) trace: PathBuf,
    /// Use what is readable of a trace that ends in the middle of a record.
    #[arg(long)]
    pub(crate) partial: bool,
}

/// In which form tables are printed.
#[derive(Args, Debug, Clone, Copy)]
#[group(multiple = false)]
pub(crate) struct Form {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print comma-separated values.
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) form: Form,
    /// Which generation of the allocator.
    #[arg(long, value_parser = parse_era, value_name = "ERA")]
    pub(crate) era: Era,
    /// Turn one of the four systems on.
    #[arg(long = "with", value_parser = parse_switch, value_name = "SYSTEM")]
    pub(crate) with: Vec<Switch>,
    /// Turn one of the four systems off.
    #[arg(long = "without", value_parser = parse_switch, value_name = "SYSTEM")]
    pub(crate) without: Vec<Switch>,
    /// Print the state at the end as /proc/pagetypeinfo would.
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(crate) pagetypeinfo: bool,
    /// Replays, of which lock hold times are the least of each hold.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "N")]
    pub(crate) repeat: u32,
}

#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Text of ftrace, trace-cmd report or perf script; also as .xz or .zst.
    pub(crate) text: PathBuf,
    /// /proc/zoneinfo as it was at the start.
    #[arg(long, value_name = "FILE")]
    pub(crate) zoneinfo: PathBuf,
    /// /proc/pagetypeinfo as it was at the start.
    #[arg(long, value_name = "FILE")]
    pub(crate) pagetypeinfo: PathBuf,
    /// /proc/kpageflags as it was at the start.
    #[arg(long, value_name = "FILE")]
    pub(crate) kpageflags: Option<PathBuf>,
    /// /proc/pagetypeinfo as it was at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) pagetypeinfo_end: Option<PathBuf>,
    /// The recorded machine's `uname -r`, which decides the era that its end is held against.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "RELEASE")]
    pub(crate) kernel_release: String,
    /// How frame numbers without 0x are read.
    #[arg(long, value_enum, default_value_t = Radix::Auto)]
    pub(crate) pfn_radix: Radix,
    /// The trace to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
}

/// How frame numbers without 0x are read.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Radix {
    /// By their looks.
    Auto,
    /// As decimal numbers, which kernels before 5.8 print.
    Decimal,
    /// As hexadecimal numbers.
    Hex,
}

impl From<Radix> for PfnRadix {
    fn from(radix: Radix) -> Self {
        match radix {
            Radix::Auto => Self::Auto,
            Radix::Decimal => Self::Decimal,
            Radix::Hex => Self::Hex,
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = CHECK_CODES)]
pub(crate) struct Check {
    /// The order of a block: 9 is 2 MiB where a page is 4 KiB.
    #[arg(long, default_value = "9", value_parser = parse_order, value_name = "N")]
    pub(crate) order: Order,
    /// How many blocks.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) blocks: u64,
    /// Only memory of this NUMA node.
    #[arg(long, value_name = "N")]
    pub(crate) node: Option<u32>,
    /// Only memory of zones of this name, such as Normal.
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Compact all memory, and report what was foretold against what came (needs root).
    #[arg(long = "try", conflicts_with = "root")]
    pub(crate) try_it: bool,
    #[command(flatten)]
    pub(crate) sensing: Sensing,
}

#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// Which table, or all.
    #[arg(value_parser = parse_bench, value_name = "TABLE")]
    pub(crate) table: Tables,
    /// Fewer rounds: all tables in under three minutes.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also write the figures as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Also draw the figures as an SVG picture; in a folder that is there, a picture of each table.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Orders for pagealloc instead of 4, 0 and 9; may be given several times.
    #[arg(long = "order", value_parser = parse_order, value_name = "N")]
    pub(crate) orders: Vec<Order>,
    /// Another side for peers: a program that docs/benchmarks.md describes; may be given several times.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) outside: Vec<PathBuf>,
    /// Another side for peers: a User-Mode Linux that `cargo xtask oracle` has built.
    #[arg(long, value_name = "KERNEL")]
    pub(crate) linux: Vec<PathBuf>,
    /// Be a side of another run: the engine's locked handle.
    #[arg(long, hide = true)]
    pub(crate) serve: bool,
    /// One side's work alone, as the counting of instructions asks for it.
    #[arg(long, hide = true, value_name = "WORK")]
    pub(crate) work: Option<freehold_bench::Work>,
}

/// The tables that a run is to measure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tables(pub(crate) Vec<freehold_bench::Bench>);

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

fn parse_era(name: &str) -> Result<Era, String> {
    Era::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Era::ALL.iter().map(|era| era.name()).collect();
        format!("the eras are {}", known.join(", "))
    })
}

fn parse_bench(name: &str) -> Result<Tables, String> {
    let all = freehold_bench::Bench::ALL;
    if name == "all" {
        return Ok(Tables(all.to_vec()));
    }
    freehold_bench::Bench::from_name(name).map(|bench| Tables(vec![bench])).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|bench| bench.name()).collect();
        let others = if cfg!(feature = "peers") { "" } else { "; peers needs a build with --features peers" };
        format!("the tables are {}, all of these by `all`, and sensor{others}", known.join(", "))
    })
}

fn parse_order(text: &str) -> Result<Order, String> {
    text.parse().ok().and_then(Order::new).ok_or_else(|| format!("an order is 0 to {}", Order::MAX))
}

fn parse_switch(name: &str) -> Result<Switch, String> {
    Switch::from_name(name).ok_or_else(|| {
        let all = Switch::ALL.iter().chain(&Switch::PLACEMENT);
        let known: Vec<_> = all.map(|switch| switch.name()).collect();
        format!("the systems and rules are {}", known.join(", "))
    })
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "a number of seconds above 0, such as 5 or 0.5".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
    if duration.is_zero() { Err(wrong()) } else { Ok(duration) }
}
