//! `freehold snapshot`: prints this machine's free blocks once.

use anyhow::anyhow;
use freehold_linux::sample::{Sample, Sampler};
use freehold_linux::sensor::{Choice, Ration, Sensor};
use freehold_monitor::model::Model;
use freehold_monitor::text::{Cap, Missing, buddyinfo, pagetypeinfo};

use super::metrics_file;
use crate::args::{Sensing, Snapshot, SnapshotFormat};
use crate::exit::{Cause, Failure};
use crate::output::{self, FinishedFile};

pub(crate) fn run(args: &Snapshot) -> Result<(), Failure> {
    if args.format == SnapshotFormat::Metrics {
        return metrics_file::run(args);
    }
    for (given, option) in [(args.interval.is_some(), "--interval"), (args.all, "--all")] {
        if given {
            let what = anyhow!("{option} is for `--format metrics`; add that, or leave {option} out");
            return Err(Failure::new(Cause::Input, what));
        }
    }
    let file = args.output.as_deref().map(|path| FinishedFile::create(path, args.force)).transpose()?;
    let mut sampler = Sampler::open(&args.sensing.root, args.sensing.sensor.into())?;
    let mut sample = sampler.sample()?;
    let cap = if args.exact { Cap::Exact } else { Cap::Kernels };
    match args.format {
        SnapshotFormat::Json => {
            let text = output::json(&Model::new(sampler.machine(), None, &sample))?;
            file.map_or_else(|| output::print_json_text(&text), |file| finish(file, &format!("{text}\n")))
        }
        SnapshotFormat::Buddyinfo => {
            output::notes(&sample.notes);
            put(file, &buddyinfo(&sample.free))
        }
        SnapshotFormat::Pagetypeinfo | SnapshotFormat::Metrics => {
            if pagetypeinfo(&sample.free, cap) == Err(Missing::Pageblocks) {
                add_pageblocks(&args.sensing, &mut sample)?;
            }
            output::notes(&sample.notes);
            put(file, &pagetypeinfo(&sample.free, cap).map_err(|_| without_types(&sample))?)
        }
    }
}

fn put(file: Option<FinishedFile>, text: &str) -> Result<(), Failure> {
    file.map_or_else(|| output::print(text), |file| finish(file, text))
}

fn finish(mut file: FinishedFile, text: &str) -> Result<(), Failure> {
    file.write_text(text)?;
    file.keep()
}

/// Adds the pageblocks by type from `/proc/pagetypeinfo` if the sensor does not count them.
fn add_pageblocks(sensing: &Sensing, sample: &mut Sample) -> Result<(), Failure> {
    let typed = Sensor::open(&sensing.root, Choice::Procfs, Ration::Unlimited)?.read()?;
    for zone in &mut sample.free.zones {
        let known = typed.zones.iter().find(|known| known.node == zone.node && known.name == zone.name);
        zone.pageblocks = known.and_then(|known| known.pageblocks.clone());
    }
    let told = "the numbers of pageblocks are from /proc/pagetypeinfo, which took each zone's lock once";
    sample.notes.push(told.to_owned());
    Ok(())
}

fn without_types(sample: &Sample) -> Failure {
    let what = anyhow!(
        "free blocks by migratetype cannot be read from {}; run as root, or ask for `--format buddyinfo`",
        sample.free.source.name()
    );
    Failure::new(Cause::Machine, what)
}
