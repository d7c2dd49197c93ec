//! Moves blocks in the same way as the kernel with the oracle.

use std::collections::HashMap;

use freehold::{Order, Pfn, Relocate};

use super::witness::Witness;
use crate::transcript::Word;

/// The block in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockInUse {
    pub(super) pfn: Pfn,
    pub(super) order: Order,
}

/// The slots of single pages that can be moved, by frame.
#[derive(Debug, Default)]
pub(super) struct Movable(HashMap<Pfn, u32>);

impl Movable {
    /// Notes whether the block of a slot can be moved. Only single pages can.
    pub(super) fn set(&mut self, in_use: BlockInUse, slot: u32, movable: bool) {
        if movable && in_use.order == Order::ZERO {
            self.0.insert(in_use.pfn, slot);
        } else {
            self.0.remove(&in_use.pfn);
        }
    }
}

/// Moves the pages in slots to new places, and records each move as words.
pub(super) struct Mover<'p> {
    pub(super) movable: &'p mut Movable,
    pub(super) slots: &'p mut [Option<BlockInUse>],
    pub(super) witness: &'p Witness,
}

impl Relocate for Mover<'_> {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        order == Order::ZERO && self.movable.0.contains_key(&pfn)
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        let Some(slot) = self.movable.0.remove(&from) else { return false };
        self.movable.0.insert(to, slot);
        if let Some(in_use) = self.slots.get_mut(slot as usize) {
            *in_use = Some(BlockInUse { pfn: to, order });
        }
        self.witness.note(Word::Moved { order, pfn: from });
        self.witness.note(Word::MovedTo { pfn: to });
        true
    }
}
