//! `freehold generate`: makes a trace of a workload by seed.

use std::path::Path;

use anyhow::anyhow;
use freehold::Era;
use freehold_lab::workload::{GenerateError, Hygiene, MixFit, Plan, Workload, write};
use freehold_measure::grouped;
use freehold_trace::{TraceError, WriteOptions};

use crate::args::{Generate, Input};
use crate::exit::{Cause, Failure};
use crate::load;
use crate::output::{self, FinishedFile, csv};

pub(crate) fn run(args: &Generate) -> Result<(), Failure> {
    let plan = plan(args)?;
    plan.check()?;
    match &args.output {
        Some(path) if !args.table => trace(args, &plan, path),
        _ => table(args, &plan),
    }
}

/// Makes the plan. Fails if the arguments do not go together.
fn plan(args: &Generate) -> Result<Plan, Failure> {
    let is = |workload| args.workload == workload;
    let refuse = |what: String| Err(Failure::new(Cause::Input, anyhow!(what)));
    let only = |option: &str, workload: Workload| {
        refuse(format!("{option} is for {workload}, not for {}", args.workload))
    };
    if args.like.is_some() && !is(Workload::Mix) {
        return only("--like", Workload::Mix);
    }
    if args.builds.is_some() && !is(Workload::MemcacheKbuildThp) {
        return only("--builds", Workload::MemcacheKbuildThp);
    }
    if args.table && !is(Workload::MemcacheKbuildThp) {
        return only("--table", Workload::MemcacheKbuildThp);
    }
    if (args.form.json || args.form.csv) && !args.table {
        return refuse("--json and --csv are for --table; a trace is read by `freehold trace`".to_owned());
    }
    let mut plan = match &args.like {
        Some(path) => like(path)?,
        None if is(Workload::Mix) => {
            return refuse("mix draws from a recorded trace; name one with --like TRACE".to_owned());
        }
        None => Plan::new(args.workload),
    };
    let usual = if args.table { Era::Linux6_1 } else { Era::Linux6_12 };
    plan.variant = args.era.unwrap_or(usual).into();
    plan.seed = args.seed;
    plan.events = args.events;
    plan.pages = args.memory.unwrap_or(plan.pages);
    plan.cpus = args.cpus.unwrap_or(plan.cpus);
    plan.builds = args.builds.unwrap_or(plan.builds);
    Ok(plan)
}

/// Makes the plan of a mix like the recorded trace at `path`.
fn like(path: &Path) -> Result<Plan, Failure> {
    let input = Input { trace: path.to_owned(), partial: false };
    let mut reader = load::open(&input)?;
    let start = reader.start().clone();
    let mut fit = MixFit::new(path.display().to_string(), &start);
    while let Some(batch) = reader.next_batch()? {
        for event in batch {
            fit.event(event);
        }
    }
    let nothing = || {
        Failure::new(
            Cause::Input,
            anyhow!("{}: nothing is allocated in this trace; name another", path.display()),
        )
    };
    Ok(Plan::like(fit.finish().ok_or_else(nothing)?))
}

fn trace(args: &Generate, plan: &Plan, path: &Path) -> Result<(), Failure> {
    output::refuse_input(path, &args.like)?;
    let mut file = FinishedFile::create(path, args.force)?;
    let name = path.display().to_string();
    let (_, generation) = write(plan, &mut file, WriteOptions::new(&name))?;
    file.keep()?;
    let seconds = generation.time_ns as f64 / 1e9;
    output::note(&format!("{name}: {} events in {seconds:.1} s of made-up time", grouped(generation.events)));
    Ok(())
}

/// Prints the table of the hygiene series.
fn table(args: &Generate, plan: &Plan) -> Result<(), Failure> {
    let hygiene = Hygiene::measure(plan)?;
    let tables = [hygiene.table(), hygiene.series()];
    if args.form.json {
        output::print_json(&hygiene.to_json())
    } else if args.form.csv {
        output::print(&csv(&tables))
    } else {
        let texts: Vec<_> = tables.iter().map(freehold_measure::Table::to_text).collect();
        output::print(&texts.join("\n\n"))
    }
}

impl From<GenerateError> for Failure {
    fn from(error: GenerateError) -> Self {
        match error {
            GenerateError::Lab(error) => error.into(),
            GenerateError::Trace(error @ TraceError::Io { .. }) => Self::new(Cause::Output, error),
            GenerateError::Trace(error) => Self::new(Cause::Bug, error),
            error => Self::new(Cause::Bug, error),
        }
    }
}
