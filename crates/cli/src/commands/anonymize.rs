//! `freehold trace anonymize`: writes a trace without what names its machine, and looks that it measures the same.

use std::io::Write;

use anyhow::anyhow;
use freehold_lab::{Anonymizer, CompareOptions, Comparison, Differing, Lab, Loaded, differing};
use freehold_measure::grouped;
use freehold_trace::{ReadOptions, TraceError, TraceReader, WriteOptions};

use crate::args::TraceAnonymize;
use crate::exit::{Cause, Failure};
use crate::load::{self, Reader};
use crate::output::{self, FinishedFile};

pub(crate) fn run(args: &TraceAnonymize) -> Result<(), Failure> {
    share(args, |anonymizer, reader, options| anonymizer.write(reader, Vec::new(), options))
}

/// Writes what `make` makes of a trace, if every measure of it is that of the trace.
fn share(
    args: &TraceAnonymize,
    make: impl FnOnce(&Anonymizer, Reader, WriteOptions) -> Result<Vec<u8>, TraceError>,
) -> Result<(), Failure> {
    output::refuse_input(&args.made.output, [&args.input.trace])?;
    let loaded = load::whole(&args.input)?;
    let mut file = FinishedFile::create(&args.made.output, args.made.force)?;
    let lab = load::lab(&loaded)?;
    let blur_ns = u64::try_from(args.blur.as_nanos()).unwrap_or(u64::MAX);
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let anonymizer = Anonymizer::new(&lab, blur_ns, seed);
    // In memory until it is known to measure the same.
    let name = args.made.name();
    let bytes = make(&anonymizer, load::open(&args.input)?, WriteOptions::small(name.as_str()))?;
    let replicates = lab.replays_by_default();
    let before = compared(&loaded.name, &lab, replicates)?;
    let shared = read_again(&name, &bytes)?;
    let after = compared(&name, &load::lab(&shared)?, replicates)?;
    let (measures, differ) = differing(&before, &after);
    if let Some(first) = differ.first() {
        return Err(Failure::new(Cause::Bug, anyhow!("{}: {}", loaded.name, refusal(first, differ.len()))));
    }
    file.write_all(&bytes)
        .map_err(|error| Failure::new(Cause::Output, TraceError::Io { file: name, source: error }))?;
    file.keep()?;
    output::note(&format!(
        "freehold: all {} measures of compare, in short, are the same; {} of {} events kept their time since the first one, \
         as a replay depends on it; times were moved by {:.1} us on average",
        grouped(measures as u64),
        grouped(anonymizer.kept() as u64),
        grouped(lab.trace.events.len() as u64),
        anonymizer.mean_move_ns() / 1000.0
    ));
    Ok(())
}

fn compared(name: &str, lab: &Lab<'_>, replicates: u32) -> Result<Comparison, Failure> {
    lab.compare(CompareOptions::in_short(replicates)).map_err(|error| load::failure(name, error))
}

/// Reads the trace that was made.
fn read_again(name: &str, bytes: &[u8]) -> Result<Loaded, Failure> {
    let open = || TraceReader::open(bytes, ReadOptions::new(name)).map_err(Failure::from);
    Loaded::read(name, open, |_| {})
}

/// Returns why a trace is not shared.
fn refusal(first: &Differing, differ: usize) -> String {
    let [before, after] =
        first.values.map(|value| value.map_or("none".to_owned(), |value| value.to_string()));
    let others = if differ == 1 { String::new() } else { format!(", and {} more differ", differ - 1) };
    format!(
        "{} would be {after} instead of {before}{others}; nothing was written; please report this trace",
        first.what
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use freehold_lab::workload::Plan;
    use freehold_trace::{Event, EventKind, TraceWriter};

    use super::*;
    use crate::args::{Input, NewTrace};

    /// A fault injected into the events.
    type Fault = fn(&mut Vec<Event>);

    /// Makes the trace to share, with a fault in its events.
    fn faulty(
        anonymizer: &Anonymizer,
        reader: Reader,
        options: WriteOptions,
        fault: Fault,
    ) -> Result<Vec<u8>, TraceError> {
        let bytes = anonymizer.write(reader, Vec::new(), options.clone())?;
        let mut reader = TraceReader::open(&bytes[..], ReadOptions::new("shared"))?;
        let mut events = Vec::new();
        while let Some(batch) = reader.next_batch()? {
            events.extend_from_slice(batch);
        }
        fault(&mut events);
        let mut writer = TraceWriter::create(Vec::new(), options, reader.origin(), reader.start())?;
        for event in &events {
            writer.push(event)?;
        }
        writer.finish(reader.ending().expect("a whole trace"))
    }

    /// Writes a trace of a small machine that is made up, which takes little to replay.
    fn write_small(path: &Path) {
        let plan = Plan { pages: 1 << 14, events: Some(5000), ..Plan::default() };
        let (bytes, _) = freehold_lab::workload::write(&plan, Vec::new(), WriteOptions::new("mine")).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn refuse_a_request(events: &mut [Event]) {
        let mut kinds = events.iter_mut().rev().map(|event| &mut event.kind);
        if let Some(EventKind::Alloc { pfn, .. }) =
            kinds.find(|kind| matches!(kind, EventKind::Alloc { pfn: Some(_), .. }))
        {
            *pfn = None;
        }
    }

    #[test]
    fn a_trace_that_measures_otherwise_is_not_left() {
        let folder = tempfile::tempdir().unwrap();
        let [trace, output] = ["mine.arrows", "shared.arrows"].map(|name| folder.path().join(name));
        write_small(&trace);
        let mut args = TraceAnonymize {
            input: Input { trace, partial: false },
            made: NewTrace { output: output.clone(), force: false },
            blur: Duration::from_millis(1),
            seed: Some(1),
        };
        let files = || fs::read_dir(folder.path()).unwrap().count();
        let faults: [(&str, Fault); 4] = [
            ("an event is missing", |events| {
                events.remove(events.len() / 2);
            }),
            ("an event is there twice", |events| events.insert(1, events[0])),
            ("a request fails", |events| refuse_a_request(events)),
            ("times are rounded without care", |events| {
                for event in events {
                    event.time_ns -= event.time_ns % 100_000_000;
                }
            }),
        ];
        for (name, fault) in faults {
            let made = share(&args, |anonymizer, reader, options| faulty(anonymizer, reader, options, fault));
            let failure = made.expect_err(name);
            let said = failure.to_string();
            assert_eq!(failure.cause, Cause::Bug, "{name}: {said}");
            for words in ["mine.arrows: ", " would be ", " instead of ", "nothing was written"] {
                assert!(said.contains(words), "{name}: {said}");
            }
            if args.made.force {
                assert_eq!(fs::read(&output).unwrap(), b"precious", "{name}: what was there stays");
            } else {
                assert_eq!(files(), 1, "{name}: nothing is left beside the trace");
                fs::write(&output, "precious").unwrap();
                args.made.force = true;
            }
            assert_eq!(files(), 2, "{name}");
        }
        share(&args, |anonymizer, reader, options| faulty(anonymizer, reader, options, |_| ())).unwrap();
        assert_ne!(fs::read(&output).unwrap(), b"precious", "without a fault it is written");
    }
}
