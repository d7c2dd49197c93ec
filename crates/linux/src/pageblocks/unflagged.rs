//! What no flag of `/proc/kpageflags` tells of frames, and others tell.

use super::per_cpu::PerCpuFrames;

/// Frames of pages to which somebody has a reference beside the page tables that map them and the cache that they are in, as of a
/// pipe, of `io_uring`, RDMA or VFIO: nothing moves such a page.
///
/// Linux counterpart: `folio_expected_ref_count`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PinnedFrames {
    first: u64,
    /// A bit for each frame.
    words: Vec<u64>,
}

impl PinnedFrames {
    /// Takes a bit for each frame from `first` on, 64 a word from the lowest bit on.
    pub fn new(first: u64, words: Vec<u64>) -> Self {
        Self { first, words }
    }

    /// Returns true if the frame's page is pinned.
    pub fn has(&self, pfn: u64) -> bool {
        let bit = pfn.checked_sub(self.first);
        let word = |bit: u64| Some(self.words.get(usize::try_from(bit / 64).ok()?)? >> (bit % 64) & 1);
        bit.and_then(word) == Some(1)
    }

    /// Leaves those that another reading of the same frames has, too.
    pub(crate) fn retain(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }
}

/// What is known of frames beside their flags.
#[derive(Clone, Copy)]
pub struct Unflagged<'a> {
    /// Frames that are free on per-CPU lists.
    pub listed: &'a PerCpuFrames,
    /// Returns which of so many frames from a first one on are pinned.
    pub pinned: &'a (dyn Fn(u64, u64) -> PinnedFrames + Sync),
}

impl Unflagged<'_> {
    /// Nothing is known.
    pub const NONE: Unflagged<'static> = Unflagged {
        listed: &PerCpuFrames::NONE,
        pinned: &|_, _| PinnedFrames { first: 0, words: Vec::new() },
    };
}

/// What is known of the frames of one pageblock beside their flags.
#[derive(Clone, Copy)]
pub(super) struct Aside<'a> {
    pub(super) listed: &'a PerCpuFrames,
    pub(super) pinned: &'a PinnedFrames,
    /// First frame of the pageblock.
    pub(super) base: u64,
}

impl Aside<'_> {
    /// Nothing is known.
    pub(super) const NONE: Aside<'static> =
        Aside { listed: &PerCpuFrames::NONE, pinned: &PinnedFrames { first: 0, words: Vec::new() }, base: 0 };

    /// Returns true if a frame without a flag, the `at`th of the pageblock, is on a list.
    pub(super) fn is_listed(&self, at: u64) -> bool {
        self.listed.has(self.base + at)
    }

    /// Returns true if the `at`th frame of the pageblock is pinned.
    pub(super) fn is_pinned(&self, at: u64) -> bool {
        self.pinned.has(self.base + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_has_its_bit() {
        let mut frames = PinnedFrames::new(100, vec![1 << 3, 1 | 1 << 63]);
        let found = |frames: &PinnedFrames| (0..400).filter(|&pfn| frames.has(pfn)).collect::<Vec<_>>();
        assert_eq!(found(&frames), [103, 164, 227]);
        frames.retain(&PinnedFrames::new(100, vec![u64::MAX, 1]));
        assert_eq!(found(&frames), [103, 164]);
        assert!(found(&PinnedFrames::default()).is_empty());
    }
}
