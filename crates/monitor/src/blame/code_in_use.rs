//! Memory in use by the code that allocated it: two readings of `/proc/allocinfo` come in, what is there and what grew goes out.

use std::collections::HashMap;
use std::fmt::Write;

use freehold_linux::procfs::AllocationSite;
use freehold_measure::grouped;
use serde::Serialize;

use super::answer::Blame;
use super::same_size::{object_bytes, of_size};

/// The functions that allocate anonymous memory and page cache, of Linux 6.12 and 7.3. Such memory is allocated as movable, but for
/// page cache of block devices and of file systems that ask for other memory. Page cache that a file system allocates itself is not
/// among them.
const OF_USER_MEMORY: [&str; 27] = [
    "__alloc_swap_folio",
    "__filemap_get_folio",
    "__filemap_get_folio_mpol",
    "__read_swap_cache_async",
    "__swap_cache_alloc",
    "alloc_anon_folio",
    "alloc_charge_folio",
    "alloc_migration_target",
    "alloc_migration_target_by_mpol",
    "alloc_misplaced_dst_folio",
    "alloc_swap_folio",
    "anon_alloc_folio",
    "do_huge_pmd_anonymous_page",
    "do_read_cache_folio",
    "filemap_create_folio",
    "folio_prealloc",
    "ksm_might_need_to_copy",
    "mfill_atomic_pte_copy",
    "mfill_atomic_pte_zeroed_folio",
    "page_cache_ra_unbounded",
    "ra_alloc_folio",
    "ractl_alloc_folio",
    "readahead_expand",
    "shmem_alloc_folio",
    "swap_cache_alloc_folio",
    "vma_alloc_anon_folio_pmd",
    "vma_alloc_zeroed_movable_folio",
];

/// The functions that allocate pages for objects that are counted once more, at the code that wanted them: those of slabs, and of
/// per-CPU chunks.
const OF_ALLOCATORS: [&str; 2] = ["alloc_slab_page", "pcpu_alloc_pages"];

/// The most slab caches for which code with objects of their size is named, and the most functions for each.
const CACHES: usize = 3;
const FUNCTIONS: usize = 3;

/// Memory in use by code, of the whole machine and since the kernel began to count. In which blocks it is, the kernel does not tell.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CodeInUse {
    /// Every place in the code with memory in use, those with the most first.
    pub sites: Vec<CodeSite>,
    /// The size of a page.
    pub page_bytes: u64,
}

/// What one place in the kernel's code has in use.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CodeSite {
    /// The place.
    #[serde(flatten)]
    pub site: AllocationSite,
    /// By how much it has grown during the watch, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown_bytes: Option<i64>,
    /// What kind of memory it is.
    pub kind: CodeKind,
}

/// What a place in the code allocates, as far as its function tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodeKind {
    /// Memory of the kernel's own, or of unknown use.
    Kernel,
    /// Anonymous memory and page cache.
    User,
    /// Pages of an allocator, whose parts are counted again at the code that wanted them.
    Allocator,
}

impl CodeKind {
    fn of(site: &AllocationSite) -> Self {
        match site.function.as_str() {
            function if OF_USER_MEMORY.contains(&function) => Self::User,
            function if OF_ALLOCATORS.contains(&function) => Self::Allocator,
            _ => Self::Kernel,
        }
    }
}

impl CodeInUse {
    /// Tells what is in use `now`, and by how much that is more than `before` the watch, if there was one.
    pub fn of(now: Vec<AllocationSite>, before: Option<&[AllocationSite]>, page_bytes: u64) -> Self {
        type Place<'a> = (&'a str, u32, Option<&'a str>, &'a str);
        fn place(site: &AllocationSite) -> Place<'_> {
            (&site.file, site.line, site.module.as_deref(), &site.function)
        }
        let earlier: Option<HashMap<Place<'_>, u64>> =
            before.map(|sites| sites.iter().map(|site| (place(site), site.bytes)).collect());
        let to_site = |site: AllocationSite| {
            let grown = |earlier: &HashMap<Place<'_>, u64>| {
                let was = earlier.get(&place(&site)).copied().unwrap_or(0);
                site.bytes.cast_signed().saturating_sub(was.cast_signed())
            };
            CodeSite { grown_bytes: earlier.as_ref().map(grown), kind: CodeKind::of(&site), site }
        };
        Self { sites: now.into_iter().map(to_site).collect(), page_bytes }
    }

    /// Returns the pages in use at places of a kind.
    fn pages_of(&self, kind: CodeKind) -> u64 {
        let bytes = self.sites.iter().filter(|site| site.kind == kind);
        self.pages(bytes.fold(0_u64, |sum, site| sum.saturating_add(site.site.bytes)))
    }

    fn pages(&self, bytes: u64) -> u64 {
        let page_bytes = self.page_bytes.max(1);
        bytes.saturating_add(page_bytes / 2) / page_bytes
    }

    /// Returns a heading, a table of at most `most` places of the kernel's own memory, and what it leaves out. `blame` is what the
    /// table is to find names for.
    pub fn text(&self, blame: &Blame, most: usize) -> String {
        let mut text = "Code whose memory is in use, in the whole machine (by /proc/allocinfo)\n".to_owned();
        let _ = writeln!(text, "{:>8}{:>10}{:>10}  code", "pages", "grown", "each");
        let own: Vec<_> = self.sites.iter().filter(|site| site.kind == CodeKind::Kernel).collect();
        for CodeSite { site, grown_bytes, .. } in own.iter().take(most) {
            let module = site.module.as_ref().map(|module| format!(" [{module}]")).unwrap_or_default();
            let _ = writeln!(
                text,
                "{:>8}{:>10}{:>10}  {}{module}, {}:{}{}",
                grouped(self.pages(site.bytes)),
                grown_bytes.map_or_else(|| "–".to_owned(), |bytes| self.growth(bytes)),
                site.bytes
                    .checked_div(site.calls)
                    .map_or_else(|| "–".to_owned(), |each| format!("{} B", grouped(each))),
                site.function,
                site.file,
                site.line,
                if site.is_accurate { "" } else { ", not all of it" }
            );
        }
        let left = own.get(most..).unwrap_or_default();
        if !left.is_empty() {
            let bytes = left.iter().fold(0_u64, |sum, site| sum.saturating_add(site.site.bytes));
            let _ = writeln!(
                text,
                "and {} more with {} pages",
                grouped(left.len() as u64),
                grouped(self.pages(bytes))
            );
        }
        let nameless = nameless_pages(blame);
        if nameless > 0 {
            let _ = writeln!(
                text,
                "The code of {} kernel and slab pages in kept blocks is not known; it may be in this table, which does not say which pages are whose.",
                grouped(nameless)
            );
        }
        for (what, bytes, functions) in self.of_same_size(blame, most) {
            let (bytes, functions) = (grouped(bytes), functions.join(", "));
            let _ = writeln!(text, "Objects of {bytes} B, of {what} or of other caches: {functions}.");
        }
        let _ = writeln!(
            text,
            "Left out: {} pages of anonymous memory and page cache, most of which can be moved; {} pages of slabs and per-CPU chunks, whose objects are in the table.",
            grouped(self.pages_of(CodeKind::User)),
            grouped(self.pages_of(CodeKind::Allocator))
        );
        text
    }

    /// Returns the first slab caches of the table without code, each with its objects' size and the functions that have such objects.
    fn of_same_size<'a>(&'a self, blame: &'a Blame, most: usize) -> Vec<(&'a str, u64, Vec<&'a str>)> {
        let nameless = blame.rows.iter().take(most).filter(|row| row.code.is_none());
        let found = nameless.filter_map(|row| {
            let bytes = object_bytes(&row.what)?;
            let own = self.sites.iter().filter(|site| site.kind == CodeKind::Kernel);
            let functions = of_size(own.map(|site| &site.site), bytes, FUNCTIONS);
            (!functions.is_empty()).then_some((row.what.as_str(), bytes, functions))
        });
        found.take(CACHES).collect()
    }

    /// Returns a growth in pages, with its sign.
    fn growth(&self, bytes: i64) -> String {
        let pages = grouped(self.pages(bytes.unsigned_abs()));
        match bytes.signum() {
            _ if pages == "0" => pages,
            -1 => format!("-{pages}"),
            _ => format!("+{pages}"),
        }
    }
}

/// Returns the kernel's own and slab pages of rows without code.
fn nameless_pages(blame: &Blame) -> u64 {
    let is_own =
        |what: &str| ["kernel pages", "large kmalloc", "slab"].iter().any(|own| what.starts_with(own));
    let rows = blame.rows.iter().filter(|row| row.code.is_none() && is_own(&row.what));
    rows.map(|row| row.pages).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::{NamedBlocks, Row};

    fn site(function: &str, bytes: u64, calls: u64) -> AllocationSite {
        let (file, function) = ("mm/a.c".to_owned(), function.to_owned());
        AllocationSite { bytes, calls, file, line: 7, module: None, function, is_accurate: true }
    }

    fn blame(rows: &[(&str, Option<&str>, u64)]) -> Blame {
        let row = |&(what, code, pages): &(&str, Option<&str>, u64)| Row {
            what: what.to_owned(),
            code: code.map(str::to_owned),
            pages,
            blocks: 1,
            blocks_alone: 0,
            median_age_ms: None,
            pages_seen: 0,
        };
        let rows = rows.iter().map(row).collect();
        Blame { order: 9, kept: 1, share: 1.0, named: NamedBlocks::default(), rows }
    }

    #[test]
    fn growth_is_reported_by_code() {
        let elsewhere = AllocationSite { line: 8, ..site("anon_pipe_write", 9000, 1) };
        let now = vec![
            site("anon_pipe_write", 40_960, 10),
            elsewhere.clone(),
            site("shrunk", 4096, 1),
            site("new", 4096, 1),
        ];
        let before =
            [site("anon_pipe_write", 8192, 2), elsewhere, site("shrunk", 8192, 2), site("gone", 4096, 1)];
        let grown = |before| {
            let sites = CodeInUse::of(now.clone(), before, 4096).sites;
            sites.into_iter().map(|site| site.grown_bytes).collect::<Vec<_>>()
        };
        assert_eq!(grown(Some(&before)), [Some(32_768), Some(0), Some(-4096), Some(4096)]);
        assert_eq!(grown(None), [None; 4]);
    }

    #[test]
    fn the_table_has_the_kernels_own_memory() {
        let now = vec![
            site("alloc_slab_page", 500 * 4096, 500),
            site("alloc_anon_folio", 300 * 4096, 300),
            site("shmem_alloc_folio", 100 * 4096, 1),
            AllocationSite {
                module: Some("ext4".to_owned()),
                is_accurate: false,
                ..site("ext4_alloc_inode", 99 * 1096, 99)
            },
            site("pcpu_alloc_pages", 4096, 1),
            site("anon_pipe_write", 4096, 0),
            site("small", 3072, 1),
            site("smaller", 5, 1),
        ];
        let before = [site("anon_pipe_write", 3 * 4096, 1), site("small", 700, 1)];
        let in_use = CodeInUse::of(now, Some(&before), 4096);
        let keeps = blame(&[
            ("slab kmalloc-512", None, 17),
            ("kernel pages charged to /a", None, 5),
            ("slab kmalloc-cg-3k", None, 19),
            ("slab dentry", None, 7),
            ("slab", Some("d_alloc"), 11),
            ("page tables", None, 13),
        ]);
        let text = in_use.text(&keeps, 3);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "Code whose memory is in use, in the whole machine (by /proc/allocinfo)",
                "   pages     grown      each  code",
                "      26       +26   1\u{202f}096 B  ext4_alloc_inode [ext4], mm/a.c:7, not all of it",
                "       1        -2         –  anon_pipe_write, mm/a.c:7",
                "       1        +1   3\u{202f}072 B  small, mm/a.c:7",
                "and 1 more with 0 pages",
                "The code of 48 kernel and slab pages in kept blocks is not known; it may be in this table, which does not say which pages are whose.",
                "Objects of 3\u{202f}072 B, of slab kmalloc-cg-3k or of other caches: small.",
                "Left out: 400 pages of anonymous memory and page cache, most of which can be moved; 501 pages of slabs and per-CPU chunks, whose objects are in the table.",
            ]
        );
        assert!(!in_use.text(&keeps, 2).contains("Objects of"), "the row is not in the table");
        let text = in_use.text(&blame(&[]), 4);
        assert!(!text.contains("is not known") && !text.contains("more with"), "{text}");
        assert!(CodeInUse { sites: in_use.sites, page_bytes: 0 }.text(&keeps, 0).contains("and 4 more"));
        let kind = |function| CodeKind::of(&site(function, 4096, 1));
        // What faults allocate on arm64; on x86-64 it is `folio_prealloc`.
        assert_eq!(kind("vma_alloc_zeroed_movable_folio"), CodeKind::User);
        assert_eq!(kind("pcpu_mem_zalloc"), CodeKind::Kernel, "it is counted nowhere else");
        assert!(OF_USER_MEMORY.is_sorted(), "a list that is sorted is looked through with the eye");
    }
}
