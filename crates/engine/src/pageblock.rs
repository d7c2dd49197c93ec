//! The type of every pageblock of a zone.

use crate::frame::FrameIndex;
use crate::sync::{AtomicU8, Ordering};
use crate::{MIGRATETYPES, Migratetype, Order};

/// The types of one zone's pageblocks: one byte a block.
///
/// An isolated block keeps the type that it had, so that ending the isolation
/// brings it back. Writers hold the zone lock; readers need no lock.
/// Linux counterpart: `pageblock_flags`.
#[derive(Debug)]
pub(crate) struct PageblockTable<'m> {
    order: Order,
    types: &'m [AtomicU8],
}

const ISOLATED: u8 = 0x80;

impl<'m> PageblockTable<'m> {
    pub(crate) fn new(order: Order, types: &'m [AtomicU8]) -> Self {
        Self { order, types }
    }

    pub(crate) fn order(&self) -> Order {
        self.order
    }

    pub(crate) fn pages(&self) -> u32 {
        1 << self.order.get()
    }

    /// Number of pageblocks from the zone's origin on.
    pub(crate) fn len(&self) -> usize {
        self.types.len()
    }

    /// The first frame of the pageblock around `index`.
    pub(crate) fn start_of(&self, index: FrameIndex) -> FrameIndex {
        index.align_down(self.order)
    }

    fn slot(&self, index: FrameIndex) -> &AtomicU8 {
        &self.types[(index.0 >> self.order.get()) as usize]
    }

    pub(crate) fn get(&self, index: FrameIndex) -> Migratetype {
        let value = self.slot(index).load(Ordering::Relaxed);
        if value & ISOLATED != 0 { Migratetype::Isolate } else { Self::decode(value) }
    }

    /// The type of a pageblock whose pages have per-CPU lists of their own; `None` for others.
    #[inline]
    pub(crate) fn get_listed(&self, index: FrameIndex) -> Option<Migratetype> {
        let value = self.types.get((index.0 >> self.order.get()) as usize)?.load(Ordering::Relaxed);
        Migratetype::new(value).filter(|kind| kind.is_mergeable())
    }

    /// Whether a pageblock has this type, and is not isolated.
    #[inline]
    pub(crate) fn is_of(&self, index: FrameIndex, migratetype: Migratetype) -> bool {
        self.slot(index).load(Ordering::Relaxed) == migratetype as u8
    }

    /// The type that the block has or, while it is isolated, had before.
    pub(crate) fn get_beneath_isolation(&self, index: FrameIndex) -> Migratetype {
        Self::decode(self.slot(index).load(Ordering::Relaxed) & !ISOLATED)
    }

    fn decode(value: u8) -> Migratetype {
        const TYPES: [Migratetype; 8] = {
            let mut types = [Migratetype::Unmovable; 8];
            let mut value = 0;
            while value < MIGRATETYPES {
                types[value] = Migratetype::ALL[value];
                value += 1;
            }
            types
        };
        TYPES[usize::from(value & 7)]
    }

    pub(crate) fn set(&self, index: FrameIndex, migratetype: Migratetype) {
        self.slot(index).store(migratetype as u8, Ordering::Relaxed);
    }

    /// Isolates a pageblock, which remembers the type that it has.
    pub(crate) fn set_isolated(&self, index: FrameIndex) {
        let slot = self.slot(index);
        slot.store(slot.load(Ordering::Relaxed) | ISOLATED, Ordering::Relaxed);
    }

    /// Gives every pageblock of a block of `order` the same type.
    pub(crate) fn set_range(&self, index: FrameIndex, order: Order, migratetype: Migratetype) {
        let mut at = index;
        for _ in 0..1u32 << order.get().saturating_sub(self.order.get()) {
            self.set(at, migratetype);
            at = at.offset(self.pages());
        }
    }
}
