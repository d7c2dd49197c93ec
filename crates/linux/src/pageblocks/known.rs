//! What is known of pageblocks before a word is read for each of their pages: memory that is missing, and hugetlb pages.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::fold::{RawBlock, fold};
use super::unflagged::Aside;
use crate::procfs::{kpf, page_bytes, read_hugetlb_pools, read_meminfo, read_text};

/// Hugetlb pages are looked for if they are at least one part of this many of the memory.
const HUGETLB_SHARE: u64 = 16;

/// What the machine's other files tell of pageblocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The memory blocks that are there; `None` if the kernel does not tell.
    memory: Option<MemoryBlocks>,
    /// The record of a pageblock of hugetlb pages; `None` if there are too few to look for.
    hugetlb: Option<RawBlock>,
}

/// `/sys/devices/system/memory`.
#[derive(Clone, Debug)]
struct MemoryBlocks {
    /// Frames of a memory block.
    frames: u64,
    /// The numbers of the blocks that are there.
    present: HashSet<u64>,
}

impl Known {
    /// Reads the machine's files below `root`.
    pub(super) fn read(root: &Path, pageblock_order: u8) -> Self {
        let page_bytes = page_bytes(root).unwrap_or(rustix::param::page_size() as u64);
        Self {
            memory: MemoryBlocks::read(root, page_bytes),
            hugetlb: has_hugetlb(root, page_bytes << pageblock_order).then(|| hugetlb_block(pageblock_order)),
        }
    }

    /// Returns true if no memory has the frames from `from` to before `to`.
    pub(super) fn is_missing(&self, from: u64, to: u64) -> bool {
        let Some(MemoryBlocks { frames, present }) = &self.memory else { return false };
        from < to && (from / frames..=(to - 1) / frames).all(|number| !present.contains(&number))
    }

    /// Returns the record of a pageblock whose first page is hugetlb's, if pageblocks are to be looked at for it.
    pub(super) fn hugetlb(&self) -> Option<RawBlock> {
        self.hugetlb
    }
}

impl MemoryBlocks {
    fn read(root: &Path, page_bytes: u64) -> Option<Self> {
        let folder = root.join("sys/devices/system/memory");
        let size = read_text(&folder.join("block_size_bytes")).ok()?;
        let frames = u64::from_str_radix(size.trim(), 16).ok()? / page_bytes;
        let mut present = HashSet::new();
        for entry in fs::read_dir(&folder).ok()? {
            let name = entry.ok()?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("memory")?.parse::<u64>().ok());
            present.extend(number);
        }
        (frames > 0 && !present.is_empty()).then_some(Self { frames, present })
    }
}

/// Returns true if a word of each pageblock tells those of hugetlb: its pages are many, and none is smaller than a pageblock.
fn has_hugetlb(root: &Path, pageblock_bytes: u64) -> bool {
    let pools = read_hugetlb_pools(root).unwrap_or_default();
    let bytes = |page_kib: u64, pages: u64| page_kib.saturating_mul(1024).saturating_mul(pages);
    let all = pools.iter().map(|pool| bytes(pool.page_kib, pool.pages)).fold(0, u64::saturating_add);
    let small = pools.iter().any(|pool| pool.pages > 0 && bytes(pool.page_kib, 1) < pageblock_bytes);
    let memory = read_meminfo(root, "MemTotal").unwrap_or(u64::MAX);
    !small && all >= (memory / HUGETLB_SHARE).max(1)
}

fn hugetlb_block(pageblock_order: u8) -> RawBlock {
    let words = std::iter::repeat_n(kpf::HUGE | kpf::COMPOUND_TAIL, 1 << pageblock_order);
    fold(words, 0, pageblock_order, Aside::NONE)
}
