//! Records a command into a file and says what that cost.
//!
//! `record FILE COMMAND…`, as root.

use std::io::BufWriter;
use std::process::ExitCode;

use freehold_linux::procfs::Occupancy;
use freehold_linux::{RecordOptions, TraceSink, record};
use freehold_trace::WriteOptions;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("record FILE COMMAND…");
        return ExitCode::from(2);
    };
    let options = RecordOptions {
        command: arguments.collect(),
        occupancy: Occupancy::Read,
        ..RecordOptions::default()
    };
    match run(&path, &options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(path: &str, options: &RecordOptions) -> Result<(), Box<dyn std::error::Error>> {
    let file = BufWriter::new(std::fs::File::create(path)?);
    let mut sink = TraceSink::new(file, WriteOptions::new(path));
    let mut seconds = 0.0;
    let report = record(options, &mut sink, &mut |p| {
        seconds = p.seconds;
        eprintln!(
            "{:6.1} s {:>10} events {:>8} events/s, lost {}",
            p.seconds, p.events, p.events_per_s, p.lost
        );
    })?;
    let cost = &report.ending.disturbance;
    eprintln!(
        "{} events, lost {}, late {}, unreadable {}; recorder: {:.2} s CPU in {:.2} s, {} own events, {} buffer pages",
        report.events,
        report.lost,
        report.late,
        report.unreadable,
        cost.cpu_ns as f64 / 1e9,
        cost.wall_ns as f64 / 1e9,
        cost.own_events,
        cost.buffer_pages
    );
    for warning in &report.warnings {
        eprintln!("{warning}");
    }
    Ok(())
}
