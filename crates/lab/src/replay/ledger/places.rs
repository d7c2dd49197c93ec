//! Who has a replayed block: the way back from the replay to the trace.

use freehold::Pfn;

use super::moved::MovedBlocks;
use super::traced::{Traced, TracedFrames};

/// Who has each replayed block, by its first frame: built when it is asked for first, and kept
/// up to date from then on.
///
/// Frees leave it alone: what it says holds only if whoever it names says the same.
#[derive(Default)]
pub(super) struct Places {
    /// One number a frame: 0 for nobody known.
    numbers: Vec<u32>,
}

/// Who has a replayed block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holder {
    /// The traced block at a place.
    Traced(usize),
    /// The block that compaction moved on the machine, by its number.
    Moved(u32),
    /// The trace does not name it: in use since before the start and not freed to the end.
    Nobody,
}

const MOVED: u32 = 1 << 31;

impl Places {
    pub(super) fn is_built(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Builds the way back, unless it is there.
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

    /// Notes who has a replayed block, if anybody has ever asked.
    #[inline]
    pub(super) fn note(&mut self, traced: &mut TracedFrames, replayed: Pfn, holder: Holder) {
        if !self.is_built() {
            return;
        }
        if let Some(at) = traced.place_of(replayed) {
            self.numbers[at] = match holder {
                Holder::Traced(place) => place as u32 + 1,
                Holder::Moved(number) => number | MOVED,
                Holder::Nobody => 0,
            };
        }
    }

    /// Who has a replayed block that is in use.
    pub(super) fn holder(&self, traced: &mut TracedFrames, moved: &MovedBlocks, replayed: Pfn) -> Holder {
        let number = traced.place_of(replayed).map_or(0, |at| self.numbers[at]);
        let holder = match number {
            0 => return Holder::Nobody,
            number if number & MOVED != 0 => Holder::Moved(number & !MOVED),
            number => Holder::Traced(number as usize - 1),
        };
        let agrees = match holder {
            Holder::Traced(place) => {
                matches!(traced.get(traced.at_place(place)), Traced::Held(_, held) if held == replayed)
            }
            Holder::Moved(number) => moved.block(number) == Some(replayed),
            Holder::Nobody => false,
        };
        if agrees { holder } else { Holder::Nobody }
    }
}
