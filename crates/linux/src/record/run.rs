//! The time between the snapshots: waits, passes events on, and decides when to end.

use std::ops::ControlFlow;
use std::thread;
use std::time::Instant;

use freehold_trace::StoppedBy;

use super::command::RecordedCommand;
use super::cost::RunCost;
use super::limits::Limits;
use super::options::{Progress, RecordOptions};
use super::origin::online_cpus;
use super::session::Session;
use super::signals::Signals;
use crate::clock;
use crate::error::Error;
use crate::sink::EventSink;

/// How the time between the snapshots ended.
pub(super) struct Stop {
    pub(super) by: StoppedBy,
    /// What was measured of a trigger.
    pub(super) trigger: Option<String>,
    /// The command if it still runs.
    pub(super) command: Option<RecordedCommand>,
    /// The command's exit code if it has ended.
    pub(super) exit: Option<i32>,
    /// The command's times if it ended by itself and they are measured.
    pub(super) cost: Option<RunCost>,
}

/// Starts the command and passes events on until something ends the recording.
pub(super) fn run(
    session: &mut Session,
    options: &RecordOptions,
    signals: &Signals,
    sink: &mut dyn EventSink,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<String>,
    measured: bool,
) -> Result<Stop, Error> {
    let began = Instant::now();
    let mut reporter = Reporter::new(began);
    let mut limits = Limits::new(options, online_cpus().into());
    let mut command = RecordedCommand::start(&options.command)?;
    if let (Some(command), true) = (&command, measured) {
        command.watch_the_clock();
        session.add_own_tasks();
    }
    // The reason for which the command was ended.
    let mut stop_reason = None;
    loop {
        let (mut exit, mut cost) = (None, None);
        match &mut command {
            Some(command) => {
                exit = command.wait(session.tick())?;
                cost = (measured && exit.is_some()).then(|| command.cost());
            }
            None => thread::sleep(session.tick()),
        }
        session.turn(sink)?;
        let trigger = reporter.report(session, sink, progress)?;
        let trigger = trigger.map(|seen| (StoppedBy::Trigger, Some(seen)));
        let reached = trigger.or_else(|| limits.reached(session.tally(), session.pending(), sink.bytes()));
        if exit.is_some() {
            cost = cost.filter(|_| stop_reason.is_none());
            // The command may have ended because of what the trigger waits for.
            let seen = reached.filter(|(by, _)| *by == StoppedBy::Trigger);
            let (by, trigger) = seen.unwrap_or((stop_reason.unwrap_or(StoppedBy::Command), None));
            return Ok(Stop { by, trigger, command: None, exit, cost });
        }
        if let Some((by, trigger)) = reached {
            return Ok(Stop { by, trigger, command, exit, cost });
        }
        let over = options.duration.is_some_and(|limit| began.elapsed() >= limit);
        if over || signals.stop_requested() {
            let by = *stop_reason.get_or_insert(if over { StoppedBy::Duration } else { StoppedBy::Request });
            match &mut command {
                Some(command) => command.hurry(!over && signals.interrupted_only()),
                None => return Ok(Stop { by, trigger: None, command: None, exit, cost }),
            }
        } else if sink.wants_snapshot() {
            start_over(session, options, sink)?;
        }
    }
}

/// Gives the sink a snapshot to start over from.
fn start_over(session: &mut Session, options: &RecordOptions, sink: &mut dyn EventSink) -> Result<(), Error> {
    let begins_ns = clock::monotonic_ns();
    let start = session.snapshot(options.occupancy)?;
    session.release(begins_ns, sink)?;
    sink.restart(&start).map_err(Error::Sink)
}

/// Flushes the sink, and reports about once a second.
struct Reporter {
    began: Instant,
    last: Instant,
    last_events: u64,
}

impl Reporter {
    fn new(began: Instant) -> Self {
        Self { began, last: began, last_events: 0 }
    }

    /// Reports if a second has passed. Returns what `progress` measured of a trigger.
    fn report(
        &mut self,
        session: &Session,
        sink: &mut dyn EventSink,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<String>,
    ) -> Result<Option<String>, Error> {
        let since = self.last.elapsed().as_secs_f64();
        if since < 1.0 {
            return Ok(None);
        }
        sink.flush().map_err(Error::Sink)?;
        let tally = session.tally();
        let seen = progress(&Progress {
            seconds: self.began.elapsed().as_secs_f64(),
            events: tally.events,
            events_per_s: ((tally.events - self.last_events) as f64 / since) as u64,
            lost: tally.lost,
            bytes: sink.bytes(),
        });
        self.last = Instant::now();
        self.last_events = tally.events;
        Ok(seen.break_value())
    }
}
