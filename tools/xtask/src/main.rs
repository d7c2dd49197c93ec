//! `cargo xtask`: the command line of the repository's checks and builds.

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::bench::BenchArgs;
use xtask::calibrate::command::CalibrateArgs;
use xtask::counterfactual::command::CounterfactualArgs;
use xtask::dist::command::DistArgs;
use xtask::fuzz::FuzzArgs;
use xtask::guest::command::GuestArgs;
use xtask::instructions::InstructionsArgs;
use xtask::live::LiveArgs;
use xtask::oracle::command::OracleArgs;
use xtask::proposals::command::ProposalsArgs;
use xtask::sensor::SensorArgs;
use xtask::series::command::SeriesArgs;
use xtask::supply::SupplyArgs;
use xtask::traces::command::TracesArgs;
use xtask::{oracle, series};

/// Check, test, measure and build this repository
#[derive(Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check the house style
    Tidy,
    /// Play scripts on real kernels and compare their answers with the engine's
    Oracle(OracleArgs),
    /// Apply, build, test and measure the series for Linux
    Series(SeriesArgs),
    /// Compare predictions from recordings with recordings of real kernels
    Counterfactual(CounterfactualArgs),
    /// Run each proposal's workload on kernels with and without its change
    Proposals(ProposalsArgs),
    /// Run the BPF sensor's tests in kernels with and without the series
    Sensor(SensorArgs),
    /// Fuzz every parser
    Fuzz(FuzzArgs),
    /// Compare the instructions of the engine's operations with the kept table
    Instructions(InstructionsArgs),
    /// Check licences, advisories, duplicates and sources of the dependencies
    Supply(SupplyArgs),
    /// Build a release: static programs, packages, wheels, sources, lists of contents
    Dist(DistArgs),
    /// Run tests that need this machine, QEMU, a browser, Prometheus or a kernel
    Live(LiveArgs),
    /// Boot a kernel in QEMU, and run every command of the static program there
    Guest(GuestArgs),
    /// Compare the forecasts of `freehold check` with requests in guests
    Calibrate(CalibrateArgs),
    /// Record the public traces in QEMU, and write the index of all traces
    Traces(TracesArgs),
    /// Build the site: the documents as a book, and the page that replays traces
    Site,
    /// Measure the engine and, with --peers, other allocators on this machine
    Bench(BenchArgs),
}

/// The exit code if a check found something.
const FOUND: u8 = 1;

/// The exit code if the command failed.
const FAILED: u8 = 3;

fn main() -> ExitCode {
    let root = xtask::root();
    let done = match Arguments::parse().chore {
        Chore::Live(arguments) => return live(&arguments, root),
        Chore::Tidy => tidy(root),
        Chore::Bench(arguments) => xtask::bench::run(&arguments, root),
        Chore::Calibrate(arguments) => xtask::calibrate::command::run(&arguments, root),
        Chore::Counterfactual(arguments) => xtask::counterfactual::command::run(&arguments, root),
        Chore::Proposals(arguments) => xtask::proposals::command::run(&arguments, root),
        Chore::Sensor(arguments) => xtask::sensor::run(&arguments, root),
        Chore::Fuzz(arguments) => xtask::fuzz::run(&arguments, root),
        Chore::Instructions(arguments) => xtask::instructions::run(&arguments, root),
        Chore::Supply(arguments) => xtask::supply::run(&arguments, root),
        Chore::Dist(arguments) => xtask::dist::command::run(&arguments, root),
        Chore::Guest(arguments) => xtask::guest::command::run(&arguments, root),
        Chore::Traces(arguments) => xtask::traces::command::run(&arguments, root),
        Chore::Site => xtask::site::run(root),
        Chore::Oracle(arguments) => oracle::command::run(&arguments, root).map_err(|error| error.to_string()),
        Chore::Series(arguments) => run_series(&arguments, root),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FOUND),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(FAILED)
        }
    }
}

/// Runs `live`, which has its own exit codes.
fn live(arguments: &LiveArgs, root: &Path) -> ExitCode {
    xtask::live::run(arguments, root).map_or_else(
        |error| {
            eprintln!("{error}");
            ExitCode::from(FAILED)
        },
        |ended| ExitCode::from(ended.code()),
    )
}

/// Runs `series`. Returns false if the series does not fit a kernel; other failures are errors.
fn run_series(arguments: &SeriesArgs, root: &Path) -> Result<bool, String> {
    series::command::run(arguments, root).or_else(|error| {
        if error.is_finding() {
            println!("{error}");
            return Ok(false);
        }
        Err(error.to_string())
    })
}

/// Prints the findings. Returns true if there are none.
fn tidy(root: &Path) -> Result<bool, String> {
    let findings =
        xtask::tidy::findings(root).map_err(|error| format!("the repository cannot be read: {error}"))?;
    for finding in &findings {
        println!("{finding}");
    }
    Ok(findings.is_empty())
}
