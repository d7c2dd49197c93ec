//! `freehold snapshot`: prints this machine's free blocks once.

use anyhow::anyhow;
use freehold_linux::sample::{Sample, Sampler};
use freehold_linux::sensor::{Choice, Ration, Sensor};
use freehold_monitor::model::Model;
use freehold_monitor::text::{Cap, Missing, buddyinfo, pagetypeinfo};

use crate::args::{Sensing, Snapshot, SnapshotFormat};
use crate::exit::{Cause, Failure};
use crate::output;

pub(crate) fn run(args: &Snapshot) -> Result<(), Failure> {
    let mut sampler = Sampler::open(&args.sensing.root, args.sensing.sensor.into())?;
    let mut sample = sampler.sample()?;
    let cap = if args.exact { Cap::Exact } else { Cap::Kernels };
    match args.format {
        SnapshotFormat::Buddyinfo => {
            output::notes(&sample.notes);
            output::print(&buddyinfo(&sample.free))
        }
        SnapshotFormat::Json => output::print_json(&Model::new(sampler.machine(), None, &sample)),
        SnapshotFormat::Pagetypeinfo => {
            if pagetypeinfo(&sample.free, cap) == Err(Missing::Pageblocks) {
                add_pageblocks(&args.sensing, &mut sample)?;
            }
            output::notes(&sample.notes);
            let text = pagetypeinfo(&sample.free, cap).map_err(|_| without_types(&sample))?;
            output::print(&text)
        }
    }
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
