//! `freehold snapshot --format metrics`: the metrics as a text, for `node_exporter`'s textfile collector.

use std::path::Path;

use anyhow::anyhow;
use freehold_linux::pageblocks::Pace;
use freehold_linux::sample::Sampler;
use freehold_monitor::serve::Textfile;
use freehold_monitor::serve::metrics::Series;

use super::follow::follow;
use crate::args::Snapshot;
use crate::exit::{Cause, Failure};
use crate::output;

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
    Err(Failure::new(Cause::Input, what))
}
