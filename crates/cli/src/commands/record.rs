//! `freehold record`: this machine's page events into a trace.

use freehold_linux::procfs::Occupancy;
use freehold_linux::tracefs::Detail;
use freehold_linux::{Error, Progress, RecordOptions, RecordReport, TraceSink, record};
use freehold_trace::WriteOptions;
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::Record;
use crate::exit::{Cause, Failure};
use crate::in_place::InPlace;
use crate::output;

pub(crate) fn run(args: &Record) -> Result<(), Failure> {
    let mut file = InPlace::create(&args.output, args.force)?;
    let name = args.output.display().to_string();
    let mut sink = TraceSink::new(&mut file, WriteOptions::new(&name));
    let options = RecordOptions {
        command: args.command.clone(),
        duration: args.duration,
        buffer_kib_per_cpu: args.buffer,
        detail: if args.detail { Detail::Lists } else { Detail::Requests },
        occupancy: if args.no_occupancy { Occupancy::Skip } else { Occupancy::Read },
        ..RecordOptions::default()
    };
    let line = progress_line();
    let done = record(&options, &mut sink, &mut |progress| line.set_message(progress_text(progress)));
    line.finish_and_clear();
    match done {
        Ok(report) => {
            tell(&name, &report);
            Ok(())
        }
        Err(error) => {
            drop(sink);
            // What was recorded up to an error is worth keeping.
            if file.is_untouched() || matches!(error, Error::Command { .. }) {
                file.discard();
            }
            Err(failure(error))
        }
    }
}

/// What fails while a machine is recorded is the machine's fault, but for the command.
fn failure(error: Error) -> Failure {
    match error {
        Error::Sink(_) | Error::Command { .. } => error.into(),
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
    format!(
        "{:.0} s: {} events, {} a second, {} lost",
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
