//! `freehold snapshot`: prints this machine's free blocks, once or again and again.

use anyhow::anyhow;
use freehold_linux::sample::Sampler;
use freehold_monitor::model::Model;
use freehold_monitor::text::Cap;

use super::follow::follow;
use super::kernel_text::{KernelText, TextReader};
use super::metrics_file;
use crate::args::{Snapshot, SnapshotFormat};
use crate::exit::{Cause, Failure};
use crate::output;

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
    follow(args, |follows| {
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
    follow(args, |_| {
        let text = reader.read()?;
        if !std::mem::replace(&mut told, true) {
            output::notes(&reader.notes());
        }
        Ok(text)
    })
}
