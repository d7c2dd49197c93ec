//! `freehold snapshot`: prints or writes this machine's free blocks, once or again and again.

use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::anyhow;
use freehold_linux::pageblocks::Pace;
use freehold_linux::sample::Sampler;
use freehold_monitor::model::Model;
use freehold_monitor::series::Monitor;
use freehold_monitor::serve::Textfile;
use freehold_monitor::serve::metrics::Series;
use freehold_monitor::text::Cap;

use super::kernel_text::{KernelText, TextReader};
use super::needs::needs;
use crate::args::{Snapshot, SnapshotFormat};
use crate::exit::{Cause, Failure};
use crate::machine_files::MachineFiles;
use crate::output::{self, FinishedFile};

pub(crate) fn run(args: &Snapshot) -> Result<(), Failure> {
    if args.all && args.format != SnapshotFormat::Metrics {
        let what = anyhow!("--all is for `--format metrics`; add that, or leave --all out");
        return Err(Failure::new(Cause::Usage, what));
    }
    if !args.needs.need.is_empty() && !matches!(args.format, SnapshotFormat::Metrics | SnapshotFormat::Json) {
        let what =
            anyhow!("--need is for `--format json` and `--format metrics`; add one, or leave --need out");
        return Err(Failure::new(Cause::Usage, what));
    }
    let files = MachineFiles::open(&args.sensing.root)?;
    files.refuse_page_size(args.page_size)?;
    let args = &args.below(files.root());
    match args.format {
        SnapshotFormat::Metrics => metrics(args),
        SnapshotFormat::Json => json(args),
        SnapshotFormat::Buddyinfo => text(args, KernelText::Buddyinfo),
        SnapshotFormat::Pagetypeinfo => text(args, KernelText::Pagetypeinfo),
    }
}

fn json(args: &Snapshot) -> Result<(), Failure> {
    let mut sampler = sampler(args)?;
    let needs = needs(&args.needs, &args.sensing.root, sampler.machine())?;
    let has_needs = !needs.is_empty();
    if has_needs {
        sampler.survey_pageblocks(Pace::AtOnce);
    }
    let mut monitor = Monitor::new(sampler.machine().clone()).with_needs(needs);
    follow(args, |follows| {
        let sample = sampler.sample()?;
        let model =
            if has_needs { monitor.take(sample) } else { Model::new(sampler.machine(), None, &sample) };
        if follows {
            // A line each, as programs read them that do not wait for an end.
            let line = serde_json::to_string(&model).map_err(|error| Failure::new(Cause::Bug, error))?;
            return Ok(format!("{line}\n"));
        }
        Ok(format!("{}\n", output::json(&model)?))
    })
}

fn sampler(args: &Snapshot) -> Result<Sampler, Failure> {
    let sampler = Sampler::open(&args.sensing.root, args.sensing.sensor.into())?;
    Ok(sampler.with_page_size(args.page_size))
}

fn text(args: &Snapshot, text: KernelText) -> Result<(), Failure> {
    let cap = if args.exact { Cap::Exact } else { Cap::Kernels };
    let mut reader = TextReader::open(&args.sensing.root, args.sensing.sensor.into(), text, cap)?;
    let mut has_noted = false;
    follow(args, |_| {
        let text = reader.read()?;
        if !args.quiet && !std::mem::replace(&mut has_noted, true) {
            output::notes(&reader.notes());
        }
        Ok(text)
    })
}

/// Prints or writes the metrics once, or writes them again and again.
fn metrics(args: &Snapshot) -> Result<(), Failure> {
    match (&args.output, args.follow) {
        (Some(path), _) => check_name(path)?,
        (None, Some(_)) => {
            let what = anyhow!("--follow with --format metrics writes a file; name it with -o FILE.prom");
            return Err(Failure::new(Cause::Usage, what));
        }
        (None, None) => {}
    }
    let mut sampler = sampler(args)?;
    sampler.survey_pageblocks(if args.follow.is_some() { Pace::Served } else { Pace::AtOnce });
    let needs = needs(&args.needs, &args.sensing.root, sampler.machine())?;
    let mut textfile = Textfile::new(sampler.machine().clone(), needs, args.follow);
    let series = if args.all { Series::All } else { Series::Default };
    let first = sampler.sample()?;
    if !args.quiet {
        output::notes(&first.notes);
    }
    let mut first = Some(first);
    follow(args, |_| {
        let sample = first.take().map_or_else(|| sampler.sample(), Ok);
        Ok(textfile.text(sample, series)?)
    })
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
    Err(Failure::new(Cause::Usage, what))
}

/// Prints or writes what `read` returns, once, or with `--follow` again and again. `read` gets whether more follows.
///
/// A file that cannot be written the first time is an error; later it stays as it is, and is tried again.
fn follow(args: &Snapshot, mut read: impl FnMut(bool) -> Result<String, Failure>) -> Result<(), Failure> {
    let first = read(args.follow.is_some())?;
    match &args.output {
        Some(path) => write(path, args.force, &first)?,
        None => output::print(&first)?,
    }
    let Some(interval) = args.follow else { return Ok(()) };
    let mut due = Instant::now() + interval;
    let mut trouble = Trouble::default();
    loop {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        // Times that were missed, because the machine slept or a reading took long, are not made up for.
        due = (due + interval).max(Instant::now());
        let text = read(true)?;
        match &args.output {
            Some(path) => trouble.tell(write(path, true, &text)),
            None => output::print(&text)?,
        }
    }
}

fn write(path: &Path, force: bool, text: &str) -> Result<(), Failure> {
    let mut file = FinishedFile::create(path, force)?;
    file.write_text(text)?;
    file.keep()
}

/// The time since which the file cannot be written.
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
                output::note(&format!("freehold: {failure}; trying again"));
            }
            (Ok(()), None) | (Err(_), Some(_)) => {}
        }
    }
}
