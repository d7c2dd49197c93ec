//! `freehold record`: records this machine's page events into a trace.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use freehold::Order;
use freehold_linux::pageblocks::Pace;
use freehold_linux::procfs::{Occupancy, page_bytes, read_buddyinfo};
use freehold_linux::sample::Sampler;
use freehold_linux::sensor::Choice;
use freehold_linux::tracefs::Detail;
use freehold_linux::{
    Error, EventSink, HeededSignals, Progress, RecordOptions, RecordReport, RingOptions, RingSink, SinkError,
    TraceSink, record, record_measured,
};
use freehold_monitor::series::Monitor;
use freehold_monitor::threshold::Zones;
use freehold_trace::{StoppedBy, WriteOptions};
use indicatif::{ProgressBar, ProgressStyle};

use super::needs::one_huge_page;
use super::recording_text::{effect_lines, stop_text};
use super::request::refuse_larger;
use super::thresholds::Thresholds;
use crate::args::{Record, Triggers};
use crate::exit::{Cause, Failure};
use crate::output::{self, GrowingFile};

pub(crate) fn run(args: &Record) -> Result<ExitCode, Failure> {
    // From here on signals end the recording, and not this process with an empty file.
    let _heeded = HeededSignals::new();
    let mut file = GrowingFile::create(&args.made.output, args.made.force)?;
    match record_into(args, &mut file) {
        Ok(report) => {
            let written = file.path().map(Path::to_owned);
            file.keep().inspect_err(|_| written.iter().for_each(|path| tell_partial(path)))?;
            tell(&args.made.name(), &report);
            Ok(exit_code(&report))
        }
        Err(failure) => {
            // The events up to an error are worth keeping.
            if file.is_untouched() || failure.keeps_nothing {
                file.discard();
            } else if let Some(path) = file.path() {
                tell_partial(path);
            }
            Err(failure.failure)
        }
    }
}

/// Says where the events up to an error are.
fn tell_partial(path: &Path) {
    let path = path.display();
    output::note(&format!("freehold: {path} has what was recorded until then; read it with --partial"));
}

/// Fails if no request of `order` can fail on this machine, since it has no blocks of that order.
fn check_order(order: Order) -> Result<(), Failure> {
    let root = Path::new("/");
    let zones = read_buddyinfo(root)?;
    let largest = zones.first().map_or(Order::MAX_PAGE_ORDER, |zone| zone.free.largest());
    refuse_larger(order, largest, page_bytes(root).unwrap_or_default())
}

/// Returns the exit code of the recorded command if the command ended by itself, as strace(1) and perf(1) do.
fn exit_code(report: &RecordReport) -> ExitCode {
    let by_itself = report.ending.stopped_by == Some(StoppedBy::Command);
    let code = report.ending.command_exit.filter(|_| by_itself).unwrap_or(0);
    // A code that does not fit is none of a command.
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// Why a recording failed.
struct Failed {
    failure: Failure,
    /// True if the file holds nothing of use.
    keeps_nothing: bool,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self { failure, keeps_nothing: true }
    }
}

fn record_into(args: &Record, file: &mut GrowingFile) -> Result<RecordReport, Failed> {
    let name = args.made.name();
    let options = RecordOptions {
        command: args.command.clone(),
        duration: args.duration,
        max_bytes: args.max_size,
        max_events: args.max_events,
        until_failure: args.until.failure,
        groups: args.events.iter().filter_map(|events| events.group()).collect(),
        buffer_kib_per_cpu: args.buffer,
        detail: if args.detail { Detail::Lists } else { Detail::Requests },
        occupancy: if args.snapshots.no_occupancy { Occupancy::Skip } else { Occupancy::Read },
        exact: !args.snapshots.no_exact,
        ..RecordOptions::default()
    };
    if let Some(order) = args.until.failure {
        check_order(order)?;
    }
    let mut lookout = Lookout::new(&args.until)?;
    let line = progress_line();
    let progress = &mut |progress: &Progress| {
        line.set_message(progress_text(progress));
        lookout.as_mut().map_or(ControlFlow::Continue(()), Lookout::look)
    };
    let mut sink = TraceSink::new(file, WriteOptions::new(&name));
    let done = match (args.measure_effect, args.ring) {
        (Some(runs), _) => record_measured(&options, runs, &mut || discarded(args), &mut sink, progress),
        (None, Some(keep)) => {
            let ring = RingOptions { keep, memory_bytes: args.ring_memory };
            record(&options, &mut RingSink::new(&mut sink, ring), progress)
        }
        (None, None) => record(&options, &mut sink, progress),
    };
    line.finish_and_clear();
    done.map_err(|error| Failed {
        keeps_nothing: matches!(error, Error::Command { .. }),
        failure: failure(error),
    })
}

/// Opens a file without a name beside the output, for the recordings that only measure what recording
/// costs.
fn discarded(args: &Record) -> Result<Box<dyn EventSink>, SinkError> {
    let file = output::unnamed_file(&args.made.output)?;
    Ok(Box::new(TraceSink::new(file, WriteOptions::new(args.made.name()))))
}

/// Returns a failure that blames the machine, unless the sink, the command or an early stop failed.
fn failure(error: Error) -> Failure {
    match error {
        Error::Sink(_) | Error::Command { .. } | Error::StoppedEarly => error.into(),
        _ => Failure::new(Cause::Machine, error),
    }
}

fn progress_line() -> ProgressBar {
    let line = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        line.set_style(style);
    }
    line
}

fn progress_text(progress: &Progress) -> String {
    let size = progress.bytes.map_or_else(String::new, |bytes| format!(", {:.1} MB", bytes as f64 / 1e6));
    format!(
        "{:.0} s: {} events, {} a second, {} lost{size}",
        progress.seconds, progress.events, progress.events_per_s, progress.lost
    )
}

fn tell(name: &str, report: &RecordReport) {
    let disturbance = &report.ending.disturbance;
    let seconds = disturbance.wall_ns as f64 / 1e9;
    output::note(&format!("{name}: {} events in {seconds:.1} s, {} lost", report.events, report.lost));
    output::note(&format!(
        "the recorder used {:.1} s of CPU time and caused {} of the events",
        disturbance.cpu_ns as f64 / 1e9,
        disturbance.own_events
    ));
    if let Some(effect) = &disturbance.effect {
        for text in effect_lines(effect) {
            output::note(&text);
        }
    }
    if let Some(by) = report.ending.stopped_by.filter(|&by| by != StoppedBy::Command) {
        output::note(&stop_text(by, report.ending.trigger.as_deref()));
    }
    if !report.missing_events.is_empty() {
        output::note(&format!("this kernel does not have: {}", report.missing_events.join(", ")));
    }
    if let Some(code) = report.ending.command_exit.filter(|&code| code != 0) {
        output::note(&format!("the command ended with exit code {code}"));
    }
    let not_whole = [(report.unreadable, "could not be decoded"), (report.late, "came late and were moved")];
    for (events, what) in not_whole.into_iter().filter(|&(events, _)| events > 0) {
        output::note(&format!("{events} events {what}"));
    }
    for instance in &report.stale_removed {
        output::note(&format!(
            "removed the tracing instance {instance}, left behind by a recorder that was killed"
        ));
    }
    for warning in &report.warnings {
        output::note(&format!("warning: {warning}"));
    }
}

/// Samples this machine and compares it with the thresholds.
struct Lookout {
    sampler: Sampler,
    monitor: Monitor,
    thresholds: Thresholds,
}

impl Lookout {
    /// Opens a lookout if there are thresholds. Fails if one can never be passed on this machine.
    fn new(until: &Triggers) -> Result<Option<Self>, Failure> {
        let zones = Zones { name: until.zone.clone(), node: until.node };
        let thresholds = Thresholds::new(&until.above, &until.below, zones);
        if thresholds.is_empty() {
            return Ok(None);
        }
        // `/proc`, not BPF: the kernel would compile the BPF programs while it is recorded.
        let mut sampler = Sampler::open(Path::new("/"), Choice::Procfs)?;
        let mut monitor = Monitor::new(sampler.machine().clone());
        if thresholds.need_pageblocks() {
            sampler.survey_pageblocks(Pace::Unseen);
            monitor = monitor.with_needs(vec![one_huge_page(Path::new("/"), sampler.machine())?]);
        }
        thresholds.check(&monitor.take(sampler.sample()?))?;
        Ok(Some(Self { sampler, monitor, thresholds }))
    }

    /// Takes a sample. Breaks with the measured value if a threshold is passed. A failed reading is
    /// ignored and tried again at the next sample.
    fn look(&mut self) -> ControlFlow<String> {
        let Ok(sample) = self.sampler.sample() else { return ControlFlow::Continue(()) };
        let model = self.monitor.take(sample);
        match self.thresholds.passed(&model).flatten().next() {
            Some(seen) => ControlFlow::Break(seen),
            None => ControlFlow::Continue(()),
        }
    }
}
