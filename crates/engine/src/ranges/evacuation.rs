//! Moving away what is in use in a range that is isolated.

use core::ops::Range;

use crate::compact::Relocate;
use crate::memory::Memory;
use crate::table::sync::Locks;
use crate::table::{FrameIndex, FrameKind, FrameWord};
use crate::types::{BlockError, GfpFlags, Order, Request, ZoneType};
use crate::zone::Zone;

/// The number of times that a range is gone through before it counts as in use. Linux counterpart: `tries`
/// in `__alloc_contig_migrate_range`.
const MOST_ROUNDS: u32 = 5;

/// A range of isolated frames that is to be free, and who moves its pages.
pub(super) struct Evacuation<'r, 'm, L: Locks, E> {
    pub(super) memory: &'r Memory<'m, L>,
    pub(super) zone: &'m Zone<'m, L>,
    /// The frames that are to be free.
    pub(super) range: Range<FrameIndex>,
    /// The frames of the pageblocks that the range touches.
    pub(super) isolated: Range<FrameIndex>,
    /// The CPU that asks for other places.
    pub(super) cpu: u16,
    pub(super) embedder: &'r mut E,
}

impl<L: Locks, E: Relocate> Evacuation<'_, '_, L, E> {
    /// Drains all CPUs' lists and moves blocks in use away until `take` succeeds, at most five times.
    ///
    /// Linux counterpart: `__alloc_contig_migrate_range`, `do_migrate_range`.
    pub(super) fn run(&mut self, take: impl Fn() -> Result<(), BlockError>) -> Result<(), BlockError> {
        if self.cpu >= self.memory.cpus() {
            return Err(BlockError::NoSuchCpu);
        }
        let mut outcome = Err(BlockError::Busy);
        for _ in 0..MOST_ROUNDS {
            self.zone.drain_all();
            outcome = self.move_all().and_then(|()| take());
            // A block that was on its way to an owner can look as if it could not be moved.
            if !matches!(outcome, Err(BlockError::Busy | BlockError::Unmovable)) {
                break;
            }
        }
        outcome
    }

    /// Moves every block in use away, once.
    fn move_all(&mut self) -> Result<(), BlockError> {
        let frames = &self.zone.frames;
        let mut outcome = Ok(());
        let mut at = self.range.start;
        while at < self.range.end {
            // A block in use may begin before the range.
            let head = frames.block_head(at);
            let word = frames.word(head);
            let behind = head.offset(1 << word.order().get()).max(at.offset(1));
            let found = match word.kind() {
                FrameKind::Free => Ok(()),
                FrameKind::Allocated if head < self.isolated.start || behind > self.isolated.end => {
                    Err(BlockError::Unmovable)
                }
                FrameKind::Allocated => self.move_block(head, word.order()),
                FrameKind::Reserved | FrameKind::Absent => Err(BlockError::Unmovable),
                FrameKind::Tail | FrameKind::PerCpu | FrameKind::InTransit => Err(BlockError::Busy),
            };
            if found == Err(BlockError::NoRoom) {
                return found;
            }
            outcome = outcome.and(found);
            at = behind;
        }
        outcome
    }

    /// Has the embedder move a block to where an ordinary request for it finds room, in any zone that may
    /// take it, and frees its old place.
    ///
    /// Linux counterpart: `migrate_pages`, `alloc_migration_target`.
    fn move_block(&mut self, from: FrameIndex, order: Order) -> Result<(), BlockError> {
        let (memory, frames) = (self.memory, &self.zone.frames);
        let pfn = frames.pfn(from);
        if !self.embedder.is_movable(pfn, order) {
            return Err(BlockError::Unmovable);
        }
        let word = frames.word(from);
        // The block may have been freed before the embedder was asked.
        if !word.is_owned_of(order) {
            return Err(BlockError::Busy);
        }
        let request = Request { cpu: self.cpu, node: self.zone.node, order, gfp: self.gfp() };
        let to = memory.alloc(request).map_err(|_| BlockError::NoRoom)?;
        if let Some((zone, index)) = memory.zone_of(to).and_then(|zone| Some((zone, zone.frames.index(to)?)))
        {
            // The contents keep the type that their owner asked for.
            let kept = FrameWord::allocated(order, word.migratetype(), word.is_movable());
            zone.frames.hand_over(index, kept);
        }
        let events = &memory.events;
        if self.embedder.relocate(pfn, to, order) {
            events.pgmigrate_success.add(order.pages());
            // Another caller may have freed the block meanwhile.
            let _ = memory.free(self.cpu, pfn, order);
            return Ok(());
        }
        events.pgmigrate_fail.add(order.pages());
        let _ = memory.free(self.cpu, to, order);
        Err(BlockError::Busy)
    }

    /// Returns the flags of a request for another place: movable, and without reclaim.
    fn gfp(&self) -> GfpFlags {
        let gfp = GfpFlags::USER | GfpFlags::MOVABLE | GfpFlags::NOWARN;
        let high = if self.zone.kind > ZoneType::Normal { GfpFlags::HIGHMEM } else { GfpFlags::empty() };
        gfp.difference(GfpFlags::DIRECT_RECLAIM) | high
    }
}
