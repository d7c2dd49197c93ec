//! `freehold repair`: does the least that makes enough blocks, and compares each forecast with the result.
//!
//! `make.rs` asks the user first. `launch.rs` makes what a launch needs. `steps.rs` does a step, reads the machine again and makes a new plan. `page_cache.rs` drops page
//! cache in chunks, `compaction.rs` compacts in parts. `child.rs` is the process that writes to the kernel; `worker.rs` kills it
//! when there are enough blocks, a part's time is over, or a signal arrives. The kernel's compaction ends on a fatal signal.

mod answer;
mod child;
mod compaction;
mod counters;
mod launch;
mod make;
mod outcome;
mod page_cache;
mod steps;
mod text;
mod worker;

use std::process::ExitCode;

use freehold_linux::procfs::read_zoneinfo;

use super::repair_lock::ended_by_signal;
use super::request;
use crate::args::Repair;
use crate::exit::Failure;
use crate::output;
use crate::readings::Readings;

use make::{lock, make, may_repair};
use outcome::Outcome;

pub(crate) use child::kernel_write;

/// Runs the command. The exit codes are those of a monitoring plugin.
pub(crate) fn run(args: &Repair) -> ExitCode {
    let done = match &args.demand {
        Some(file) => launch::repair(args, file),
        None => repair(args).and_then(|outcome| {
            let code = outcome.exit_code;
            let printed = if args.json {
                output::print_json(&outcome)
            } else {
                output::print(&text::outcome(&outcome))
            };
            output::with_code(printed, code)
        }),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            output::note(&format!("freehold: {failure}"));
            ExitCode::from(3)
        }
    }
}

fn repair(args: &Repair) -> Result<Outcome, Failure> {
    let root = args.sensing.root.as_path();
    may_repair(args)?;
    let zones = read_zoneinfo(root)?;
    let (request, _) = request::request(&args.into(), root, &zones)?;
    let _lock = lock(args)?;
    let readings = Readings::take(root, args.sensing.sensor.into(), &request)?;
    make(args, &request, readings, &ended_by_signal())
}
