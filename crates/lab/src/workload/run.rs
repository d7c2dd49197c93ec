//! Runs a workload and hands its trace to a target.

use std::io::Write;

use freehold_trace::{Ending, WriteOptions};

use super::host::on_a_host;
use super::mmap_read::MmapRead;
use super::plan::Plan;
use super::target::{GenerateError, Generated, Generation, Target, Written};
use crate::error::LabError;

/// Generates a trace into a sink.
///
/// # Errors
/// As [`Plan::check`]; errors of writing.
pub fn write<W: Write>(
    plan: &Plan,
    sink: W,
    options: WriteOptions,
) -> Result<(W, Generation), GenerateError> {
    plan.check()?;
    let mut target = Written::new(sink, options);
    run(plan, &mut target)?;
    target.finish()
}

/// Generates a trace in memory.
///
/// # Errors
/// As [`Plan::check`].
pub fn collect(plan: &Plan) -> Result<Generated, LabError> {
    plan.check()?;
    let mut target = Generated::default();
    run(plan, &mut target)?;
    Ok(target)
}

/// Events that are handed over at once.
const BATCH: usize = 1 << 16;

/// Runs the workload on a machine and hands its trace to a target, a batch at a time.
fn run<T: Target>(plan: &Plan, target: &mut T) -> Result<(), T::Error> {
    on_a_host(&plan.ground(), |mut host| {
        let mut load = MmapRead::settled(&mut host);
        let start = host.start_recording();
        target.begin(&plan.origin(), &start)?;
        let mut is_done = false;
        while !is_done {
            load.step(&mut host);
            is_done = match plan.events {
                Some(events) => host.recorded() >= events,
                None => load.is_done(),
            };
            if is_done || host.waiting() >= BATCH {
                host.hand_over(|events| target.events(events))?;
            }
        }
        host.check(&plan.variant)?;
        let ending = Ending { snapshot: Some(host.end()), ..Ending::default() };
        target.end(&ending)
    })
}
