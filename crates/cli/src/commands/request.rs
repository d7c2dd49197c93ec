//! The request that a verdict is about, checked against the machine's zones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::ValueEnum;
use freehold::Order;
use freehold_linux::pageblocks::pageblock_order_with;
use freehold_linux::procfs::{
    nodes_of_cgroup, nodes_of_process, page_bytes, read_buddyinfo, read_free_lists,
};
use freehold_monitor::verdict::{BlockRequest, HighestZone, largest_range, order_of_size};
use freehold_trace::ZoneSnapshot;

use crate::args::{By, Check, Need, Repair, ZonesChoice};
use crate::exit::{Cause, Failure};

use super::requester::kind_of_request;

/// The request that the arguments describe.
pub(super) struct BlockNeed {
    need: Need,
    order: Option<Order>,
    by: Option<By>,
    node: Option<u32>,
    for_pid: Option<u32>,
    for_cgroup: Option<PathBuf>,
    zone: Option<String>,
    zones: Option<ZonesChoice>,
    page_size: Option<u64>,
}

impl From<&Check> for BlockNeed {
    fn from(args: &Check) -> Self {
        Self {
            need: args.need,
            order: args.order,
            by: args.by,
            node: args.node,
            for_pid: args.for_pid,
            for_cgroup: args.for_cgroup.clone(),
            zone: args.zone.clone(),
            zones: args.zones,
            page_size: args.page_size,
        }
    }
}

impl From<&Repair> for BlockNeed {
    fn from(args: &Repair) -> Self {
        let zone = args.zone.clone();
        Self {
            need: args.need,
            order: None,
            by: None,
            node: args.node,
            for_pid: None,
            for_cgroup: None,
            zone,
            zones: None,
            page_size: None,
        }
    }
}

/// Returns the request, and what of it could not be read. Without a size or an order it is for huge pages.
///
/// # Errors
/// A size that no block of the machine has, and a node or a zone that has no memory there.
pub(super) fn request(
    args: &BlockNeed,
    root: &Path,
    zones: &[ZoneSnapshot],
) -> Result<(BlockRequest, Option<String>), Failure> {
    if args.order.is_some() && args.need.size.is_some() {
        return Err(refused(anyhow!(
            "--need gives a size, so --order cannot be used with it; leave out one of the two"
        )));
    }
    let (allowed, missing) = allowed_nodes(args, root)?;
    let page_bytes = args.page_size.or_else(|| page_bytes(root)).unwrap_or(4096);
    let bytes = match args.order {
        Some(order) => page_bytes << order.get(),
        None => args.need.size.unwrap_or_else(|| page_bytes << pageblock_order_with(root, Some(page_bytes))),
    };
    refuse_cut_columns(root, bytes, page_bytes)?;
    let order = order_of_size(bytes, page_bytes, largest_range(zones)).map_err(refused)?;
    let (contiguous, by) = kind_of_request(args.by, order, page_bytes, root)?;
    let highest = args.zones.map_or(by.highest_zone(), HighestZone::from);
    let request = BlockRequest {
        order,
        block_bytes: page_bytes << order,
        contiguous,
        blocks: args.need.blocks,
        node: args.node,
        allowed_nodes: allowed,
        zone: args.zone.clone(),
        highest,
        by,
    };
    place(&request, zones, args)?;
    Ok((request, missing))
}

/// Returns the nodes that the process or the cgroup of the arguments may use, and what could not be read of
/// them.
fn allowed_nodes(args: &BlockNeed, root: &Path) -> Result<(Option<BTreeSet<u32>>, Option<String>), Failure> {
    if let Some(pid) = args.for_pid {
        let found = nodes_of_process(root, pid)
            .with_context(|| format!("process {pid} cannot be read; name a running process"))
            .map_err(refused)?;
        return Ok((Some(found.nodes), found.without_policies));
    }
    let Some(cgroup) = &args.for_cgroup else { return Ok((None, None)) };
    let found = nodes_of_cgroup(root, cgroup)
        .context("give a cgroup by its path below /sys/fs/cgroup, in which the controller cpuset is on")
        .map_err(refused)?;
    Ok((Some(found), None))
}

/// Fails if the request is for larger blocks than a copy of the free lists has columns for.
fn refuse_cut_columns(root: &Path, bytes: u64, page_bytes: u64) -> Result<(), Failure> {
    if root == Path::new("/") || read_buddyinfo(root).is_ok() {
        return Ok(());
    }
    let cut = read_free_lists(root).ok().and_then(|lists| lists.cut_at());
    match cut {
        Some(order) if bytes > page_bytes << order => Err(refused(anyhow!(
            "the numbers of blocks above order {order} are unknown: the columns of {} end there. Request a smaller size \
             (--order 0 to {order}), or copy the whole file",
            root.join("proc/pagetypeinfo").display()
        ))),
        _ => Ok(()),
    }
}

/// Fails if the request is for no zone of the machine.
fn place(request: &BlockRequest, zones: &[ZoneSnapshot], args: &BlockNeed) -> Result<(), Failure> {
    if zones.iter().any(|zone| request.wants(zone.node, &zone.name)) {
        return Ok(());
    }
    let nodes: BTreeSet<u32> = zones.iter().map(|zone| zone.node).collect();
    let with_memory = |nodes: &BTreeSet<u32>| {
        let all: Vec<_> = nodes.iter().map(u32::to_string).collect();
        if all.len() == 1 {
            format!("only node {} has", all[0])
        } else {
            format!("nodes {} have", all.join(", "))
        }
    };
    if let Some(node) = request.node.filter(|node| !nodes.contains(node)) {
        return Err(refused(anyhow!("node {node} has no memory; {}", with_memory(&nodes))));
    }
    if let Some(allowed) =
        request.allowed_nodes.as_ref().filter(|_| !nodes.iter().any(|&n| request.wants_node(n)))
    {
        let who = match args.for_pid {
            Some(pid) => format!("process {pid}"),
            None => "the cgroup".to_owned(),
        };
        let may: Vec<_> = allowed.iter().map(u32::to_string).collect();
        let may = may.join(", ");
        return Err(refused(match request.node {
            Some(node) => anyhow!("{who} may not use node {node}, only {may}"),
            None => anyhow!("{who} may use only nodes without memory ({may}); {}", with_memory(&nodes)),
        }));
    }
    let name = request.zone.as_deref().unwrap_or_default();
    if let Some(choice) = args.zones.filter(|_| request.zone.is_none()) {
        let here: BTreeSet<&str> = zones.iter().map(|zone| zone.name.as_str()).collect();
        let here: Vec<_> = here.into_iter().collect();
        let choice = choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        return Err(refused(anyhow!(
            "--zones {choice}: this machine has no such zone with memory, only {}",
            here.join(", ")
        )));
    }
    let elsewhere: BTreeSet<u32> =
        zones.iter().filter(|zone| zone.name.eq_ignore_ascii_case(name)).map(|zone| zone.node).collect();
    if let (Some(node), false) = (request.node, elsewhere.is_empty()) {
        return Err(refused(anyhow!(
            "zone {name} of node {node} has no memory; {}",
            with_memory(&elsewhere)
        )));
    }
    let here = zones.iter().filter(|zone| request.wants_node(zone.node));
    let names: BTreeSet<&str> = here.map(|zone| zone.name.as_str()).collect();
    let names: Vec<_> = names.into_iter().collect();
    Err(refused(anyhow!("no zone {name:?} has memory; the zones with memory are {}", names.join(", "))))
}

fn refused(error: impl Into<anyhow::Error>) -> Failure {
    Failure::new(Cause::Usage, error)
}

/// Fails if a machine with pages of `page_bytes`, whose largest order is `largest`, has no blocks of `order`.
pub(super) fn refuse_larger(order: Order, largest: Order, page_bytes: u64) -> Result<(), Failure> {
    if order <= largest {
        return Ok(());
    }
    let size = |order: Order| match page_bytes.saturating_mul(order.pages()) {
        bytes @ 0x4000_0000.. => format!("{} GiB", bytes >> 30),
        bytes @ 0x10_0000.. => format!("{} MiB", bytes >> 20),
        bytes => format!("{} KiB", bytes >> 10),
    };
    let what = anyhow!(
        "this machine has no blocks of order {order} ({}): its largest order is {largest} ({})",
        size(order),
        size(largest)
    );
    Err(Failure::new(Cause::Usage, what))
}
