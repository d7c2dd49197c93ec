//! Measures what recording costs a command: runs it without and with recording, in turns.

use std::ops::ControlFlow;
use std::time::Duration;

use freehold_trace::StoppedBy;

use super::command::{self, RecordedCommand};
use super::cost::{Costs, RunCost};
use super::once::record_once;
use super::options::{Progress, RecordOptions, RecordReport};
use super::signals::Signals;
use crate::error::{Error, SinkError};
use crate::sink::EventSink;

/// Runs the command once to warm up, then `runs` times without and `runs` times with recording, in turns.
/// The last recording goes to `sink`, and its ending holds the times of all runs. The other recordings go
/// to the sinks that `discarded` makes, which must do the same work.
///
/// In every other round the recorded run comes first, so that a machine that becomes slower or faster
/// affects both equally.
///
/// # Errors
///
/// Those of [`super::record`], and [`Error::StoppedEarly`] if a stop is requested before the last
/// recording.
pub fn record_measured<'s>(
    options: &RecordOptions,
    runs: u32,
    discarded: &mut dyn FnMut() -> Result<Box<dyn EventSink + 's>, SinkError>,
    sink: &mut dyn EventSink,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<String>,
) -> Result<RecordReport, Error> {
    let runs = runs.max(1);
    let mut costs = Costs::default();
    run_without(options)?;
    for round in 1..=runs {
        let recorded_first = (runs - round) % 2 == 1;
        if recorded_first {
            record_and_discard(options, discarded, progress, &mut costs)?;
        }
        costs.without.push(run_without(options)?);
        if !recorded_first && round < runs {
            record_and_discard(options, discarded, progress, &mut costs)?;
        }
    }
    record_once(options, sink, progress, Some(&mut costs))
}

fn record_and_discard<'s>(
    options: &RecordOptions,
    discarded: &mut dyn FnMut() -> Result<Box<dyn EventSink + 's>, SinkError>,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<String>,
    costs: &mut Costs,
) -> Result<(), Error> {
    let mut sink = discarded().map_err(Error::Sink)?;
    let report = record_once(options, &mut *sink, progress, Some(costs))?;
    match report.ending.stopped_by {
        Some(StoppedBy::Command) => Ok(()),
        _ => Err(Error::StoppedEarly),
    }
}

/// Runs the command without recording.
fn run_without(options: &RecordOptions) -> Result<RunCost, Error> {
    command::check(&options.command)?;
    let signals = Signals::watch(options);
    let Some(mut command) = RecordedCommand::start(&options.command)? else {
        return Err(Error::StoppedEarly);
    };
    loop {
        if command.wait(Duration::from_millis(500))?.is_some() {
            let cost = command.cost();
            return if signals.stop_requested() { Err(Error::StoppedEarly) } else { Ok(cost) };
        }
        if signals.stop_requested() {
            command.hurry(signals.interrupted_only());
        }
    }
}
