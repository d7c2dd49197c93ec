//! `freehold blame`: the pages and the code that pin blocks of memory.
//!
//! `watching.rs` watches allocations for a time, `allocations.rs` collects what is known of them, `report.rs` prints.
//! `owner_dump.rs` sums up a pasted dump instead.

mod allocations;
mod owner_dump;
mod report;
mod watching;

use std::num::NonZero;
use std::path::Path;
use std::thread;

use anyhow::anyhow;
use freehold_linux::blame::{
    UnmovablePages, leave_out_passing, name_by_bpf, name_by_cgroup, name_by_mapping, read_unmovable_pages,
};
use freehold_linux::pageblocks::{
    PageblockMap, PerCpuFrames, Unflagged, ZonePageblocks, pageblock_order, read_pageblocks, recount_listed,
};
use freehold_linux::procfs::{AllocationSite, counts_allocations, page_bytes, read_allocinfo, read_zoneinfo};
use freehold_linux::sensor::{BpfError, BpfSensor, Choice, open_bpf, open_per_cpu};
use freehold_linux::{Error, HeededSignals};
use freehold_measure::grouped;
use freehold_monitor::blame::{self, CodeInUse, folded};
use freehold_monitor::verdict::{order_of_size, pages_on_lists};
use freehold_trace::ZoneSnapshot;

use crate::args::Blame;
use crate::exit::{Cause, Failure};
use crate::output::{self, FinishedFile};
use crate::pins::Pins;
use crate::readings::mobility;

use allocations::Made;
use report::Report;

pub(crate) fn run(args: &Blame) -> Result<(), Failure> {
    if let Some(dump) = &args.page_owner {
        return owner_dump::run(args, dump);
    }
    let root = args.sensing.root.as_path();
    let zones = read_zoneinfo(root)?;
    let order = order(args, root, &zones)?;
    wanted_zone(args, &zones)?;
    // A file that cannot be created is reported before the watch.
    let mut file = args.folded.as_ref().map(|path| FinishedFile::create(path, args.force)).transpose()?;
    // From here on signals end the watch, and not this process without an answer.
    let _heeded = HeededSignals::new();
    let mut notes = Vec::new();
    let mut sensor = open_sensor(args, &mut notes)?;
    let counted = Counted::before(root, &mut notes);
    let mut made = Made::gather(args, sensor.as_mut(), &mut notes)?;
    let (map, unmovable) = read_unmovable(args, &zones, sensor.as_mut(), &mut notes)?;
    notes.extend(pages_taken_for_the_kernels(&zones, &map));
    made.add_page_owner(root, &map, &unmovable, &mut notes)?;
    // Last, so that the kernel has taken back what the watch itself had.
    let code_in_use = counted.and_then(|counted| counted.after(root, made.has_waited, &mut notes));
    let readings = blame::Readings {
        unmovable: &unmovable,
        made: &made.allocations,
        stacks: &made.stacks,
        share: made.share(),
        pageblock_order: map.pageblock_order,
        now_ns: made.now_ns,
        older_than_ns: args.older.as_nanos() as u64,
    };
    let report = Report {
        blame: blame::Blame::of(&readings, order),
        movable: blame::MovableOnly::of(&map, mobility(root), |zone| wants(args, zone.node, &zone.name)),
        block_bytes: page_bytes(root).unwrap_or(4096) << order,
        watch: made.watch(),
        page_owner: made.has_page_owner,
        code_in_use,
        notes,
    };
    if let Some(file) = &mut file {
        file.write_text(&folded(&readings, order))?;
    }
    if let Some(file) = file {
        file.keep()?;
    }
    if args.json { output::print_json(&report) } else { output::print(&report.text(args.rows)) }
}

/// Returns the order of the requested blocks.
fn order(args: &Blame, root: &Path, zones: &[ZoneSnapshot]) -> Result<u8, Failure> {
    let end_pfn = zones.iter().map(|zone| zone.start_pfn.saturating_add(zone.spanned)).max().unwrap_or(0);
    match (args.order, args.size) {
        (Some(order), _) => Ok(order.get()),
        (None, Some(bytes)) => {
            let order = order_of_size(bytes, page_bytes(root).unwrap_or(4096), end_pfn);
            order.map_err(|error| Failure::new(Cause::Usage, error))
        }
        (None, None) => Ok(pageblock_order(root)),
    }
}

/// Fails if the request is for no zone of the machine.
fn wanted_zone(args: &Blame, zones: &[ZoneSnapshot]) -> Result<(), Failure> {
    if zones.iter().any(|zone| zone.spanned > 0 && wants(args, zone.node, &zone.name)) {
        return Ok(());
    }
    let known: Vec<_> = zones
        .iter()
        .filter(|zone| zone.spanned > 0)
        .map(|zone| format!("{} of node {}", zone.name, zone.node))
        .collect();
    let error = anyhow!("no such zone has memory; those with memory are {}", known.join(", "));
    Err(Failure::new(Cause::Usage, error))
}

fn wants(args: &Blame, node: u32, name: &str) -> bool {
    args.node.is_none_or(|wanted| wanted == node)
        && args.zone.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(name))
}

/// Opens the BPF sensor, unless `--sensor procfs` or another machine's files are given. Adds why it does not work to `notes`.
fn open_sensor(args: &Blame, notes: &mut Vec<String>) -> Result<Option<BpfSensor>, Failure> {
    let choice = Choice::from(args.sensing.sensor);
    if choice == Choice::Procfs {
        return Ok(None);
    }
    match open_bpf(&args.sensing.root) {
        Ok(sensor) => Ok(Some(sensor)),
        Err(error) if choice == Choice::Bpf => Err(error.into()),
        Err(Error::Bpf(BpfError::NotLive { .. })) => Ok(None),
        Err(error) => {
            notes.push(format!("slab caches, kernel stacks and new allocations are unknown: {error}"));
            Ok(None)
        }
    }
}

/// Returns a note on free pages that count as pages of the kernel, if BPF does not show which pages are on per-CPU lists.
fn pages_taken_for_the_kernels(zones: &[ZoneSnapshot], map: &PageblockMap) -> Option<String> {
    let pages = pages_on_lists(zones);
    let is_unknown = map.listed_pages() == 0 && pages > 0;
    is_unknown.then(|| {
        format!(
            "up to {} of the kernel pages are free pages on per-CPU lists, which only BPF can show; blocks with only \
             such pages are counted above, although they can become free",
            grouped(pages)
        )
    })
}

/// Reads the unmovable pages, and what they are. A page on a CPU's list is free, where BPF tells which are.
fn read_unmovable(
    args: &Blame,
    zones: &[ZoneSnapshot],
    mut sensor: Option<&mut BpfSensor>,
    notes: &mut Vec<String>,
) -> Result<(PageblockMap, Vec<UnmovablePages>), Failure> {
    let root = args.sensing.root.as_path();
    let mut note = |error: Error| notes.push(error.to_string());
    let lists = match sensor {
        Some(_) => open_per_cpu().map_err(&mut note).ok(),
        None => None,
    };
    let mut on_lists = || -> Option<PerCpuFrames> { lists.as_ref()?.read().map_err(|e| note(e.into())).ok() };
    let threads = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    // Lists change while pageblocks are read: a page that was on one before or after was free.
    let mut listed = on_lists().unwrap_or_default();
    let pins = Pins::new(sensor.as_deref_mut());
    let pinned = |from: u64, count: u64| pins.read(from, count);
    let unflagged = Unflagged { listed: &listed, pinned: &pinned };
    let mut map = read_pageblocks(root, zones, unflagged, threads)?;
    let wanted = |zone: &ZonePageblocks| wants(args, zone.node, &zone.name);
    let mut unmovable = read_unmovable_pages(root, &map, unflagged, wanted)?;
    listed.extend(on_lists().unwrap_or_default());
    if let Some(error) = pins.failed() {
        note(error.into());
    }
    recount_listed(root, &mut map, &listed)?;
    unmovable.retain(|run| !(run.is_unnamed() && listed.has(run.pfn)));
    if let Some(sensor) = sensor {
        name_by_bpf(sensor, &mut unmovable).map_err(|e| note(e.into())).unwrap_or_default();
    }
    name_by_mapping(root, &mut unmovable).map_err(&mut note).unwrap_or_default();
    // A kernel without memory cgroups has no such file.
    let _ = name_by_cgroup(root, &mut unmovable);
    leave_out_passing(root, &mut unmovable)?;
    Ok((map, unmovable))
}

/// The memory in use before the watch.
struct Counted(Vec<AllocationSite>);

impl Counted {
    /// Reads `/proc/allocinfo` below `root`, if there is one and the kernel counts. What is wrong with it `notes` say.
    fn before(root: &Path, notes: &mut Vec<String>) -> Option<Self> {
        read_counts(root, notes).map(Self)
    }

    /// Reads it again. `has_waited` is true if time has passed, so that growth means something.
    fn after(&self, root: &Path, has_waited: bool, notes: &mut Vec<String>) -> Option<CodeInUse> {
        let sites = read_counts(root, notes)?;
        let before = has_waited.then_some(self.0.as_slice());
        Some(CodeInUse::of(sites, before, page_bytes(root).unwrap_or(4096)))
    }
}

fn read_counts(root: &Path, notes: &mut Vec<String>) -> Option<Vec<AllocationSite>> {
    if !counts_allocations(root) {
        notes.push(
            "memory in use by code is unknown: the kernel does not count it now (vm.mem_profiling is 0)"
                .to_owned(),
        );
        return None;
    }
    read_allocinfo(root).unwrap_or_else(|error| {
        notes.push(format!("memory in use by code is unknown: {error}"));
        None
    })
}
