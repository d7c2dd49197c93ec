//! The page cache of a trace, which a replay may have to reclaim.

use std::collections::VecDeque;

use super::traced::{Pages, Traced, TracedFrames};

/// The places of page cache in the trace, the oldest first. A place stays after its block is freed. A later block at
/// the same place gets the age of the earlier block.
#[derive(Default)]
pub(super) struct PageCache {
    places: VecDeque<u32>,
    /// The number of places that triggers the next removal of places without page cache.
    sift_at: usize,
}

impl PageCache {
    /// Returns the page cache at the start, whose places are ordered by address.
    pub(super) fn new(places: VecDeque<u32>) -> Self {
        Self { sift_at: (2 * places.len()).max(1 << 16), places }
    }

    /// Adds a new block of page cache.
    #[inline]
    pub(super) fn push(&mut self, place: usize, traced: &TracedFrames) {
        self.places.push_back(place as u32);
        if self.places.len() >= self.sift_at {
            self.sift(traced);
        }
    }

    #[cold]
    fn sift(&mut self, traced: &TracedFrames) {
        self.places.retain(|&place| is_cache(traced, place as usize));
        self.sift_at = (2 * self.places.len()).max(1 << 16);
    }

    /// Removes and returns the place of the oldest block; `None` if there is none.
    pub(super) fn pop(&mut self, traced: &TracedFrames) -> Option<usize> {
        while let Some(place) = self.places.pop_front() {
            if is_cache(traced, place as usize) {
                return Some(place as usize);
            }
        }
        None
    }

    /// Returns an upper bound for the number of blocks.
    pub(super) fn len(&self) -> u64 {
        self.places.len() as u64
    }
}

fn is_cache(traced: &TracedFrames, place: usize) -> bool {
    let entry = traced.entry(traced.at_place(place));
    matches!(entry.get(), Traced::InUse(..)) && entry.pages() == Pages::Cache
}
