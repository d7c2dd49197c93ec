//! The page cache of a trace, as a replay may have to give it up.

use std::collections::VecDeque;

use super::traced::{Pages, Traced, TracedFrames};

/// Places of page cache in the trace, the oldest first. Places whose block has gone are still
/// there; a block that came to such a place counts as old as the one before it.
#[derive(Default)]
pub(super) struct PageCache {
    places: VecDeque<u32>,
    /// Where all places are sifted next.
    sift_at: usize,
}

impl PageCache {
    /// The page cache at the start, by address.
    pub(super) fn new(traced: &TracedFrames) -> Self {
        let cache = traced.blocks().filter(|(_, _, pages)| *pages == Pages::Cache);
        let places: VecDeque<u32> = cache.map(|(place, ..)| place as u32).collect();
        Self { sift_at: (2 * places.len()).max(1 << 16), places }
    }

    /// Notes a new block.
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

    /// The oldest block's place.
    pub(super) fn pop(&mut self, traced: &TracedFrames) -> Option<usize> {
        while let Some(place) = self.places.pop_front() {
            if is_cache(traced, place as usize) {
                return Some(place as usize);
            }
        }
        None
    }

    /// Blocks at most.
    pub(super) fn len(&self) -> u64 {
        self.places.len() as u64
    }
}

fn is_cache(traced: &TracedFrames, place: usize) -> bool {
    let entry = traced.entry(traced.at_place(place));
    matches!(entry.get(), Traced::Held(..)) && entry.pages() == Pages::Cache
}
