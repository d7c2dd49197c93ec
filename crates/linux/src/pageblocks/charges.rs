//! Cgroups that are charged for unmovable pages.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::Serialize;

use super::block::{Pageblock, UnmovableKind};
use super::map::{PageblockMap, ZonePageblocks};
use crate::error::Error;
use crate::procfs::{FrameWords, WORD_BYTES, kpf, words};

/// The most pageblocks that are looked into, those with the fewest held pages first: 4 MiB of words in
/// all.
const MOST_BLOCKS: usize = 512;

/// The most folders of cgroups that are searched for a name.
const MOST_CGROUPS: usize = 1 << 16;

/// A cgroup, and the unmovable pages that it is charged for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Charge {
    /// The cgroup's path below its hierarchy's root, or `inode N` if the cgroup was removed.
    pub cgroup: String,
    /// Pages.
    pub pages: u64,
    /// Pageblocks with such pages.
    pub pageblocks: u64,
}

/// Reads the charges of unmovable pages from `proc/kpagecgroup` below `root`, in those pageblocks of the
/// `wanted` zones of `map` that are nearest to becoming free. The largest charge comes first.
///
/// Page tables, kernel stacks and other pages allocated for a process are charged. Slab objects are
/// charged one by one, not as pages, and so are not found here.
///
/// # Errors
/// [`Error::NotRoot`] if access is refused; [`Error::Io`] if the kernel has no memory cgroups.
pub fn read_charges(
    root: &Path,
    map: &PageblockMap,
    wanted: impl Fn(&ZonePageblocks) -> bool,
) -> Result<Vec<Charge>, Error> {
    let flags = FrameWords::kpageflags(root)?;
    let cgroups = FrameWords::open(&root.join("proc/kpagecgroup"))?;
    let mut charged: HashMap<u64, (u64, u64)> = HashMap::new();
    for start_pfn in nearest_to_free(map, wanted) {
        let mut here: HashMap<u64, u64> = HashMap::new();
        let words = read_words(&flags, start_pfn, map.pageblock_pages())?;
        for (flags, inode) in words.iter().zip(read_words(&cgroups, start_pfn, map.pageblock_pages())?) {
            if inode != 0 && flags & (kpf::LRU | kpf::ANON | kpf::BUDDY | kpf::NOPAGE) == 0 {
                *here.entry(inode).or_default() += 1;
            }
        }
        for (inode, pages) in here {
            let sum = charged.entry(inode).or_default();
            *sum = (sum.0 + pages, sum.1 + 1);
        }
    }
    let mut names = if charged.is_empty() { HashMap::new() } else { cgroup_names(root) };
    let charge = |(inode, (pages, pageblocks))| {
        let cgroup = names.remove(&inode).unwrap_or_else(|| format!("inode {inode}"));
        Charge { cgroup, pages, pageblocks }
    };
    let mut charges: Vec<_> = charged.into_iter().map(charge).collect();
    charges.sort_by(|one, other| (other.pages, &one.cgroup).cmp(&(one.pages, &other.cgroup)));
    Ok(charges)
}

/// Returns the first frames of pageblocks with few held pages, fewest first.
fn nearest_to_free(map: &PageblockMap, wanted: impl Fn(&ZonePageblocks) -> bool) -> Vec<u64> {
    let unmovable =
        |block: &Pageblock| block.pages_of(UnmovableKind::Kernel) + block.pages_of(UnmovableKind::PageTable);
    let mut near: Vec<(u32, u64)> = Vec::new();
    for zone in map.zones.iter().filter(|zone| wanted(zone)) {
        let starts = (zone.start_pfn..).step_by(map.pageblock_pages() as usize);
        let blocks = zone.blocks.iter().zip(starts).filter(|(block, _)| unmovable(block) > 0);
        near.extend(blocks.map(|(block, start)| (block.stuck(), start)));
    }
    near.sort_unstable();
    near.into_iter().take(MOST_BLOCKS).map(|(_, start)| start).collect()
}

/// Reads a word for each of `pages` frames, fewer if the file ends.
fn read_words(file: &FrameWords, start_pfn: u64, pages: u64) -> Result<Vec<u64>, Error> {
    let mut bytes = vec![0; pages as usize * WORD_BYTES];
    let filled = file.read(start_pfn, &mut bytes).map_err(|e| file.failed(e))?;
    Ok(words(&bytes[..filled]).collect())
}

/// Returns the path of each cgroup of the memory controller, by the inode of its folder.
pub(crate) fn cgroup_names(root: &Path) -> HashMap<u64, String> {
    let unified = root.join("sys/fs/cgroup");
    let legacy = unified.join("memory");
    let top = if legacy.is_dir() { legacy } else { unified };
    let mut names = HashMap::new();
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        let Ok(metadata) = fs::symlink_metadata(&folder) else { continue };
        if !metadata.is_dir() || names.len() == MOST_CGROUPS {
            continue;
        }
        let below = folder.strip_prefix(&top).unwrap_or(&folder);
        names.insert(metadata.ino(), format!("/{}", below.display()));
        folders.extend(fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
    names
}
