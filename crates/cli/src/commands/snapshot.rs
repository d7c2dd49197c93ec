//! `freehold snapshot`: prints this machine's free blocks, once or again and again.

use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::anyhow;
use freehold_linux::sample::Sampler;
use freehold_monitor::model::Model;
use freehold_monitor::text::Cap;

use super::kernel_text::{KernelText, TextReader};
use super::metrics_file;
use crate::args::{Snapshot, SnapshotFormat};
use crate::exit::{Cause, Failure};
use crate::output::{self, FinishedFile};

pub(crate) fn run(args: &Snapshot) -> Result<(), Failure> {
    if args.all && args.format != SnapshotFormat::Metrics {
        let what = anyhow!("--all is for `--format metrics`; add that, or leave --all out");
        return Err(Failure::new(Cause::Input, what));
    }
    match args.format {
        SnapshotFormat::Metrics => metrics_file::run(args),
        SnapshotFormat::Json => json(args),
        SnapshotFormat::Buddyinfo => text(args, KernelText::Buddyinfo),
        SnapshotFormat::Pagetypeinfo => text(args, KernelText::Pagetypeinfo),
    }
}

fn json(args: &Snapshot) -> Result<(), Failure> {
    let mut sampler = Sampler::open(&args.sensing.root, args.sensing.sensor.into())?;
    again_and_again(args, |follows| {
        let sample = sampler.sample()?;
        let model = Model::new(sampler.machine(), None, &sample);
        if follows {
            // A line each, as programs read them that do not wait for an end.
            let line = serde_json::to_string(&model).map_err(|error| Failure::new(Cause::Bug, error))?;
            return Ok(format!("{line}\n"));
        }
        Ok(format!("{}\n", output::json(&model)?))
    })
}

fn text(args: &Snapshot, text: KernelText) -> Result<(), Failure> {
    let cap = if args.exact { Cap::Exact } else { Cap::Kernels };
    let mut reader = TextReader::open(&args.sensing.root, args.sensing.sensor.into(), text, cap)?;
    let mut told = false;
    again_and_again(args, |_| {
        let text = reader.read()?;
        if !std::mem::replace(&mut told, true) {
            output::notes(&reader.notes());
        }
        Ok(text)
    })
}

/// Prints or writes a text once, or with `--follow` again and again. `read` is told whether more follow.
fn again_and_again(
    args: &Snapshot,
    mut read: impl FnMut(bool) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let first = read(args.follow.is_some())?;
    put(args.output.as_deref(), args.force, &first)?;
    let Some(interval) = args.follow else { return Ok(()) };
    let mut due = Instant::now() + interval;
    loop {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        // Times that were missed, because the machine slept or a reading took long, are not made up for.
        due = (due + interval).max(Instant::now());
        put(args.output.as_deref(), true, &read(true)?)?;
    }
}

fn put(path: Option<&Path>, force: bool, text: &str) -> Result<(), Failure> {
    let Some(path) = path else { return output::print(text) };
    let mut file = FinishedFile::create(path, force)?;
    file.write_text(text)?;
    file.keep()
}
