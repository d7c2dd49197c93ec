//! The owner of each replayed block: the map from the replay back to the trace.

use freehold::Pfn;

use super::moved::MovedBlocks;
use super::traced::{Traced, TracedFrames};

/// The owner of each replayed block, by the block's first frame. Built at first use and kept up to date from then on.
///
/// Frees do not change the map: an entry is valid only if its owner still has the block.
#[derive(Default)]
pub(super) struct Places {
    /// One number for each frame; 0 without a known owner.
    numbers: Vec<u32>,
}

/// The owner of a replayed block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holder {
    /// The traced block at a place.
    Traced(usize),
    /// The block that compaction moved on the machine, by its number.
    Moved(u32),
    /// No traced block: the block was in use at the start, and no event frees it.
    Untraced,
}

const MOVED: u32 = 1 << 31;

impl Places {
    pub(super) fn is_built(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Builds the map, unless it exists.
    pub(super) fn build(&mut self, traced: &mut TracedFrames, moved: &MovedBlocks) {
        if self.is_built() {
            return;
        }
        self.numbers = vec![0; traced.places().max(1)];
        for (place, replayed, _) in traced.blocks() {
            if let Some(at) = traced.place_near(replayed, place) {
                self.numbers[at] = place as u32 + 1;
            }
        }
        for (number, replayed) in moved.blocks() {
            self.note(traced, replayed, Holder::Moved(number));
        }
    }

    /// Records the owner of a replayed block, if the map exists.
    #[inline]
    pub(super) fn note(&mut self, traced: &mut TracedFrames, replayed: Pfn, holder: Holder) {
        if !self.is_built() {
            return;
        }
        if let Some(at) = traced.place_of(replayed) {
            self.numbers[at] = match holder {
                Holder::Traced(place) => place as u32 + 1,
                Holder::Moved(number) => number | MOVED,
                Holder::Untraced => 0,
            };
        }
    }

    /// Returns the owner of a replayed block in use.
    pub(super) fn holder(&self, traced: &mut TracedFrames, moved: &MovedBlocks, replayed: Pfn) -> Holder {
        let number = traced.place_of(replayed).map_or(0, |at| self.numbers[at]);
        let holder = match number {
            0 => return Holder::Untraced,
            number if number & MOVED != 0 => Holder::Moved(number & !MOVED),
            number => Holder::Traced(number as usize - 1),
        };
        let agrees = match holder {
            Holder::Traced(place) => {
                matches!(traced.get(traced.at_place(place)), Traced::InUse(_, own) if own == replayed)
            }
            Holder::Moved(number) => moved.block(number) == Some(replayed),
            Holder::Untraced => false,
        };
        if agrees { holder } else { Holder::Untraced }
    }
}
