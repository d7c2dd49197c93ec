//! The frames that are free on per-CPU lists, which no flag of `/proc/kpageflags` tells.

use std::path::Path;

use super::block::Held;
use super::map::PageblockMap;
use crate::error::Error;
use crate::procfs::{FrameWords, WORD_BYTES, words};

/// Frames that were free on per-CPU lists when they were read; none where they are not known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PerCpuFrames {
    /// First frame of each block and the frame behind its last one, by ascending frames.
    blocks: Vec<(u64, u64)>,
}

impl PerCpuFrames {
    /// Takes the first frame and the order of each block.
    pub fn new(blocks: impl IntoIterator<Item = (u64, u8)>) -> Self {
        let end = |pfn: u64, order: u8| pfn.saturating_add(1 << order.min(63));
        let mut blocks: Vec<_> = blocks.into_iter().map(|(pfn, order)| (pfn, end(pfn, order))).collect();
        blocks.sort_unstable();
        Self { blocks }
    }

    /// Returns true if the frame was on a list.
    pub fn has(&self, pfn: u64) -> bool {
        let behind = self.blocks.partition_point(|&(first, _)| first <= pfn);
        behind.checked_sub(1).is_some_and(|at| pfn < self.blocks[at].1)
    }

    /// Adds the frames of another reading.
    pub fn extend(&mut self, other: Self) {
        self.blocks.extend(other.blocks);
        self.blocks.sort_unstable();
    }

    /// Returns true if a block begins in the frames from `from` to before `to`.
    fn has_any(&self, from: u64, to: u64) -> bool {
        let first = self.blocks.partition_point(|&(first, _)| first < from);
        self.blocks.get(first).is_some_and(|&(first, _)| first < to)
    }
}

/// Counts the pages on per-CPU lists of a `map` anew, where `listed` has more frames than the reading of `map` knew. A page without a
/// flag counts that was on a list before or after that reading: lists change while pageblocks are read.
///
/// # Errors
/// [`Error::NoKpageflags`] if the kernel has none, [`Error::NotRoot`] if access is refused.
pub fn recount_listed(root: &Path, map: &mut PageblockMap, listed: &PerCpuFrames) -> Result<(), Error> {
    let file = FrameWords::kpageflags(root)?;
    let pages = map.pageblock_pages();
    let mut buffer = vec![0; pages as usize * WORD_BYTES];
    for zone in &mut map.zones {
        for (base, block) in (zone.start_pfn..).step_by(pages as usize).zip(&mut zone.blocks) {
            if block.held_by(Held::Kernel) <= u32::from(block.listed) || !listed.has_any(base, base + pages) {
                continue;
            }
            let filled = file.read(base, &mut buffer).map_err(|e| file.failed(e))?;
            let known = (base..)
                .zip(words(&buffer[..filled]))
                .filter(|&(pfn, word)| word == 0 && listed.has(pfn))
                .count();
            let most = block.held[Held::Kernel as usize];
            block.listed = block.listed.max(u16::try_from(known).unwrap_or(u16::MAX).min(most));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_found_in_its_block() {
        let frames = PerCpuFrames::new([(16, 2), (3, 0), (8, 3)]);
        let found: Vec<_> = (0..24).filter(|&pfn| frames.has(pfn)).collect();
        assert_eq!(found, [3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
        assert!(!PerCpuFrames::default().has(0));
    }
}
