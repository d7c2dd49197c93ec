//! The holders of pageblocks: pages that keep them from becoming free.

use std::collections::BTreeMap;

use freehold_linux::pageblocks::{Pageblock, PageblockMap, UnmovableKind};
use freehold_linux::procfs::ProcessMemory;
use serde::Serialize;

use super::evidence::{Evidence, Names};
use super::request::BlockRequest;

/// A kind of unmovable pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HolderKind {
    /// Slab objects.
    Slab,
    /// Page tables.
    PageTables,
    /// In-use pages without a flag: kernel stacks, vmalloc, drivers' buffers, and free pages on
    /// per-CPU lists where these are not known.
    Kernel,
    /// Free pages on per-CPU lists.
    PerCpuLists,
    /// Pages that could be moved if nobody had pinned them.
    Pinned,
    /// hugetlb pages.
    Hugetlb,
    /// Ballooned or unplugged memory.
    Offline,
    /// mlocked and other unevictable pages, if compaction must not move them.
    Unevictable,
    /// Transparent huge pages of anonymous memory as large as a pageblock, which compaction does not move.
    HugeFolios,
    /// Memory reserved at boot.
    Reserved,
    /// Pageblocks of CMA or under isolation, which a contiguous range cannot include.
    Kept,
    /// Pages in use, where the kernel moves none for a contiguous range.
    InUse,
}

impl HolderKind {
    /// Returns the name in messages.
    pub fn title(self) -> &'static str {
        match self {
            Self::Slab => "slab caches",
            Self::PageTables => "page tables",
            Self::Kernel => "kernel and driver pages",
            Self::PerCpuLists => "free pages on per-CPU lists",
            Self::Pinned => "pinned pages",
            Self::Hugetlb => "hugetlb pages",
            Self::Offline => "ballooned or offline pages",
            Self::Unevictable => "unevictable (mlocked) pages",
            Self::HugeFolios => "transparent huge pages",
            Self::Reserved => "pages reserved at boot",
            Self::Kept => "pageblocks of CMA or under isolation",
            Self::InUse => "pages in use",
        }
    }
}

/// A kind of unmovable pages, and its effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Holder {
    /// The kind.
    pub kind: HolderKind,
    /// Its pages.
    pub pages: u64,
    /// Pageblocks with such pages.
    pub pageblocks: u64,
    /// Pageblocks in which no other kind of page is unmovable.
    pub pageblocks_alone: u64,
    /// The holders of this kind that the kernel names, largest first.
    pub named: Vec<Named>,
}

/// A holder that the kernel names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Named {
    /// A slab cache, a caller of vmalloc, a hugetlb pool.
    pub name: String,
    /// Its pages on the whole machine, as far as they are known.
    pub pages: u64,
    /// Pageblocks in which nothing else is unmovable; `None` if unknown. A lower bound, as not every
    /// pageblock was looked into.
    pub pageblocks_alone: Option<u64>,
}

/// The most named holders of a kind.
const NAMED: usize = 5;

/// Returns the holders in the requested zones, first the one that alone holds the most pageblocks.
pub(super) fn holders(evidence: &Evidence<'_>, map: &PageblockMap, request: &BlockRequest) -> Vec<Holder> {
    let mut sums: BTreeMap<HolderKind, [u64; 3]> = BTreeMap::new();
    let mut slabs: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for zone in map.zones.iter().filter(|zone| request.wants(zone.node, &zone.name)) {
        for (pfn, block) in (zone.start_pfn..).step_by(1 << map.pageblock_order).zip(&zone.blocks) {
            let found: Vec<_> = stuck(block, evidence).collect();
            for &(kind, pages) in &found {
                let [all, blocks, alone] = sums.entry(kind).or_default();
                *all += pages;
                *blocks += 1;
                *alone += u64::from(found.len() == 1);
            }
            if let Some(slab_of) = evidence.slab_of.filter(|_| block.pages_of(UnmovableKind::Slab) > 0) {
                let caches = slab_of(pfn);
                let alone = found.len() == 1 && caches.len() == 1;
                for cache in caches {
                    let [pages, blocks] = slabs.entry(cache.name).or_default();
                    *pages += cache.pages;
                    *blocks += u64::from(alone);
                }
            }
        }
    }
    let mut holders: Vec<_> = sums
        .into_iter()
        .map(|(kind, [pages, pageblocks, pageblocks_alone])| {
            let named = named(kind, evidence.names, &slabs);
            Holder { kind, pages, pageblocks, pageblocks_alone, named }
        })
        .collect();
    holders.sort_by_key(|holder| std::cmp::Reverse((holder.pageblocks_alone, holder.pages)));
    holders
}

/// Returns the kinds of unmovable pages in one pageblock, and their pages. None for a pageblock without
/// memory.
fn stuck<'a>(
    block: &'a Pageblock,
    evidence: &'a Evidence<'_>,
) -> impl Iterator<Item = (HolderKind, u64)> + 'a {
    let kinds = [
        (HolderKind::Slab, block.pages_of(UnmovableKind::Slab)),
        (HolderKind::PageTables, block.pages_of(UnmovableKind::PageTable)),
        (HolderKind::Kernel, block.pages_of(UnmovableKind::Kernel) - u32::from(block.listed)),
        (HolderKind::PerCpuLists, block.listed.into()),
        (HolderKind::Pinned, block.pages_of(UnmovableKind::Pinned)),
        (HolderKind::Hugetlb, block.pages_of(UnmovableKind::Hugetlb)),
        (HolderKind::Offline, block.pages_of(UnmovableKind::Offline)),
        (HolderKind::Reserved, block.pages_of(UnmovableKind::Reserved)),
        (HolderKind::Unevictable, if evidence.mobility.unevictable { 0 } else { block.unevictable.into() }),
        // Reclaim drops page cache in huge pages as other page cache.
        (HolderKind::HugeFolios, if block.whole_folio { block.anon.into() } else { 0 }),
    ];
    kinds.into_iter().filter(|&(_, pages)| pages > 0).map(|(kind, pages)| (kind, pages.into()))
}

/// Returns the holders of a kind that the kernel names, largest first. `slabs` are pages of slab caches, and
/// the pageblocks that each holds alone.
pub(super) fn named(kind: HolderKind, names: &Names, slabs: &BTreeMap<String, [u64; 2]>) -> Vec<Named> {
    let of = |name: &str, pages| Named { name: name.to_owned(), pages, pageblocks_alone: None };
    let mut named: Vec<Named> = match kind {
        HolderKind::Slab if !slabs.is_empty() => {
            let all =
                |name: &str| names.slabs.iter().find(|cache| cache.name == name).map(|cache| cache.pages);
            let named = |(name, &[pages, alone]): (&String, &[u64; 2])| Named {
                pageblocks_alone: Some(alone),
                ..of(name, all(name).unwrap_or(pages))
            };
            slabs.iter().map(named).collect()
        }
        HolderKind::Slab => names.slabs.iter().map(|cache| of(&cache.name, cache.pages)).collect(),
        HolderKind::Kernel => {
            let areas =
                names.vmalloc.iter().map(|area| of(&format!("vmalloc by {}", area.caller), area.pages));
            let rest = [("kernel stacks", names.kernel_stack_pages), ("zsmalloc", names.zsmalloc_pages)];
            // With CONFIG_VMAP_STACK kernel stacks are vmalloc areas, which fork allocates.
            let forks = ["vmalloc by kernel_clone", "vmalloc by copy_process", "vmalloc by dup_task_struct"];
            areas
                .filter(|area| !forks.contains(&area.name.as_str()))
                .chain(rest.map(|(name, pages)| of(name, pages)))
                .collect()
        }
        HolderKind::Pinned => {
            let page_bytes = names.page_kib.max(1) * 1024;
            let process = |process: &ProcessMemory| {
                let name = format!("process {} ({})", process.pid, process.name);
                of(&name, process.pinned_bytes / page_bytes)
            };
            names.processes.iter().map(process).collect()
        }
        HolderKind::Hugetlb => {
            let page_kib = names.page_kib.max(1);
            let pool = |pool: &freehold_linux::procfs::HugetlbPool| {
                let name =
                    format!("pool of {} KiB pages, {} of {} unused", pool.page_kib, pool.free, pool.pages);
                of(&name, pool.pages.saturating_mul(pool.page_kib / page_kib))
            };
            names.hugetlb.iter().map(pool).collect()
        }
        _ => Vec::new(),
    };
    named.retain(|named| named.pages > 0);
    named.sort_by_key(|named| std::cmp::Reverse((named.pageblocks_alone, named.pages)));
    named.truncate(NAMED);
    named
}
