//! The command line as a whole.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use freehold_measure::foreign;

use super::analyze::{self, Analyze};
use super::blame::Blame;
use super::callers::{self, Callers};
use super::check::{Check, GiveBack};
use super::compare::Compare;
use super::demand::{self, Demand};
use super::diff::{self, Diff};
use super::explain::{self, Explain};
use super::fallbacks::{self, Fallbacks};
use super::generate::Generate;
use super::import::Import;
use super::manual::{Completions, Man};
use super::monitor::{Serve, Snapshot, Top, Watch};
use super::new_rule::{self, NewRule};
use super::predict::{self, Predict};
use super::record::Record;
use super::rehearse::{self, Rehearse};
use super::repair::{self, KernelWrite, Repair};
use super::replay::Replay;
use super::sweep::{self, Sweep};
use super::trace::Trace;
use crate::exit::{CODES, Cause};

/// The Linux page allocator: explain failed allocations, watch fragmentation, compare kernels on a recording.
#[derive(Parser, Debug)]
#[command(name = "freehold", version = VERSION, after_help = EXIT, after_long_help = CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT: &str = "`freehold --help` also lists the exit codes; `freehold COMMAND -h` has examples.";

/// The version, and how it was built.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("FREEHOLD_BUILD"), ")");

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Replay traces through every era and show the differences.
    Compare(Compare),
    /// Replay a trace through one era, in depth.
    Replay(Replay),
    /// Show the requests of a trace: orders, types, lifetimes, callers, bursts.
    #[command(long_about = analyze::LONG_ABOUT)]
    Analyze(Analyze),
    /// Count fallbacks between migratetypes by type, order and task.
    #[command(long_about = fallbacks::LONG_ABOUT)]
    Fallbacks(Fallbacks),
    /// Replay traces with every combination of settings into one Parquet file.
    #[command(long_about = sweep::LONG_ABOUT)]
    Sweep(Sweep),
    /// Predict the effect of a setting from recordings, and compare with observations.
    #[command(long_about = predict::LONG_ABOUT)]
    Predict(Predict),
    /// Record this machine's page allocator into a trace (needs root).
    Record(Record),
    /// Convert the output of ftrace, trace-cmd, perf or bpftrace into a trace.
    Import(Import),
    /// Check whether blocks of a size are available now, after compaction, or not.
    Check(Check),
    /// Print the requests of a trace for `rehearse`.
    #[command(long_about = demand::LONG_ABOUT)]
    Demand(Demand),
    /// Say whether a launch starts, from the list of its requests.
    #[command(long_about = rehearse::LONG_ABOUT)]
    Rehearse(Rehearse),
    /// Show which unmovable pages keep blocks from becoming free (needs root).
    Blame(Blame),
    /// Show who requests large blocks, who fails or waits, and for how long (needs root).
    #[command(long_about = callers::LONG_ABOUT)]
    Callers(Callers),
    /// Show what changed between two snapshots of free memory.
    #[command(long_about = diff::LONG_ABOUT)]
    Diff(Diff),
    /// Explain why an allocation failed: `dmesg | freehold explain`.
    #[command(long_about = explain::LONG_ABOUT)]
    Explain(Explain),
    /// Make free blocks of a size by reclaim and compaction (needs root).
    #[command(long_about = repair::LONG_ABOUT)]
    Repair(Repair),
    /// Show, compress or anonymize a trace.
    #[command(subcommand)]
    Trace(Trace),
    /// Print this machine's free blocks in the kernel's formats, or as JSON.
    Snapshot(Snapshot),
    /// Run a command when memory passes a threshold.
    Watch(Watch),
    /// Show this machine's memory in the terminal.
    Top(Top),
    /// Show this machine's memory to browsers and Prometheus.
    Serve(Serve),
    /// Set a pool of huge pages back when the input ends; `check --verify` starts it.
    #[command(hide = true)]
    GiveBack(GiveBack),
    /// Write to one of the kernel's files; `repair` starts it.
    #[command(hide = true)]
    KernelWrite(KernelWrite),
    /// Commands for developers.
    #[command(subcommand)]
    Dev(Dev),
}

#[derive(Subcommand, Debug)]
pub(crate) enum Dev {
    /// Generate a trace of a workload from a seed.
    Generate(Generate),
    /// Start a crate for a placement rule, and compare it with the eras.
    #[command(long_about = new_rule::LONG_ABOUT)]
    NewRule(NewRule),
    /// Print completions of this command line for a shell.
    Completions(Completions),
    /// Write the manual into a folder, one page for each command.
    Man(Man),
    /// Print every command, option and exit code as Markdown.
    Reference,
}

/// Returns a message of the parser in the words of a user: what a number has to be, and no tip that passes an unknown option on as a
/// value.
fn plain(text: &str) -> String {
    let is_tip = |line: &&str| line.trim_start().starts_with("tip: to pass ");
    let lines: Vec<_> = text.lines().filter(|line| !is_tip(line)).collect();
    let text = lines.join("\n") + "\n";
    text.replace("\n\n\n", "\n\n")
        .replace("invalid digit found in string", "write a whole number, such as 5")
        .replace("number too large to fit in target type", "write a smaller number")
}

/// Prints the help that was requested, or what is wrong with the arguments.
///
/// Returns the exit code: for `check`, `repair` and `rehearse` 3, as a monitoring plugin's 1 and 2 are verdicts.
pub(crate) fn refuse(error: &clap::Error) -> ExitCode {
    // What is wrong may be a file's name.
    let text = plain(&error.render().to_string());
    let command = std::env::args_os().nth(1).unwrap_or_default();
    let prints_answer = command == "check" || command == "rehearse";
    let is_plugin = prints_answer || command == "repair";
    // A monitoring system reads the first line of standard output.
    let text = if prints_answer { text.replacen("error: ", "UNKNOWN: ", 1) } else { text };
    let text = foreign::lines(&text);
    let printed = if error.use_stderr() && !prints_answer {
        io::stderr().write_all(text.as_bytes())
    } else {
        io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush())
    };
    match error.exit_code() {
        0 if printed.is_err() => ExitCode::from(Cause::Output as u8),
        0 => ExitCode::SUCCESS,
        _ if is_plugin => ExitCode::from(3),
        _ => ExitCode::from(Cause::Usage as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_to_write() {
        let message = |words: &str| {
            let error = super::super::command().try_get_matches_from(words.split(' ')).unwrap_err();
            plain(&error.render().to_string())
        };
        let number = message("freehold check --for-pid abc");
        assert!(number.contains("'--for-pid <PID>': write a whole number, such as 5\n"), "{number}");
        let large = message("freehold blame --rows 99999999999999999999999");
        assert!(large.contains("'--rows <N>': write a smaller number\n"), "{large}");
        let unknown = message("freehold rehearse --zones x");
        assert!(unknown.contains("'--zones' found\n\nUsage:"), "{unknown}");
    }
}
