//! `freehold rehearse`: whether a launch starts on this machine, and which of its requests fails first.

use std::process::ExitCode;

use freehold_linux::procfs::read_zones;

use crate::args::Rehearse;
use crate::exit::Failure;
use crate::machine_files::MachineFiles;
use crate::output;
use crate::readings::Readings;

use super::launch::{LaunchPlace, largest, launch, read_demand};

/// Runs the command. The exit codes are those of a monitoring plugin.
pub(crate) fn run(args: &Rehearse) -> ExitCode {
    output::plugin(args.json, rehearsed(args))
}

fn rehearsed(args: &Rehearse) -> Result<u8, Failure> {
    let demand = read_demand(&args.file)?;
    let files = MachineFiles::open(&args.sensing.root)?;
    files.refuse_page_size(args.page_size)?;
    let root = files.root();
    let zones = read_zones(root)?;
    let place = LaunchPlace { root, zones: &zones, node: args.node, page_size: args.page_size };
    let launch = launch(&demand, &args.file, place)?;
    let readings = Readings::take(root, args.sensing.sensor.into(), largest(&launch))?;
    let rehearsal = readings.rehearse(&launch);
    let code = rehearsal.exit_code;
    output::with_code(
        if args.json { output::print_json(&rehearsal) } else { output::print(&rehearsal.text().join("\n")) },
        code,
    )
}
