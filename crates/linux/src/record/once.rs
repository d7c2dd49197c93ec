//! Makes one recording, from the start snapshot to the end snapshot.

use std::ops::ControlFlow;
use std::time::Instant;

use freehold_trace::{Disturbance, Ending, ExactPart};

use super::command;
use super::cost::Costs;
use super::options::{Progress, RecordOptions, RecordReport};
use super::origin;
use super::run::{Stop, run};
use super::session::Session;
use super::signals::Signals;
use crate::clock;
use crate::error::Error;
use crate::procfs::{Occupancy, managed_changes};
use crate::sensor::BPF_BUILT;
use crate::sink::EventSink;
use crate::tracefs::{Tracefs, remove_stale};

/// Records the machine's page events into `sink` until the command ends, a limit of `options` is reached,
/// or the user stops it. Calls `progress` about once a second; if that breaks, the recording ends, and
/// the text is noted as its trigger.
///
/// Other tracing on the machine is not affected. The instance is removed afterwards, also if this process
/// is killed. Two recordings may run at once.
///
/// # Errors
///
/// The first missing feature of this machine, or the first failure of `sink`. The command is then
/// terminated.
pub fn record(
    options: &RecordOptions,
    sink: &mut dyn EventSink,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<String>,
) -> Result<RecordReport, Error> {
    record_once(options, sink, progress, None)
}

/// Makes one recording. Adds the command's times to `costs`; the ending holds their sum.
pub(super) fn record_once(
    options: &RecordOptions,
    sink: &mut dyn EventSink,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<String>,
    mut costs: Option<&mut Costs>,
) -> Result<RecordReport, Error> {
    let began = Instant::now();
    let cpu_before = clock::process_cpu_ns();
    command::check(&options.command)?;
    let signals = Signals::watch(options);
    let tracefs = Tracefs::open()?;
    let stale_removed = remove_stale(&tracefs);
    let mut session = Session::start(&tracefs, options)?;
    let start = session.snapshot(options.occupancy)?;
    let origin = origin::live(&options.command, session.events());
    sink.begin(&origin, &start).map_err(Error::Sink)?;
    session.add_own_tasks();

    let Stop { by, trigger, command, mut exit, cost } =
        run(&mut session, options, &signals, sink, progress, costs.is_some())?;

    let end = session.snapshot(Occupancy::Skip)?;
    let closing = session.finish(sink)?;
    // The recording has ended: a command that still runs is not recorded any more.
    if let Some(mut command) = command {
        exit = Some(command.end()?);
    }
    if let (Some(costs), Some(cost)) = (&mut costs, cost) {
        costs.with.push(cost);
    }
    let mut warnings = managed_changes(&start, &end);
    if let ExactPart::Missing { missing } = &start.exact
        && BPF_BUILT
        && options.exact
    {
        warnings.push(format!(
            "the free lists were not read block by block ({missing}); a replay fits its start"
        ));
    }
    warnings.extend(closing.warnings());
    let ending = Ending {
        snapshot: Some(end),
        lost_by_cpu: closing.lost_by_cpu.clone(),
        command_exit: exit,
        disturbance: Disturbance {
            cpu_ns: clock::process_cpu_ns().saturating_sub(cpu_before),
            wall_ns: began.elapsed().as_nanos() as u64,
            own_events: closing.tally.own_events,
            buffer_pages: closing.buffer_pages,
            effect: costs.map(|costs| costs.effect()),
        },
        stopped_by: Some(by),
        trigger,
    };
    sink.end(&ending).map_err(Error::Sink)?;
    Ok(RecordReport {
        ending,
        missing_events: origin.missing_events,
        events: closing.tally.events,
        lost: closing.lost(),
        unreadable: closing.tally.unreadable,
        late: closing.late,
        warnings,
        stale_removed,
    })
}
