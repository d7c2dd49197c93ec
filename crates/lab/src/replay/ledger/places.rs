//! Who holds a replayed block: the way back from the replay to the trace.

use freehold::Pfn;

use super::moved::MovedBlocks;
use super::traced::{Traced, TracedFrames};

/// The holder of each replayed block, by the block's first frame. It is built when it is asked for first, and
/// kept up to date from then on.
///
/// Frees do not change it: an entry is valid only if the holder that it names still has the block.
#[derive(Default)]
pub(super) struct Places {
    /// One number for each frame; 0 if no holder is known.
    numbers: Vec<u32>,
}

/// The holder of a replayed block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holder {
    /// The traced block at a place.
    Traced(usize),
    /// The block that compaction moved on the machine, by its number.
    Moved(u32),
    /// Nobody in the trace: the block was in use at the start and no event frees it.
    NoReclaim,
}

const MOVED: u32 = 1 << 31;

impl Places {
    pub(super) fn is_built(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Builds the way back, unless it is built.
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

    /// Notes the holder of a replayed block, if the way back is built.
    #[inline]
    pub(super) fn note(&mut self, traced: &mut TracedFrames, replayed: Pfn, holder: Holder) {
        if !self.is_built() {
            return;
        }
        if let Some(at) = traced.place_of(replayed) {
            self.numbers[at] = match holder {
                Holder::Traced(place) => place as u32 + 1,
                Holder::Moved(number) => number | MOVED,
                Holder::NoReclaim => 0,
            };
        }
    }

    /// Returns the holder of a replayed block that is in use.
    pub(super) fn holder(&self, traced: &mut TracedFrames, moved: &MovedBlocks, replayed: Pfn) -> Holder {
        let number = traced.place_of(replayed).map_or(0, |at| self.numbers[at]);
        let holder = match number {
            0 => return Holder::NoReclaim,
            number if number & MOVED != 0 => Holder::Moved(number & !MOVED),
            number => Holder::Traced(number as usize - 1),
        };
        let agrees = match holder {
            Holder::Traced(place) => {
                matches!(traced.get(traced.at_place(place)), Traced::Held(_, held) if held == replayed)
            }
            Holder::Moved(number) => moved.block(number) == Some(replayed),
            Holder::NoReclaim => false,
        };
        if agrees { holder } else { Holder::NoReclaim }
    }
}
