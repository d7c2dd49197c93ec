//! Reads from a machine everything that a verdict needs.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::thread;
use std::time::Instant;

use freehold_linux::Error;
use freehold_linux::pageblocks::{
    PageblockMap, PageblockTypes, PerCpuFrames, Unflagged, UnmovableKind, ZonePageblocks, pageblock_types,
    read_charges, read_pageblocks, read_slabs, recount_listed,
};
use freehold_linux::procfs::{
    ProcessMemory, STAT_REFRESH, bounds_lists, free_swap_pages, read_every_counter, read_hugetlb_pools,
    read_processes, read_slabinfo, read_vmallocinfo, read_zoneinfo, read_zones,
};
use freehold_linux::sensor::{
    BpfError, BpfSensor, Choice, FreeBlocks, Ration, Sensor, Source, ZoneFreeBlocks, open_bpf, open_per_cpu,
};
use freehold_monitor::verdict::{
    BlockRequest, Evidence, LaunchRequest, Mobility, Names, RangeRules, Rehearsal, SlabShare, Supply,
    Verdict, judge, rehearse,
};
use freehold_trace::{KernelTypes, ZoneSnapshot};

use crate::pins::Pins;

/// The counter of pages that were dirtied.
const DIRTIED: &str = "nr_dirtied";

/// The readings of one machine.
pub(super) struct Readings {
    pub(super) zones: Vec<ZoneSnapshot>,
    pub(super) free: Vec<ZoneFreeBlocks>,
    pub(super) map: Option<PageblockMap>,
    sensor: Option<BpfSensor>,
    /// The source of the free blocks.
    source: Source,
    /// The kernel's migratetypes; none if free blocks have no types.
    pub(super) kernel_types: KernelTypes,
    types: Option<PageblockTypes>,
    /// Slab caches of the pageblocks that were looked into, by each pageblock's first frame.
    slabs: HashMap<u64, Vec<SlabShare>>,
    /// True if the kernel can keep per-CPU lists short.
    bounds_lists: bool,
    mobility: Mobility,
    ranges: RangeRules,
    names: Names,
    missing: Vec<String>,
}

impl Readings {
    /// Reads the machine below `root`. A file that this user may not read becomes a note. Holders by
    /// name are those of the requested zones.
    ///
    /// # Errors
    /// If `zoneinfo` or `buddyinfo`, which everybody may read, cannot be read, or BPF where `choice`
    /// allows nothing else.
    pub(super) fn take(root: &Path, choice: Choice, request: &BlockRequest) -> Result<Self, Error> {
        let mut missing = Vec::new();
        let writing = Writing::begin(root);
        let mut sensor = open_sensor(root, choice, &mut missing)?;
        let mut note = |error: Error| missing.push(error.to_string());
        // First, as the memory of the other parsers must not be missing from the free blocks.
        let zones = read_zones(root)?;
        let threads = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let lists = match &sensor {
            Some(_) => open_per_cpu().map_err(&mut note).ok(),
            None => None,
        };
        let mut on_lists =
            || -> Option<PerCpuFrames> { lists.as_ref()?.read().map_err(|e| note(e.into())).ok() };
        let mut listed = on_lists().unwrap_or_default();
        let pins = Pins::new(sensor.as_mut());
        let pinned = |from: u64, count: u64| pins.read(from, count);
        let read = read_pageblocks(root, &zones, Unflagged { listed: &listed, pinned: &pinned }, threads);
        listed.extend(on_lists().unwrap_or_default());
        if let Some(error) = pins.failed() {
            note(error.into());
        }
        let mut map = read.map_err(&mut note).ok();
        if let (Some(_), Some(map)) = (&lists, &mut map) {
            recount_listed(root, map, &listed).map_err(&mut note).unwrap_or_default();
        }
        let by_bpf = sensor.as_mut().and_then(|sensor| sensor.read().map_err(|e| note(e.into())).ok());
        let mut damage = None;
        let free = by_bpf.map_or_else(|| free_blocks(root, &mut damage), Ok)?;
        let (source, kernel_types, free) = (free.source, free.types, free.zones);
        let mut types = None;
        let mut slabs = HashMap::new();
        if let (Some(sensor), Some(map)) = (&mut sensor, &map) {
            let found = sensor.free_list_types().map_err(|e| note(e.into()));
            types = found.ok().map(|found| pageblock_types(found, map));
            slabs = slabs_of(root, sensor, map, request).map_err(&mut note).unwrap_or_default();
        }
        let vmstat = read_every_counter(root).map_err(&mut note).unwrap_or_default();
        let page_bytes = request.block_bytes >> request.order;
        let drains_lists = root.join(STAT_REFRESH).exists();
        let wanted = |zone: &ZonePageblocks| request.wants(zone.node, &zone.name);
        let names = Names {
            slabs: read_slabinfo(root).map_err(&mut note).unwrap_or_default(),
            vmalloc: read_vmallocinfo(root).map_err(&mut note).unwrap_or_default(),
            hugetlb: read_hugetlb_pools(root).map_err(&mut note).unwrap_or_default(),
            // A kernel without memory cgroups has no such file.
            charges: map.as_ref().and_then(|map| read_charges(root, map, wanted).ok()).unwrap_or_default(),
            processes: others(root).map_err(&mut note).unwrap_or_default(),
            swap_pages: free_swap_pages(root, page_bytes),
            dirtied_pages: writing.pages_a_second(&vmstat),
            ..Names::counted(&vmstat, &zones, page_bytes, drains_lists)
        };
        let (mobility, ranges, bounds_lists) = (mobility(root), range_rules(root), bounds_lists(root));
        missing.extend(damage);
        Ok(Self {
            zones,
            free,
            map,
            sensor,
            source,
            kernel_types,
            types,
            slabs,
            bounds_lists,
            mobility,
            ranges,
            names,
            missing,
        })
    }

    /// Adds what else could not be read.
    pub(super) fn note(&mut self, missing: Option<String>) {
        self.missing.extend(missing);
    }

    /// Reads free blocks again, by the same source.
    pub(super) fn free_again(&mut self, root: &Path) -> Result<Vec<ZoneFreeBlocks>, Error> {
        match &mut self.sensor {
            Some(sensor) if self.source == Source::Bpf => Ok(sensor.read()?.zones),
            _ => Ok(free_blocks(root, &mut None)?.zones),
        }
    }

    /// Tells forecasts that the kernel has returned from per-CPU lists what it returns.
    pub(super) fn lists_are_drained(&mut self) {
        self.names.drainable_pages = 0;
    }

    /// Reads again what requests can have now; the results of work stay unknown.
    pub(super) fn supply_again(&mut self, root: &Path, request: &BlockRequest) -> Result<Supply, Error> {
        let zones = read_zoneinfo(root)?;
        let free = self.free_again(root)?;
        let evidence = Evidence {
            zones: &zones,
            free: &free,
            map: None,
            types: None,
            mobility: self.mobility,
            ranges: self.ranges,
            compacting_cpu: None,
            bounds_lists: self.bounds_lists,
            names: &self.names,
            slab_of: None,
            missing: &[],
        };
        Ok(judge(&evidence, request).supply)
    }

    /// Returns where the pageblocks' migratetypes come from, as the output names it.
    pub(super) fn types_from(&self) -> &'static str {
        if self.types.is_some() { "bpf" } else { "inferred" }
    }

    /// Returns where the free blocks come from, as the output names it.
    pub(super) fn free_from(&self) -> &'static str {
        self.source.name()
    }

    /// Returns the CPU whose per-CPU lists would keep the fewest of the pages that compaction frees.
    pub(super) fn calmest_cpu(&self) -> Option<u32> {
        let mut kept: BTreeMap<u32, u64> = BTreeMap::new();
        for set in self.zones.iter().flat_map(|zone| &zone.pagesets) {
            *kept.entry(set.cpu).or_default() += set.high.max(set.count);
        }
        kept.into_iter().min_by_key(|(_, pages)| *pages).map(|(cpu, _)| cpu)
    }

    /// Judges the readings. `compacting_cpu` is the CPU that will compact, where that is known.
    pub(super) fn judge(&self, request: &BlockRequest, compacting_cpu: Option<u32>) -> Verdict {
        self.with_evidence(compacting_cpu, |evidence| judge(evidence, request))
    }

    /// Judges whether the machine serves all requests of a launch.
    pub(super) fn rehearse(&self, launch: &[LaunchRequest]) -> Rehearsal {
        self.with_evidence(None, |evidence| rehearse(evidence, launch))
    }

    fn with_evidence<T>(&self, compacting_cpu: Option<u32>, then: impl FnOnce(&Evidence<'_>) -> T) -> T {
        let slab_of = |pfn: u64| self.slabs.get(&pfn).cloned().unwrap_or_default();
        let evidence = Evidence {
            zones: &self.zones,
            free: &self.free,
            map: self.map.as_ref(),
            types: self.types.as_deref(),
            mobility: self.mobility,
            ranges: self.ranges,
            compacting_cpu,
            bounds_lists: self.bounds_lists,
            names: &self.names,
            slab_of: if self.slabs.is_empty() { None } else { Some(&slab_of) },
            missing: &self.missing,
        };
        then(&evidence)
    }
}

/// How many pages of page cache had been dirtied at a moment.
struct Writing {
    at: Instant,
    dirtied: Option<u64>,
}

impl Writing {
    fn begin(root: &Path) -> Self {
        let counters = read_every_counter(root).unwrap_or_default();
        Self { at: Instant::now(), dirtied: counters.get(DIRTIED).copied() }
    }

    /// Returns how many pages were dirtied in a second since then, up to now, as `counters` say; 0 if they do not.
    fn pages_a_second(&self, counters: &BTreeMap<String, u64>) -> u64 {
        let (Some(then), Some(now)) = (self.dirtied, counters.get(DIRTIED)) else { return 0 };
        (now.saturating_sub(then) as f64 / self.at.elapsed().as_secs_f64().max(1.0)) as u64
    }
}

/// Returns what processes other than this hold.
fn others(root: &Path) -> Result<Vec<ProcessMemory>, Error> {
    let mut processes = read_processes(root)?;
    processes.retain(|process| root != Path::new("/") || process.pid != std::process::id());
    Ok(processes)
}

/// Opens the BPF sensor if `choice` allows it and it works. If BPF is preferred and does not work, adds
/// the reason to `missing`.
fn open_sensor(root: &Path, choice: Choice, missing: &mut Vec<String>) -> Result<Option<BpfSensor>, Error> {
    if choice == Choice::Procfs {
        return Ok(None);
    }
    match open_bpf(root) {
        Ok(sensor) => Ok(Some(sensor)),
        Err(error) if choice == Choice::Bpf => Err(error),
        // The user can do nothing about these two, so they are not noted.
        Err(Error::Bpf(BpfError::NotBuilt | BpfError::NotLive { .. })) => Ok(None),
        Err(error) => {
            missing.push(format!("types of pageblocks: {error}"));
            Ok(None)
        }
    }
}

/// The most pageblocks whose slab caches are looked up: those with the fewest slab pages.
const NAMED_PAGEBLOCKS: usize = 512;

/// The most slabs that are looked up.
const NAMED_SLABS: usize = 16_384;

/// Returns the slab caches of the pageblocks that only slabs keep from becoming free in the
/// requested zones, those with the fewest slab pages first.
fn slabs_of(
    root: &Path,
    sensor: &mut BpfSensor,
    map: &PageblockMap,
    request: &BlockRequest,
) -> Result<HashMap<u64, Vec<SlabShare>>, Error> {
    let mut unmovable: Vec<(u32, u64)> = Vec::new();
    for zone in map.zones.iter().filter(|zone| request.wants(zone.node, &zone.name)) {
        for (pfn, block) in (zone.start_pfn..).step_by(1 << map.pageblock_order).zip(&zone.blocks) {
            let pages = block.pages_of(UnmovableKind::Slab);
            if pages > 0 && pages == block.stuck() {
                unmovable.push((pages, pfn));
            }
        }
    }
    unmovable.sort_unstable();
    let starts: Vec<u64> = unmovable.iter().take(NAMED_PAGEBLOCKS).map(|&(_, pfn)| pfn).collect();
    let found = read_slabs(root, &starts, map.pageblock_pages())?;
    let mut named = HashMap::new();
    let mut left = NAMED_SLABS;
    for (start, slabs) in starts.into_iter().zip(found) {
        let Some(rest) = left.checked_sub(slabs.len()) else { break };
        left = rest;
        let pfns: Vec<_> = slabs.iter().map(|slab| slab.pfn).collect();
        let mut shares: Vec<SlabShare> = Vec::new();
        for (slab, name) in slabs.iter().zip(sensor.slab_names(&pfns)?) {
            // A slab that was freed meanwhile has no name.
            let Some(name) = name else { continue };
            match shares.iter_mut().find(|share| share.name == name) {
                Some(share) => share.pages += slab.pages,
                None => shares.push(SlabShare { name, pages: slab.pages }),
            }
        }
        named.insert(start, shares);
    }
    Ok(named)
}

/// Returns what compaction may move on the machine below `root`.
pub(super) fn mobility(root: &Path) -> Mobility {
    let vm = root.join("proc/sys/vm");
    let allowed = fs::read_to_string(vm.join("compact_unevictable_allowed"));
    Mobility {
        // A copy of a machine's files may lack compact_memory, which cannot be read.
        compaction: vm.join("compact_memory").exists() || allowed.is_ok() || !vm.exists(),
        unevictable: allowed.map_or(true, |text| text.trim() != "0"),
    }
}

/// Returns what the kernel below `root` does to empty a contiguous range.
fn range_rules(root: &Path) -> RangeRules {
    let sys = root.join("proc/sys");
    let read = |name: &str| fs::read_to_string(sys.join(name)).unwrap_or_default();
    let movable_zone = read("vm/movable_gigantic_pages").trim() == "1";
    RangeRules::of_release(read("kernel/osrelease").trim(), movable_zone)
}

/// Reads free blocks from `/proc`, by type where this user may: blocks of reserves are no request's. Sets `damage` if their
/// types do not parse.
fn free_blocks(root: &Path, damage: &mut Option<String>) -> Result<FreeBlocks, Error> {
    let mut sensor = Sensor::open(root, Choice::Procfs, Ration::ByCost)?;
    let free = sensor.read()?;
    *damage = sensor.damage().map(|why| format!("types of free blocks: {why}"));
    Ok(free)
}
