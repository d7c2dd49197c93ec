//! `freehold rehearse`: whether a launch starts on this machine, and which of its requests fails first.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use freehold_linux::pageblocks::pageblock_order_with;
use freehold_linux::procfs::{page_bytes, read_zones};
use freehold_monitor::verdict::{
    BlockRequest, Demand, DemandKind, DemandLine, LaunchRequest, Requester, largest_range, order_of_size,
};
use freehold_trace::ZoneSnapshot;

use crate::args::{By, Rehearse};
use crate::exit::{Cause, Failure};
use crate::load::input_name;
use crate::machine_files::MachineFiles;
use crate::output;
use crate::readings::Readings;

use super::requester::{huge_page_bytes, kind_of_request};

/// The most requests of a launch.
const MAX_LINES: usize = 1000;

/// The largest file of requests. Units: bytes.
const MAX_DEMAND_BYTES: u64 = 1 << 20;

/// Runs the command. The exit codes are those of a monitoring plugin.
pub(crate) fn run(args: &Rehearse) -> ExitCode {
    output::plugin(args.json, rehearsed(args))
}

fn rehearsed(args: &Rehearse) -> Result<u8, Failure> {
    let demand = read(&args.file)?;
    let files = MachineFiles::open(&args.sensing.root)?;
    files.refuse_page_size(args.page_size)?;
    let root = files.root();
    let zones = read_zones(root)?;
    let launch = launch(&demand, args, root, &zones)?;
    if launch.len() > MAX_LINES {
        let what = anyhow!(
            "{} has {} requests, at most {MAX_LINES} can be rehearsed; add up those of one kind",
            input_name(&args.file),
            launch.len()
        );
        return Err(Failure::new(Cause::Data, what));
    }
    let Some(largest) = launch.iter().max_by_key(|one| one.request.order) else {
        let what =
            anyhow!("{} has no request; write a line such as `hugetlb 2M=512`", input_name(&args.file));
        return Err(Failure::new(Cause::Data, what));
    };
    let readings = Readings::take(root, args.sensing.sensor.into(), &largest.request)?;
    let rehearsal = readings.rehearse(&launch);
    let code = rehearsal.exit_code;
    output::with_code(
        if args.json { output::print_json(&rehearsal) } else { output::print(&rehearsal.text().join("\n")) },
        code,
    )
}

fn read(file: &Path) -> Result<Demand, Failure> {
    let mut text = Vec::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(MAX_DEMAND_BYTES + 1).read_to_end(&mut text)
    } else {
        fs::File::open(file).and_then(|file| file.take(MAX_DEMAND_BYTES + 1).read_to_end(&mut text))
    };
    let bytes = read
        .with_context(|| format!("{} cannot be read", input_name(file)))
        .map_err(|error| Failure::new(Cause::NoInput, error))?;
    if bytes as u64 > MAX_DEMAND_BYTES {
        let what = anyhow!("{} is no list of requests: it has more than 1 MiB", input_name(file));
        return Err(Failure::new(Cause::Data, what));
    }
    String::from_utf8_lossy(&text)
        .parse()
        .map_err(|error| Failure::new(Cause::Data, anyhow!("{}, {error}", input_name(file))))
}

/// Returns the requests as the machine below `root` understands them.
///
/// # Errors
/// A size that no block of the machine has, and a node without memory.
fn launch(
    demand: &Demand,
    args: &Rehearse,
    root: &Path,
    zones: &[ZoneSnapshot],
) -> Result<Vec<LaunchRequest>, Failure> {
    if let Some(node) = args.node.filter(|&node| zones.iter().all(|zone| zone.node != node)) {
        return Err(Failure::new(Cause::Usage, anyhow!("node {node} has no memory")));
    }
    let page_bytes = args.page_size.or_else(|| page_bytes(root)).unwrap_or(4096);
    let of_line = |line: &DemandLine| {
        let request = request(line, args.node, page_bytes, root, zones);
        let request = request.map_err(|failure| {
            // The option of `check` has the same names as the lines.
            let why = failure.to_string().replace("--by ", "");
            let what = anyhow!("{}, line {}: `{}`: {why}", input_name(&args.file), line.number, line.text);
            Failure::new(failure.cause, what)
        })?;
        Ok(LaunchRequest { line: line.number, text: line.text.clone(), request })
    };
    demand.lines.iter().map(of_line).collect()
}

fn request(
    line: &DemandLine,
    node: Option<u32>,
    page_bytes: u64,
    root: &Path,
    zones: &[ZoneSnapshot],
) -> Result<BlockRequest, Failure> {
    let by = match line.kind {
        DemandKind::Hugetlb => Some(By::Hugetlb),
        DemandKind::Thp => Some(By::Thp),
        DemandKind::Alloc => Some(By::Alloc),
        DemandKind::Atomic => Some(By::Atomic),
        DemandKind::Range => Some(By::Range),
        DemandKind::Anonymous => None,
    };
    let pageblock = || page_bytes << pageblock_order_with(root, Some(page_bytes));
    let own = match by {
        Some(By::Thp) => huge_page_bytes(root).unwrap_or_else(pageblock),
        Some(_) => pageblock(),
        None => page_bytes,
    };
    let refused = |error| Failure::new(Cause::Usage, error);
    let (block_bytes, blocks) =
        line.amount.blocks(own, page_bytes).map_err(|error| refused(anyhow!(error)))?;
    let order = order_of_size(block_bytes, page_bytes, largest_range(zones))
        .map_err(|error| refused(error.into()))?;
    let (contiguous, by) = match by {
        Some(by) => kind_of_request(Some(by), order, page_bytes, root)?,
        None => (false, Requester::Pages),
    };
    Ok(BlockRequest {
        order,
        block_bytes: page_bytes << order,
        contiguous,
        blocks,
        node,
        allowed_nodes: None,
        zone: None,
        highest: by.highest_zone(),
        by,
    })
}
