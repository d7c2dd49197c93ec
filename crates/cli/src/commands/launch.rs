//! The requests of a launch, from a file, as the machine understands them.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, anyhow};
use freehold_linux::pageblocks::pageblock_order_with;
use freehold_linux::procfs::{page_bytes, read_hugetlb_pools};
use freehold_monitor::verdict::{
    BlockRequest, Demand, DemandKind, DemandLine, LaunchRequest, Requester, SizeError, largest_range,
    order_of_size,
};
use freehold_trace::ZoneSnapshot;

use crate::args::By;
use crate::exit::{Cause, Failure};
use crate::load::input_name;

use super::requester::{NotJudged, huge_page_bytes, kind_of_request};

/// The most requests of a launch.
const MAX_LINES: usize = 1000;

/// The largest file of requests. Units: bytes.
const MAX_DEMAND_BYTES: u64 = 1 << 20;

/// Where a launch takes place.
#[derive(Clone, Copy)]
pub(super) struct LaunchPlace<'a> {
    /// The root of the machine's files.
    pub(super) root: &'a Path,
    /// The machine's zones.
    pub(super) zones: &'a [ZoneSnapshot],
    /// The only node, if one was named.
    pub(super) node: Option<u32>,
    /// The page size, if one was named.
    pub(super) page_size: Option<u64>,
}

/// Reads the requests of a launch, at least one.
///
/// # Errors
/// A file that cannot be read, and one that is no list of requests.
pub(super) fn read_demand(file: &Path) -> Result<Demand, Failure> {
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
    let parsed = String::from_utf8_lossy(&text).parse();
    let demand: Demand =
        parsed.map_err(|error| Failure::new(Cause::Data, anyhow!("{}, {error}", input_name(file))))?;
    if demand.lines.len() > MAX_LINES {
        let what = anyhow!(
            "{} has {} requests, at most {MAX_LINES} can be rehearsed; add up those of one kind",
            input_name(file),
            demand.lines.len()
        );
        return Err(Failure::new(Cause::Data, what));
    }
    if demand.lines.is_empty() {
        let what = anyhow!("{} has no request; write a line such as `hugetlb 2M=512`", input_name(file));
        return Err(Failure::new(Cause::Data, what));
    }
    Ok(demand)
}

/// Returns the requests as the machine understands them.
///
/// # Errors
/// A size that no block can have, and a node without memory.
pub(super) fn launch(
    demand: &Demand,
    file: &Path,
    place: LaunchPlace<'_>,
) -> Result<Vec<LaunchRequest>, Failure> {
    if let Some(node) = place.node.filter(|&node| place.zones.iter().all(|zone| zone.node != node)) {
        return Err(Failure::new(Cause::Usage, anyhow!("node {node} has no memory")));
    }
    let of_line = |line: &DemandLine| {
        let request = request(line, place);
        request.map_err(|failure| {
            let why = without_option(&failure.to_string());
            let what = anyhow!("{}, line {}: `{}`: {why}", input_name(file), line.number, line.text);
            Failure::new(failure.cause, what)
        })
    };
    let mut launch = demand.lines.iter().map(of_line).collect::<Result<Vec<_>, _>>()?;
    take_from_pools(&mut launch, place.root);
    Ok(launch)
}

/// Returns the request of the largest blocks, for which the machine is read.
pub(super) fn largest(launch: &[LaunchRequest]) -> &BlockRequest {
    let largest = launch.iter().map(|one| &one.request).max_by_key(|request| request.order);
    largest.expect("`read_demand` returns at least one")
}

/// Gives requests for huge pages those that the pools have free, which need no memory.
fn take_from_pools(launch: &mut [LaunchRequest], root: &Path) {
    // Where they cannot be read, the pools count as empty.
    let pools = read_hugetlb_pools(root).unwrap_or_default();
    let free = pools.iter().map(|pool| (pool.page_kib << 10, pool.free.saturating_sub(pool.reserved)));
    let mut free: HashMap<u64, u64> = free.collect();
    for one in launch.iter_mut().filter(|one| one.by_pool && one.never_served.is_none()) {
        let Some(left) = free.get_mut(&one.request.block_bytes) else { continue };
        one.in_pool = one.request.blocks.min(*left);
        one.request.blocks -= one.in_pool;
        *left -= one.in_pool;
    }
}

/// Returns a message without the option of `check`, whose values have the names of the lines.
fn without_option(message: &str) -> String {
    let named = message.strip_prefix("--by ").and_then(|rest| rest.split_once(": "));
    named.map_or_else(|| message.replace("--by ", ""), |(_, rest)| rest.to_owned())
}

fn request(line: &DemandLine, place: LaunchPlace<'_>) -> Result<LaunchRequest, Failure> {
    let LaunchPlace { root, zones, node, page_size } = place;
    let page_bytes = page_size.or_else(|| page_bytes(root)).unwrap_or(4096);
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
    let judged = match order_of_size(block_bytes, page_bytes, largest_range(zones)) {
        Ok(order) => match by {
            None => Ok((order, false, Requester::Pages)),
            Some(by) => {
                let kind = kind_of_request(Some(by), order, page_bytes, root);
                kind.map(|(contiguous, by)| (order, contiguous, by))
            }
        },
        Err(error @ SizeError::Large { .. }) => Err(NotJudged::NeverServed(error.to_string())),
        Err(error) => Err(NotJudged::Failed(refused(error.into()))),
    };
    let (never_served, (order, contiguous, by)) = match judged {
        Ok(kind) => (None, kind),
        Err(NotJudged::NeverServed(why)) => (Some(without_option(&why)), (0, false, Requester::default())),
        Err(NotJudged::Failed(failure)) => return Err(failure),
    };
    let request = BlockRequest {
        order,
        block_bytes,
        contiguous,
        blocks,
        node,
        allowed_nodes: None,
        zone: None,
        highest: by.highest_zone(),
        by,
    };
    let (text, by_pool) = (line.text.clone(), line.kind == DemandKind::Hugetlb);
    Ok(LaunchRequest { line: line.number, text, request, in_pool: 0, by_pool, never_served })
}
