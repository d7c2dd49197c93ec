//! `freehold top`: shows this machine's memory in the terminal.

use freehold_linux::procfs::read_machine;
use freehold_monitor::top::{TopOptions, run as show};

use super::needs::needs;
use crate::args::Top;
use crate::exit::Failure;

pub(crate) fn run(args: &Top) -> Result<(), Failure> {
    let root = args.sensing.root.clone();
    let options = TopOptions {
        needs: needs(&args.needs, &root, &read_machine(&root)?)?,
        root,
        sensor: args.sensing.sensor.into(),
        interval: args.interval,
        colour: args.colour.into(),
    };
    Ok(show(&options)?)
}
