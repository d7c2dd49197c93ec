//! The frames that are free on per-CPU lists, which no flag of `/proc/kpageflags` tells.

/// Frames that were free on per-CPU lists when they were read; none where they are not known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PerCpuFrames {
    /// First frame of each block and the frame behind its last one, by ascending frames.
    blocks: Vec<(u64, u64)>,
}

impl PerCpuFrames {
    /// None is known.
    pub(super) const NONE: Self = Self { blocks: Vec::new() };

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
    pub(super) fn has_any(&self, from: u64, to: u64) -> bool {
        let first = self.blocks.partition_point(|&(first, _)| first < from);
        self.blocks.get(first).is_some_and(|&(first, _)| first < to)
    }
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
