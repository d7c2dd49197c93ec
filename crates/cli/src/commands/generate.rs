//! `freehold dev generate`: makes a trace of a workload by seed.

use freehold_lab::workload::{GenerateError, Plan, write};
use freehold_measure::grouped;
use freehold_trace::{TraceError, WriteOptions};

use crate::args::Generate;
use crate::exit::{Cause, Failure};
use crate::output::{self, FinishedFile};

pub(crate) fn run(args: &Generate) -> Result<(), Failure> {
    let plan = Plan {
        seed: args.seed,
        variant: args.era.into(),
        pages: args.memory,
        cpus: args.cpus,
        events: args.events,
    };
    plan.check()?;
    let mut file = FinishedFile::create(&args.output, args.force)?;
    let name = args.output.display().to_string();
    let (_, generation) = write(&plan, &mut file, WriteOptions::new(&name))?;
    file.keep()?;
    let seconds = generation.time_ns as f64 / 1e9;
    output::note(&format!(
        "{name}: {} events in {seconds:.1} s of simulated time",
        grouped(generation.events)
    ));
    Ok(())
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
