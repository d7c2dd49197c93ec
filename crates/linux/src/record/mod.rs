//! Recording a live machine's page events.
//!
//! Tracing starts before the start snapshot is taken and ends after the end snapshot, so
//! that no event falls between a snapshot and the trace; a replay reconciles the overlap by
//! each frame's first event.

mod command;
mod effect;
mod limits;
mod options;
mod origin;
mod run;
mod rusage;
mod session;
mod signals;

use std::ops::ControlFlow;
use std::path::Path;
use std::thread;
use std::time::Instant;

use freehold_trace::{Disturbance, Ending, Snapshot};

use crate::clock;
use crate::error::Error;
use crate::procfs::{Occupancy, managed_changes, snapshot};
use crate::sink::EventSink;
use crate::tracefs::{Tracefs, remove_stale};
use effect::Costs;
pub use effect::record_measured;
pub use options::{Progress, RecordOptions, RecordReport};
pub use origin::cpu_model;
use run::{Stop, run};
use session::Session;
use signals::Signals;

/// Records the machine's page events into `sink` until the command, a limit of `options` or the user
/// ends it, and calls `progress` about once a second; what that breaks with is the trigger that ended it.
///
/// The tracing that others do on the machine is left as it is, and ours is gone afterwards,
/// also when this process is killed. Two recordings may run at once.
///
/// # Errors
///
/// What is missing on this machine, or the first failure of `sink`; the recorded command is
/// then terminated.
pub fn record(
    options: &RecordOptions,
    sink: &mut dyn EventSink,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<String>,
) -> Result<RecordReport, Error> {
    record_once(options, sink, progress, None)
}

/// Records once; `costs` gets what the command took, and its ending says so.
fn record_once(
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
    let start = snapshot_while_draining(&mut session, options.occupancy)?;
    let origin = origin::live(&options.command, session.events());
    sink.begin(&origin, &start).map_err(Error::Sink)?;
    session.add_own_tasks();

    let Stop { by, trigger, command, mut exit, cost } =
        run(&mut session, options, &signals, sink, progress, costs.is_some())?;

    let end = snapshot_while_draining(&mut session, Occupancy::Skip)?;
    let closing = session.finish(sink)?;
    // The trace is as large as it may be: what the command does now is not recorded any more.
    if let Some(mut command) = command {
        exit = Some(command.end()?);
    }
    if let (Some(costs), Some(cost)) = (&mut costs, cost) {
        costs.with.push(cost);
    }
    let mut warnings = managed_changes(&start, &end);
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

/// Takes a snapshot on a thread of its own while this one keeps the ring buffers from
/// running over.
fn snapshot_while_draining(session: &mut Session, occupancy: Occupancy) -> Result<Snapshot, Error> {
    let (tell, told) = std::sync::mpsc::channel();
    thread::scope(|scope| {
        let taker = scope.spawn(move || {
            let _ = tell.send(rustix::thread::gettid().as_raw_nonzero().get());
            snapshot(Path::new("/"), occupancy)
        });
        if let Ok(task) = told.recv() {
            session.add_own(task);
        }
        let mut drained = Ok(());
        while !taker.is_finished() && drained.is_ok() {
            thread::sleep(session.tick());
            drained = session.hold();
        }
        let taken = taker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        drained.and(taken)
    })
}
