//! What a copy of a machine's files leaves to assumptions, and where its files contradict each other.

use std::path::Path;

use freehold::Migratetype;

use super::buddyinfo::{BuddyZone, read_buddyinfo};
use super::free_lists::{FreeLists, ZoneFreeLists};
use super::meminfo::read_meminfo;
use super::page_size::page_bytes;
use super::pagetypeinfo::read_free_lists;
use super::read::read_text;
use super::zoneinfo::read_zoneinfo;

/// Returns a sentence for each assumption and contradiction in the copied files below `root`; none for this machine.
///
/// `page_size` is the size of a page if the user named it. Files that cannot be read have no sentence here.
pub fn copy_notes(root: &Path, page_size: Option<u64>) -> Vec<String> {
    if root == Path::new("/") {
        return Vec::new();
    }
    let assumed = [without_managed(root), assumed_page_size(root, page_size), header_note(root)];
    let mut notes: Vec<_> = assumed.into_iter().flatten().collect();
    notes.extend(missing_zoneinfo(root));
    notes.extend(FILES_WITHOUT_END.iter().filter_map(|file| without_line_break(root, file)));
    notes.extend(Totals::read(root).contradiction());
    notes.extend(memory_contradiction(root, page_size));
    notes
}

/// The files whose last row may lack its line break.
const FILES_WITHOUT_END: [&str; 4] = ["proc/zoneinfo", "proc/buddyinfo", "proc/pagetypeinfo", "proc/meminfo"];

fn without_line_break(root: &Path, file: &str) -> Option<String> {
    let path = root.join(file);
    let text = read_text(&path).ok()?;
    let is_open = !text.is_empty() && !text.ends_with('\n');
    is_open.then(|| format!("{} ends without a line break: later lines may be cut off", path.display()))
}

fn without_managed(root: &Path) -> Option<String> {
    let path = root.join("proc/zoneinfo");
    let text = read_text(&path).ok()?;
    let is_row = |row: &str| row.trim_start_matches(['>', ' ']).starts_with("managed");
    let lacks = text.contains("present") && !text.lines().any(is_row);
    lacks.then(|| {
        format!(
            "{} has no `managed` rows, as Linux before 3.9 prints none: `present` pages are taken for managed pages",
            path.display()
        )
    })
}

/// Returns the note on the size of a page, if nothing below `root` says it.
fn assumed_page_size(root: &Path, page_size: Option<u64>) -> Option<String> {
    let is_unknown = page_size.is_none() && page_bytes(root).is_none();
    is_unknown.then(|| {
        format!(
            "pages are assumed to have 4 KiB: neither {} nor meminfo with zoneinfo says their size; name it with \
             --page-size",
            root.join("proc/self/smaps").display()
        )
    })
}

/// Returns the note on a copy of pagetypeinfo that lacks its first line or its second table.
pub fn header_note(root: &Path) -> Option<String> {
    let path = root.join("proc/pagetypeinfo");
    let lists = read_free_lists(root).ok()?;
    let mut lacks = Vec::new();
    if lists.pageblock_order.is_none() {
        lacks.push(
            "its first line (`Page block order: 9`), so the size of a pageblock follows from other files",
        );
    }
    if lists.zones.iter().any(|zone| zone.blocks.is_none()) {
        lacks.push(
            "the table `Number of blocks type`, so pageblocks by type are unknown and lines may be cut off",
        );
    }
    if let Some(order) = lists.cut_at() {
        return Some(format!(
            "{} is cut: its columns end at order {order}, so the numbers of larger blocks are unknown",
            path.display()
        ));
    }
    (!lacks.is_empty()).then(|| {
        format!("{} lacks {}; copy the whole file to have both", path.display(), lacks.join(", and "))
    })
}

/// Returns the note on a copy without zoneinfo.
fn missing_zoneinfo(root: &Path) -> Option<String> {
    let path = root.join("proc/zoneinfo");
    (!path.exists()).then(|| {
        format!(
            "{} is missing: watermarks and reserves are unknown, so fewer blocks may be available",
            path.display()
        )
    })
}

/// The free pages of the zones, as three files have them.
struct Totals {
    /// Node, zone, free pages, managed pages.
    zoneinfo: Vec<(u32, String, u64, u64)>,
    buddyinfo: Vec<BuddyZone>,
    pagetypeinfo: FreeLists,
}

impl Totals {
    fn read(root: &Path) -> Self {
        let zones = read_zoneinfo(root).unwrap_or_default();
        let zoneinfo = zones.into_iter().map(|zone| (zone.node, zone.name, zone.free, zone.managed));
        Self {
            zoneinfo: zoneinfo.collect(),
            buddyinfo: read_buddyinfo(root).unwrap_or_default(),
            pagetypeinfo: read_free_lists(root).unwrap_or_default(),
        }
    }

    /// Returns a sentence on the zone whose totals differ most.
    fn contradiction(&self) -> Option<String> {
        let pairs = self.zoneinfo.iter().flat_map(|(node, name, free, _)| {
            let of = |other: &'static str, pages: Option<u64>| {
                let pages = pages.filter(|&pages| differ(*free, pages))?;
                Some((free.abs_diff(pages), *node, name.as_str(), *free, other, pages))
            };
            let buddy = self.buddyinfo.iter().find(|zone| zone.node == *node && zone.name == *name);
            let lists = self.pagetypeinfo.zones.iter().find(|zone| zone.node == *node && zone.name == *name);
            [
                of(
                    "buddyinfo",
                    buddy.map(|zone| buddy_pages(zone).saturating_sub(lists.map_or(0, isolated_pages))),
                ),
                of("pagetypeinfo", lists.and_then(|lists| listed_pages(lists, *free))),
            ]
        });
        let (_, node, zone, free, other, pages) = pairs.flatten().max()?;
        Some(format!(
            "the files contradict each other, so they are of two moments or of two machines: in node {node}, zone \
             {zone}, zoneinfo has {free} free pages and {other} has {pages}; copy all files at once"
        ))
    }
}

/// The free pages by which files of one moment may differ: some come and go while a person copies.
fn differ(one: u64, other: u64) -> bool {
    one.abs_diff(other) > one.max(other) / 8 + 256
}

fn buddy_pages(zone: &BuddyZone) -> u64 {
    sum(zone.free.iter().copied())
}

/// Returns the isolated pages, which are on free lists and not in the free pages of zoneinfo.
fn isolated_pages(zone: &ZoneFreeLists) -> u64 {
    sum(zone.free[Migratetype::Isolate.index()].iter().map(|count| count.blocks))
}

/// Returns the free pages on the lists, isolated ones excluded; `None` if counts are capped and the sum is below `free`, as it then is a lower bound.
fn listed_pages(zone: &ZoneFreeLists, free: u64) -> Option<u64> {
    let counts = || zone.free.iter().flat_map(|list| list.iter());
    let lists = zone.free.iter().map(|list| sum(list.iter().map(|count| count.blocks)));
    let pages = lists.fold(0, u64::saturating_add).saturating_sub(isolated_pages(zone));
    (pages >= free || !counts().any(|count| count.capped)).then_some(pages)
}

fn sum(blocks: impl Iterator<Item = u64>) -> u64 {
    blocks.enumerate().fold(0, |sum, (order, blocks)| sum.saturating_add(blocks.saturating_mul(1 << order)))
}

/// Returns a sentence if the memory of meminfo is not that of zoneinfo.
fn memory_contradiction(root: &Path, page_size: Option<u64>) -> Option<String> {
    let page_size = page_size.or_else(|| page_bytes(root)).unwrap_or(4096);
    let total = read_meminfo(root, "MemTotal").ok()?;
    let managed: u64 = read_zoneinfo(root).ok()?.iter().map(|zone| zone.managed).sum();
    let managed = managed.saturating_mul(page_size);
    let is_far = total.abs_diff(managed) > total.max(managed) / 4;
    is_far.then(|| {
        format!(
            "the files contradict each other, so they are of two machines: meminfo has {} MiB of memory, zoneinfo {} \
             MiB in pages of {} KiB; copy all files from one machine",
            total >> 20,
            managed >> 20,
            page_size >> 10
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ZONEINFO: &str = "Node 0, zone Normal\n  pages free     4096\n        min 1\n        low 2\n        high 3\n        \
                            spanned  65536\n        present  65536\n        managed  65536\n        protection: (0)\n  \
                            start_pfn: 0\n";

    fn notes(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("proc")).unwrap();
        for (name, text) in files {
            fs::write(root.path().join("proc").join(name), text).unwrap();
        }
        copy_notes(root.path(), None)
    }

    #[test]
    fn files_that_agree_need_no_note() {
        let files = [("zoneinfo", ZONEINFO), ("buddyinfo", "Node 0, zone Normal 0 0 0 0 0 0 0 0 0 0 4 \n")];
        let meminfo = [("meminfo", "MemTotal: 262144 kB\nMemFree: 16384 kB\n")];
        assert_eq!(notes(&[files.as_slice(), &meminfo].concat()), Vec::<String>::new());
        assert!(notes(&files)[0].contains("assumed to have 4 KiB"));
    }

    #[test]
    fn files_of_two_moments_and_of_two_machines_are_named() {
        let meminfo = ("meminfo", "MemTotal: 262144 kB\nMemFree: 16384 kB\n");
        let later = ("buddyinfo", "Node 0, zone Normal 0 0 0 0 0 0 0 0 0 0 9 \n");
        let noted = notes(&[("zoneinfo", ZONEINFO), later, meminfo]);
        assert!(noted[0].contains("zoneinfo has 4096 free pages and buddyinfo has 9216"), "{noted:?}");
        let other = ("meminfo", "MemTotal: 524288 kB\nMemFree: 9000 kB\n");
        let noted = notes(&[("zoneinfo", ZONEINFO), other]);
        assert!(
            noted[0].contains("assumed to have 4 KiB"),
            "no kernel of this machine has pages of 8 KiB: {noted:?}"
        );
        assert!(
            noted[1].contains("of two machines: meminfo has 512 MiB of memory, zoneinfo 256 MiB"),
            "{noted:?}"
        );
    }

    #[test]
    fn old_kernels_and_open_ends_are_named() {
        let old = ZONEINFO.replace("        managed  65536\n", "");
        let noted = notes(&[("zoneinfo", &old), ("meminfo", "MemTotal: 262144 kB")]);
        assert!(noted[0].contains("Linux before 3.9"), "{noted:?}");
        assert!(noted[1].contains("meminfo ends without a line break"), "{noted:?}");
    }
}
