//! A bitmap of the pages that have left the free lists for movable requests.

use super::frame::FrameIndex;
use super::sync::{AtomicU32, Ordering};

/// The bits of 32 consecutive pages.
#[derive(Debug)]
pub(crate) struct MovableBits(AtomicU32);

impl Default for MovableBits {
    fn default() -> Self {
        Self(AtomicU32::new(0))
    }
}

/// One bit for each page of a zone. The bit is 1 from the moment when the page leaves the free lists for a movable
/// request until it returns to them. Writers hold the zone lock.
///
/// Linux counterpart: none; the bitmap of `pageblock_use.c` in Freehold's series `tidying`.
#[derive(Debug)]
pub(crate) struct MovableBitmap<'m>(&'m [MovableBits]);

impl<'m> MovableBitmap<'m> {
    /// Returns the number of [`MovableBits`] for `pages` pages.
    pub(crate) fn places(pages: usize) -> usize {
        pages.div_ceil(u32::BITS as usize)
    }

    pub(crate) fn new(pages: &'m [MovableBits]) -> Self {
        Self(pages)
    }

    /// Sets the bits of `pages` pages if `taken`, otherwise clears them. Returns the number of bits that changed.
    pub(crate) fn mark(&self, first: FrameIndex, pages: u32, taken: bool) -> u32 {
        let (mut at, end) = (first.0, first.0 + pages);
        let mut changed = 0;
        while at < end {
            let word_end = ((at | (u32::BITS - 1)) + 1).min(end);
            let bits = u32::MAX >> (u32::BITS - (word_end - at)) << (at % u32::BITS);
            let word = &self.0[(at / u32::BITS) as usize].0;
            let before = word.load(Ordering::Relaxed);
            let after = if taken { before | bits } else { before & !bits };
            word.store(after, Ordering::Relaxed);
            changed += (before ^ after).count_ones();
            at = word_end;
        }
        changed
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn marking_twice_counts_each_page_once() {
        let words = [const { MovableBits(AtomicU32::new(0)) }; 4];
        assert_eq!([100, 128, 129].map(MovableBitmap::places), [4, 4, 5]);
        let movable_bitmap = MovableBitmap::new(&words);
        let mark = |first, pages, taken| movable_bitmap.mark(FrameIndex(first), pages, taken);
        assert_eq!(mark(30, 40, true), 40);
        assert_eq!(mark(0, 128, true), 128 - 40);
        assert_eq!(mark(5, 1, true), 0);
        assert_eq!([mark(31, 2, false), mark(32, 32, false), mark(0, 128, false)], [2, 31, 95]);
        assert_eq!(mark(127, 1, false), 0);
    }
}
