//! Recording a live machine's page events.
//!
//! Tracing starts before the start snapshot is taken and ends after the end snapshot, so
//! that no event falls between a snapshot and the trace; a replay reconciles the overlap by
//! each frame's first event.

mod command;
mod options;
mod origin;
mod session;
mod signals;

use std::path::Path;
use std::thread;
use std::time::Instant;

use freehold_trace::{Disturbance, Ending, Snapshot};

use crate::clock;
use crate::error::Error;
use crate::procfs::{Occupancy, managed_changes, snapshot};
use crate::sink::EventSink;
use crate::tracefs::{Tracefs, remove_stale};
use command::RecordedCommand;
pub use options::{Progress, RecordOptions, RecordReport};
use session::Session;
use signals::Signals;

/// Records the machine's page events into `sink` until the command, the duration or the user
/// ends it, and calls `progress` about once a second.
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
    progress: &mut dyn FnMut(&Progress),
) -> Result<RecordReport, Error> {
    let began = Instant::now();
    let cpu_before = clock::process_cpu_ns();
    command::check(&options.command)?;
    let signals = Signals::watch(options);
    let tracefs = Tracefs::open()?;
    let stale_removed = remove_stale(&tracefs);
    let mut session = Session::start(&tracefs, options)?;
    let start = snapshot_while_draining(&mut session, options.occupancy)?;
    sink.begin(&origin::live(&options.command), &start).map_err(Error::Sink)?;
    session.add_own_tasks();

    let command_exit = run(&mut session, options, &signals, sink, progress)?;

    let end = snapshot_while_draining(&mut session, Occupancy::Skip)?;
    let closing = session.finish(sink)?;
    let mut warnings = managed_changes(&start, &end);
    warnings.extend(closing.warnings());
    let ending = Ending {
        snapshot: Some(end),
        lost_by_cpu: closing.lost_by_cpu.clone(),
        command_exit,
        disturbance: Disturbance {
            cpu_ns: clock::process_cpu_ns().saturating_sub(cpu_before),
            wall_ns: began.elapsed().as_nanos() as u64,
            own_events: closing.tally.own_events,
            buffer_pages: closing.buffer_pages,
        },
    };
    sink.end(&ending).map_err(Error::Sink)?;
    Ok(RecordReport {
        ending,
        events: closing.tally.events,
        lost: closing.lost(),
        unreadable: closing.tally.unreadable,
        late: closing.late,
        warnings,
        stale_removed,
    })
}

/// Runs the command, or waits, and passes events on in the meantime. Returns the exit code.
fn run(
    session: &mut Session,
    options: &RecordOptions,
    signals: &Signals,
    sink: &mut dyn EventSink,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Option<i32>, Error> {
    let began = Instant::now();
    let mut reporter = Reporter::new(began);
    let mut command = RecordedCommand::start(&options.command)?;
    loop {
        let mut exit = None;
        match &mut command {
            Some(command) => exit = command.wait(session.tick())?,
            None => thread::sleep(session.tick()),
        }
        session.turn(sink)?;
        reporter.report(session, sink, progress)?;
        if exit.is_some() {
            return Ok(exit);
        }
        let over = options.duration.is_some_and(|limit| began.elapsed() >= limit);
        if over || signals.stop_asked() {
            match &mut command {
                Some(command) => command.hurry(!over && signals.interrupted_only()),
                None => return Ok(None),
            }
        }
    }
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

/// Flushes the sink and reports about once a second.
struct Reporter {
    began: Instant,
    last: Instant,
    last_events: u64,
}

impl Reporter {
    fn new(began: Instant) -> Self {
        Self { began, last: began, last_events: 0 }
    }

    fn report(
        &mut self,
        session: &Session,
        sink: &mut dyn EventSink,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), Error> {
        let since = self.last.elapsed().as_secs_f64();
        if since < 1.0 {
            return Ok(());
        }
        sink.flush().map_err(Error::Sink)?;
        let tally = session.tally();
        progress(&Progress {
            seconds: self.began.elapsed().as_secs_f64(),
            events: tally.events,
            events_per_s: ((tally.events - self.last_events) as f64 / since) as u64,
            lost: tally.lost,
        });
        self.last = Instant::now();
        self.last_events = tally.events;
        Ok(())
    }
}
