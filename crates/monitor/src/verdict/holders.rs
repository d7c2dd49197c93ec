//! Who holds pageblocks back.

use std::collections::BTreeMap;

use freehold_linux::pageblocks::{Held, Pageblock, PageblockMap};
use serde::Serialize;

use super::asked::Asked;
use super::evidence::{Evidence, Names};

/// What kind of pages hold pageblocks back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HolderKind {
    /// Slab objects.
    Slab,
    /// Page tables.
    PageTables,
    /// The kernel's and drivers' pages that no flag explains: kernel stacks, vmalloc, buffers; and free pages on
    /// per-CPU lists, which have no flag either.
    Kernel,
    /// hugetlb pages.
    Hugetlb,
    /// Ballooned or unplugged memory.
    Offline,
    /// mlocked and other unevictable pages, where compaction must not move them.
    Unevictable,
    /// Transparent huge pages as large as a pageblock, which compaction leaves where they are.
    HugeFolios,
    /// Memory reserved at boot.
    Reserved,
}

impl HolderKind {
    /// What messages call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Slab => "slab caches",
            Self::PageTables => "page tables",
            Self::Kernel => "kernel and driver pages",
            Self::Hugetlb => "hugetlb pages",
            Self::Offline => "ballooned or offline pages",
            Self::Unevictable => "unevictable (mlocked) pages",
            Self::HugeFolios => "transparent huge pages",
            Self::Reserved => "pages reserved at boot",
        }
    }
}

/// One kind of holder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Holder {
    /// What kind.
    pub kind: HolderKind,
    /// Its pages.
    pub pages: u64,
    /// Pageblocks in which it has any.
    pub pageblocks: u64,
    /// Pageblocks that would have nothing stuck in them if it went.
    pub pageblocks_alone: u64,
    /// Who of this kind, largest first, as far as the kernel names them.
    pub named: Vec<Named>,
}

/// Somebody who holds memory, by the name that the kernel knows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Named {
    /// A slab cache, a caller of vmalloc, a hugetlb pool.
    pub name: String,
    /// Its pages, on the whole machine as far as they are known.
    pub pages: u64,
    /// Pageblocks that would have nothing stuck in them if it went, where that is known; at least, as not all
    /// may have been looked into.
    pub pageblocks_alone: Option<u64>,
}

/// How many of a kind are named.
const NAMED: usize = 5;

/// Ranks those who hold the pageblocks of the asked zones: first who frees most pageblocks by going.
pub(super) fn holders(evidence: &Evidence<'_>, map: &PageblockMap, asked: &Asked) -> Vec<Holder> {
    let mut sums: BTreeMap<HolderKind, [u64; 3]> = BTreeMap::new();
    let mut slabs: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for zone in map.zones.iter().filter(|zone| asked.wants(zone.node, &zone.name)) {
        for (pfn, block) in (zone.start_pfn..).step_by(1 << map.pageblock_order).zip(&zone.blocks) {
            let found: Vec<_> = stuck(block, evidence).collect();
            for &(kind, pages) in &found {
                let [all, blocks, alone] = sums.entry(kind).or_default();
                *all += pages;
                *blocks += 1;
                *alone += u64::from(found.len() == 1);
            }
            if let Some(slab_of) = evidence.slab_of.filter(|_| block.held_by(Held::Slab) > 0) {
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

/// What holds one pageblock. Pageblocks without memory are nobody's.
fn stuck<'a>(
    block: &'a Pageblock,
    evidence: &'a Evidence<'_>,
) -> impl Iterator<Item = (HolderKind, u64)> + 'a {
    let kinds = [
        (HolderKind::Slab, block.held_by(Held::Slab)),
        (HolderKind::PageTables, block.held_by(Held::PageTable)),
        (HolderKind::Kernel, block.held_by(Held::Kernel)),
        (HolderKind::Hugetlb, block.held_by(Held::Hugetlb)),
        (HolderKind::Offline, block.held_by(Held::Offline)),
        (HolderKind::Reserved, block.held_by(Held::Reserved)),
        (HolderKind::Unevictable, if evidence.mobility.unevictable { 0 } else { block.unevictable.into() }),
        (HolderKind::HugeFolios, if block.whole_folio { block.movable() } else { 0 }),
    ];
    kinds.into_iter().filter(|&(_, pages)| pages > 0).map(|(kind, pages)| (kind, pages.into()))
}

fn named(kind: HolderKind, names: &Names, slabs: &BTreeMap<String, [u64; 2]>) -> Vec<Named> {
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
            // Stacks are vmalloc areas of fork's where the kernel has CONFIG_VMAP_STACK.
            let forks = ["vmalloc by kernel_clone", "vmalloc by copy_process", "vmalloc by dup_task_struct"];
            areas
                .filter(|area| !forks.contains(&area.name.as_str()))
                .chain(rest.map(|(name, pages)| of(name, pages)))
                .collect()
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
