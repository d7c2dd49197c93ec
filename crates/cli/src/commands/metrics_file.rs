//! `freehold snapshot --format metrics`: the metrics as a text, for `node_exporter`'s textfile collector.

use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::anyhow;
use freehold_linux::pageblocks::Pace;
use freehold_linux::sample::Sampler;
use freehold_monitor::serve::Textfile;
use freehold_monitor::serve::metrics::Series;

use crate::args::Snapshot;
use crate::exit::{Cause, Failure};
use crate::output::{self, FinishedFile};

/// Prints or writes the metrics once, or writes them again and again.
pub(super) fn run(args: &Snapshot) -> Result<(), Failure> {
    match (&args.output, args.follow) {
        (Some(path), _) => check_name(path)?,
        (None, Some(_)) => {
            let what = anyhow!("--follow with --format metrics writes a file; name it with -o FILE.prom");
            return Err(Failure::new(Cause::Input, what));
        }
        (None, None) => {}
    }
    let mut sampler = Sampler::open(&args.sensing.root, args.sensing.sensor.into())?;
    sampler.survey_pageblocks(if args.follow.is_some() { Pace::Unseen } else { Pace::AtOnce });
    let mut textfile = Textfile::new(sampler.machine().clone(), args.follow);
    let series = if args.all { Series::All } else { Series::Default };
    let first = sampler.sample()?;
    output::notes(&first.notes);
    let text = textfile.text(Ok(first), series)?;
    let Some(path) = &args.output else { return output::print(&text) };
    write(path, args.force, &text)?;
    let Some(interval) = args.follow else { return Ok(()) };
    let mut due = Instant::now() + interval;
    let mut trouble = Trouble::default();
    loop {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        // Times that were missed, because the machine slept or a sample took long, are not made up for.
        due = (due + interval).max(Instant::now());
        let text = textfile.text(sampler.sample(), series)?;
        trouble.tell(write(path, true, &text));
    }
}

/// Refuses a name that the textfile collector would not read.
fn check_name(path: &Path) -> Result<(), Failure> {
    if path.extension().is_some_and(|end| end == "prom") {
        return Ok(());
    }
    let what = anyhow!(
        "node_exporter reads only files whose names end in .prom; name one, such as {}",
        path.with_extension("prom").display()
    );
    Err(Failure::new(Cause::Input, what))
}

fn write(path: &Path, force: bool, text: &str) -> Result<(), Failure> {
    let mut file = FinishedFile::create(path, force)?;
    file.write_text(text)?;
    file.keep()
}

/// Whether the file could not be written the last time.
#[derive(Default)]
struct Trouble {
    since: Option<Instant>,
}

impl Trouble {
    /// Tells of the first of several failures, and of their end. The file stays as it last was meanwhile.
    fn tell(&mut self, written: Result<(), Failure>) {
        match (written, self.since) {
            (Ok(()), Some(since)) => {
                self.since = None;
                let seconds = since.elapsed().as_secs();
                output::note(&format!("freehold: the file is written again, after {seconds} seconds"));
            }
            (Err(failure), None) => {
                self.since = Some(Instant::now());
                output::note(&format!("freehold: {failure}; it is tried again"));
            }
            (Ok(()), None) | (Err(_), Some(_)) => {}
        }
    }
}
