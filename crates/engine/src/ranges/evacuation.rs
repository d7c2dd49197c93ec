//! Evacuation: moves the pages in use out of an isolated range.

use core::ops::Range;

use crate::compact::Relocate;
use crate::memory::Memory;
use crate::request::NoReclaim;
use crate::table::{FrameIndex, FrameKind, FrameWord};
use crate::types::{BlockError, GfpFlags, Order, Platform, Request, ZoneType};
use crate::zone::Zone;

/// The number of rounds over a range before the call gives up. Linux counterpart: `tries` in
/// `__alloc_contig_migrate_range`.
const MOST_ROUNDS: u32 = 5;

/// An isolated range that is to become free, and the embedder that moves its pages.
pub(super) struct Evacuation<'r, 'm, P: Platform, E> {
    pub(super) memory: &'r Memory<'m, P>,
    pub(super) zone: &'m Zone<'m, P>,
    /// The frames that are to become free.
    pub(super) range: Range<FrameIndex>,
    /// The frames of the pageblocks that the range touches.
    pub(super) isolated: Range<FrameIndex>,
    /// The CPU whose lists serve the requests for new places.
    pub(super) cpu: u16,
    pub(super) embedder: &'r mut E,
}

impl<P: Platform, E: Relocate> Evacuation<'_, '_, P, E> {
    /// Drains all CPUs' lists and moves the allocated blocks away, until `take` succeeds, in at most five rounds.
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
            // A block in transit to an owner may have seemed unmovable, so another round is worth it.
            if !matches!(outcome, Err(BlockError::Busy | BlockError::Unmovable)) {
                break;
            }
        }
        outcome
    }

    /// Tries once to move every allocated block away.
    fn move_all(&mut self) -> Result<(), BlockError> {
        let frames = &self.zone.frames;
        let mut outcome = Ok(());
        let mut at = self.range.start;
        while at < self.range.end {
            // An allocated block may begin before the range.
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

    /// Lets the embedder move a block to a newly allocated one, in any zone that may serve the request, and frees the
    /// old place.
    ///
    /// Linux counterpart: `migrate_pages`, `alloc_migration_target`.
    fn move_block(&mut self, from: FrameIndex, order: Order) -> Result<(), BlockError> {
        let (memory, frames) = (self.memory, &self.zone.frames);
        let pfn = frames.pfn(from);
        if !self.embedder.is_movable(pfn, order) {
            return Err(BlockError::Unmovable);
        }
        let word = frames.word(from);
        // The block may have been freed before `is_movable` was called.
        if !word.is_owned_of(order) {
            return Err(BlockError::Busy);
        }
        let request = Request { cpu: self.cpu, node: self.zone.node, order, gfp: self.gfp() };
        let to = memory.alloc(request, NoReclaim).map_err(|_| BlockError::NoRoom)?;
        if let Some((zone, index)) = memory.zone_of(to).and_then(|zone| Some((zone, zone.frames.index(to)?)))
        {
            // The new block keeps the type that the owner of the contents requested.
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

    /// Returns the flags of a request for a new place: movable, and without direct reclaim.
    fn gfp(&self) -> GfpFlags {
        let gfp = GfpFlags::USER | GfpFlags::MOVABLE | GfpFlags::NOWARN;
        let high = if self.zone.kind > ZoneType::Normal { GfpFlags::HIGHMEM } else { GfpFlags::empty() };
        gfp.difference(GfpFlags::DIRECT_RECLAIM) | high
    }
}
