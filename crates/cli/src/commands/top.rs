//! `freehold top`: shows this machine's memory in the terminal.

use freehold_monitor::top::{TopOptions, run as show};

use crate::args::Top;
use crate::exit::Failure;

pub(crate) fn run(args: &Top) -> Result<(), Failure> {
    let options = TopOptions {
        root: args.sensing.root.clone(),
        sensor: args.sensing.sensor.into(),
        interval: args.interval,
        colour: args.colour.into(),
    };
    Ok(show(&options)?)
}
