//! `freehold check`: a verdict with its reason.
//!
//! `by_type.rs` describes free memory of copies. `quick.rs` judges a random sample. `try_compaction.rs` compacts and `try_pool.rs` asks the hugetlb pool, to compare a forecast
//! with the result.

mod by_type;
mod quick;
mod report;
mod try_compaction;
mod try_pool;

use std::process::ExitCode;
use std::time::Duration;

use freehold_linux::procfs::{copy_notes, read_zones};

use crate::args::Check;
use crate::exit::Failure;
use crate::machine_files::MachineFiles;
use crate::output;
use crate::readings::Readings;

use super::repair_lock::RepairLock;
use super::request;

use by_type::{free_by_type, without_watermarks};
use report::{Report, Tried};
use try_pool::Pool;

/// How long a trial waits for another one, or for a repair.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs the command. The exit codes are those of a monitoring plugin.
pub(crate) fn run(args: &Check) -> ExitCode {
    output::plugin(args.json, check(args))
}

fn check(args: &Check) -> Result<u8, Failure> {
    let files = MachineFiles::open(&args.sensing.root)?;
    files.refuse_page_size(args.page_size)?;
    let args = &args.below(files.root());
    let root = files.root();
    let zones = read_zones(root)?;
    let (request, missing) = request::request(&args.into(), root, &zones)?;
    let mut notes = copy_notes(root, args.page_size);
    if args.quick {
        let verdict = quick::run(root, &zones, &request)?;
        let lines = report::lines(verdict.action.as_ref(), &verdict.reason);
        let text = || report::with_state(verdict.exit_code, &lines, &notes, missing.as_slice());
        return output::with_code(
            if args.json { output::print_json(&verdict) } else { output::print(&text()) },
            verdict.exit_code,
        );
    }
    let pool = match (args.verify, request.contiguous) {
        (false, _) => None,
        (true, true) => Some(Pool::find(root, &request)?),
        (true, false) => {
            try_compaction::check_permitted(root)?;
            None
        }
    };
    // Taken before the machine is read: what a repair changes would make the forecast wrong.
    let lock = if args.verify { Some(RepairLock::take(PATIENCE)?) } else { None };
    let mut readings = Readings::take(root, args.sensing.sensor.into(), &request)?;
    readings.note(missing);
    let has_watermarks = root.join("proc/zoneinfo").exists();
    if !has_watermarks {
        notes.extend(free_by_type(&readings, &request));
    }
    let cpu = if args.verify && pool.is_none() { readings.calmest_cpu() } else { None };
    let mut verdict = readings.judge(&request, cpu);
    if !has_watermarks {
        without_watermarks(&mut verdict);
    }
    let tried = match (args.verify, pool) {
        (false, _) => None,
        (true, Some(pool)) => Some(Tried::Pool(pool.ask(&verdict)?)),
        (true, None) => Some(Tried::Compaction(Box::new(try_compaction::run(
            &args.sensing,
            &mut readings,
            &verdict,
            cpu,
        )?))),
    };
    drop(lock);
    let code = match &tried {
        Some(Tried::Compaction(tried)) => tried.after.exit_code,
        Some(Tried::Pool(tried)) => tried.exit_code(&verdict),
        None => verdict.exit_code,
    };
    let report =
        Report { types: readings.types_from(), free_from: readings.free_from(), verdict, notes, tried };
    output::with_code(
        if args.json {
            output::print_json(&report)
        } else {
            let text = report::text(&report, args.full);
            output::print(&if args.perfdata { report::with_perfdata(&text, &report.verdict) } else { text })
        },
        code,
    )
}
