//! The readings that a verdict rests on, taken from one machine.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use freehold_linux::Error;
use freehold_linux::pageblocks::{PageblockMap, read_pageblocks};
use freehold_linux::procfs::{
    read_buddyinfo, read_every_counter, read_hugetlb_pools, read_slabinfo, read_vmallocinfo, read_zoneinfo,
};
use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_monitor::verdict::{Asked, Evidence, Mobility, Names, Verdict, judge};
use freehold_trace::{FreeCount, ZoneSnapshot};

/// What was read of a machine.
pub(crate) struct Readings {
    pub(crate) zones: Vec<ZoneSnapshot>,
    pub(crate) free: Vec<ZoneFreeBlocks>,
    pub(crate) map: Option<PageblockMap>,
    mobility: Mobility,
    names: Names,
    missing: Vec<String>,
}

impl Readings {
    /// Reads the machine below `root`. What is closed to this user is noted; only `zoneinfo` and `buddyinfo`,
    /// which are open to everybody, must be there.
    pub(crate) fn take(root: &Path) -> Result<Self, Error> {
        let mut missing = Vec::new();
        let mut note = |error: Error| missing.push(error.to_string());
        // First what changes least by reading: the parser's own memory must not weigh on the free blocks.
        let zones = read_zoneinfo(root)?;
        let threads = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let map = read_pageblocks(root, &zones, threads).map_err(&mut note).ok();
        let free = free_blocks(root)?;
        let vmstat = read_every_counter(root).map_err(&mut note).unwrap_or_default();
        let counter = |name: &str| vmstat.get(name).copied().unwrap_or(0);
        let page_kib = rustix::param::page_size() as u64 / 1024;
        let names = Names {
            slabs: read_slabinfo(root).map_err(&mut note).unwrap_or_default(),
            vmalloc: read_vmallocinfo(root).map_err(&mut note).unwrap_or_default(),
            hugetlb: read_hugetlb_pools(root).map_err(&mut note).unwrap_or_default(),
            // The kernel counts stacks in KiB, the others in pages.
            kernel_stack_pages: counter("nr_kernel_stack") / page_kib.max(1),
            zsmalloc_pages: counter("nr_zspages"),
            per_cpu_pages: zones.iter().flat_map(|zone| &zone.pagesets).map(|set| set.count).sum(),
            page_kib,
        };
        Ok(Self { zones, free, map, mobility: mobility(root), names, missing })
    }

    /// Judges them.
    pub(crate) fn judge(&self, asked: &Asked) -> Verdict {
        let evidence = Evidence {
            zones: &self.zones,
            free: &self.free,
            map: self.map.as_ref(),
            types: None,
            mobility: self.mobility,
            names: &self.names,
            slab_of: None,
            missing: &self.missing,
        };
        judge(&evidence, asked)
    }
}

/// What compaction may move on the machine below `root`.
fn mobility(root: &Path) -> Mobility {
    let vm = root.join("proc/sys/vm");
    let allowed = fs::read_to_string(vm.join("compact_unevictable_allowed"));
    Mobility {
        // A copy of a machine's files may lack this one, which holds nothing.
        compaction: vm.join("compact_memory").exists() || allowed.is_ok() || !vm.exists(),
        unevictable: allowed.map_or(true, |text| text.trim() != "0"),
    }
}

/// Free blocks by zone and order.
pub(crate) fn free_blocks(root: &Path) -> Result<Vec<ZoneFreeBlocks>, Error> {
    let zones = read_buddyinfo(root)?.into_iter().map(|zone| ZoneFreeBlocks {
        node: zone.node,
        name: zone.name,
        total: zone.free.map(|blocks| FreeCount { blocks, capped: false }),
        ..ZoneFreeBlocks::default()
    });
    Ok(zones.collect())
}
