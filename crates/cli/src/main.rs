//! The `freehold` binary: arguments in, exit code out.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod exit;
mod load;
mod machine_files;
mod output;
mod pins;
mod readings;

use std::process::ExitCode;

use clap::FromArgMatches;

use args::{Cli, Command, Dev};

/// The remedies if memory is exhausted.
const NO_MEMORY: &str = "freehold: there is not enough memory; end other programs, raise the limit (`ulimit -v`, the \
                         control group's `memory.max`), or take a smaller trace\n";

fn main() -> ExitCode {
    // Without the handler the same ends less politely.
    let _ = freehold_linux::end_without_memory(exit::Cause::Machine as i32, NO_MEMORY, output::remove_litter);
    let parsed = args::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return args::refuse(&error),
    };
    let done = match cli.command {
        Command::Check(args) => return commands::check::run(&args),
        Command::Demand(args) => commands::demand::run(&args),
        Command::Rehearse(args) => return commands::rehearse::run(&args),
        Command::Repair(args) => return commands::repair::run(&args),
        Command::KernelWrite(args) => return commands::repair::kernel_write(&args),
        Command::GiveBack(args) => return commands::give_back::run(&args),
        Command::Analyze(args) => commands::analyze::run(&args),
        Command::Fallbacks(args) => commands::fallbacks::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Record(args) => {
            return commands::record::run(&args).unwrap_or_else(|failure| output::report(&failure));
        }
        Command::Import(args) => commands::import::run(&args),
        Command::Blame(args) => commands::blame::run(&args),
        Command::Callers(args) => commands::callers::run(&args),
        Command::Diff(args) => commands::diff::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Trace(args) => commands::trace::run(&args),
        Command::Snapshot(args) => commands::snapshot::run(&args),
        Command::Top(args) => commands::top::run(&args),
        Command::Watch(args) => {
            return commands::watch::run(&args).unwrap_or_else(|failure| output::report(&failure));
        }
        Command::Serve(args) => commands::serve::run(&args),
        Command::Dev(Dev::Generate(args)) => commands::generate::run(&args),
        Command::Dev(Dev::NewRule(args)) => commands::new_rule::run(&args),
        Command::Dev(Dev::Completions(args)) => commands::manual::completions(&args),
        Command::Dev(Dev::Man(args)) => commands::manual::man(&args),
        Command::Dev(Dev::Reference) => commands::reference::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output::report(&failure),
    }
}
