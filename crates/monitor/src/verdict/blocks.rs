//! Counts the free blocks of an order in a zone's pageblocks.

use freehold_linux::pageblocks::Pageblock;

use super::compaction::{Fate, PredictedBlock};

/// A pageblock as it was read, and its forecast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block<'a> {
    /// The record that was read.
    pub read: &'a Pageblock,
    /// The forecast of the same pageblock.
    pub later: PredictedBlock,
}

/// Counts the aligned free blocks of `order`, at most as many as the free pages make up.
///
/// `start_pfn` is the first frame of the first of `blocks`. Blocks smaller than a pageblock are counted
/// in 64ths of a pageblock; blocks smaller than a 64th, by the free 64ths; single pages are counted by themselves.
pub fn blocks_of(order: u8, pageblock_order: u8, start_pfn: u64, blocks: &[Block<'_>]) -> u64 {
    let pages = 1_u32 << pageblock_order;
    if order < pageblock_order {
        return blocks.iter().map(|block| inside(order, pageblock_order, block)).sum();
    }
    let group = 1_u64 << (order - pageblock_order);
    let mut found = 0;
    let mut run = 0;
    for (index, block) in (start_pfn >> pageblock_order..).zip(blocks) {
        if index % group == 0 {
            run = 0;
        }
        run = if block.later.free == pages { run + 1 } else { 0 };
        if run == group {
            found += 1;
            run = 0;
        }
    }
    found
}

/// Counts the blocks of an order below a pageblock's in one pageblock.
fn inside(order: u8, pageblock_order: u8, block: &Block<'_>) -> u64 {
    let pages = 1_u32 << pageblock_order;
    if block.later.free == pages {
        return u64::from(pages >> order);
    }
    if order == 0 {
        return block.later.free.into();
    }
    let read = block.read;
    match block.later.fate {
        Fate::Drained if read.unevictable == 0 => free_groups(read.pinned_parts, order, pageblock_order),
        Fate::Untouched | Fate::Opened | Fate::Drained => {
            free_groups(read.used_parts, order, pageblock_order)
        }
        // Pages are taken from the pageblock's start, so the rest is free at its end.
        Fate::Filled => {
            let left = u64::from(block.later.free >> order);
            free_groups(read.used_parts, order, pageblock_order).min(left)
        }
    }
}

/// Counts the aligned blocks of `order` in which no part has its bit set.
fn free_groups(parts: u64, order: u8, pageblock_order: u8) -> u64 {
    let part_order = pageblock_order.saturating_sub(6);
    let count = 1_u32 << (pageblock_order - part_order);
    if order <= part_order {
        let used = if count == 64 { parts } else { parts & ((1 << count) - 1) };
        return u64::from(count - used.count_ones()) << (part_order - order);
    }
    let width = 1_u32 << (order - part_order);
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    (0..count / width).filter(|group| parts >> (group * width) & mask == 0).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(order: u8, start_pfn: u64, free: &[u32]) -> u64 {
        let read: Vec<_> =
            free.iter().map(|&free| Pageblock { free: free as u16, ..Pageblock::default() }).collect();
        let blocks: Vec<_> =
            read.iter().map(|read| Block { read, later: PredictedBlock::untouched(read) }).collect();
        blocks_of(order, 9, start_pfn, &blocks)
    }

    #[test]
    fn larger_blocks_are_aligned_pairs() {
        let free = [512, 512, 512, 511, 512, 512];
        assert_eq!(count(9, 0, &free), 5);
        assert_eq!(count(10, 0, &free), 2);
        assert_eq!(count(10, 512, &free), 1, "pairs start at even pageblocks");
        assert_eq!(count(4, 0, &[512]), 32);
    }

    #[test]
    fn smaller_blocks_are_counted_by_parts() {
        assert_eq!(free_groups(0, 0, 9), 512);
        assert_eq!(free_groups(1, 3, 9), 63);
        assert_eq!(free_groups(1, 4, 9), 31);
        assert_eq!(free_groups(1 << 63, 8, 9), 1);
        assert_eq!(free_groups(u64::MAX, 0, 9), 0);
        assert_eq!(free_groups(0b10, 1, 2), 1);
        assert_eq!(free_groups(0, 9, 10), 2);
        let read = Pageblock { pinned_parts: 1, used_parts: u64::MAX, ..Pageblock::default() };
        let later = |free, fate| PredictedBlock { free, moved: 0, fate };
        let of = |free, fate| inside(4, 9, &Block { read: &read, later: later(free, fate) });
        assert_eq!([of(500, Fate::Drained), of(500, Fate::Opened), of(500, Fate::Filled)], [31, 0, 0]);
    }
}
