//! The migrate scanner: finds allocated blocks that can be moved, from the zone's start up.

use super::policy::CompactPriority;
use super::relocate::Relocate;
use super::run::CompactRun;
use crate::table::{FrameIndex, FrameKind};
use crate::types::{Migratetype, Order, Platform};

impl<P: Platform, E: Relocate> CompactRun<'_, '_, P, E> {
    /// Collects the next movable blocks, at most one cluster. Returns true if it found any.
    ///
    /// Linux counterpart: `isolate_migratepages`.
    pub(super) fn find_sources(&mut self) -> bool {
        let zone = self.zone;
        let mut end = zone.blocks.start_of(self.migrate).offset(zone.blocks.pages());
        while end <= self.free {
            // A pageblock that reaches beyond the zone's end is skipped. One that begins before its start is not.
            if end <= zone.frames.end() {
                let at_start =
                    self.migrate.is_aligned(zone.blocks.order()) || self.migrate == zone.frames.start();
                let skipped =
                    at_start && !self.target.ignores_hints() && zone.blocks.is_skipped(self.migrate);
                if !skipped && self.is_source(zone.blocks.get(self.migrate)) {
                    self.scan_pageblock(end, at_start);
                    return self.sources.pages > 0;
                }
                if !skipped {
                    zone.lock().advance_migrate(end, self.target);
                }
            }
            self.migrate = end;
            end = end.offset(zone.blocks.pages());
        }
        false
    }

    /// Returns true if pages may move away from pageblocks of this type. Asynchronous compaction for a request takes
    /// only pageblocks that the request may use.
    ///
    /// Linux counterpart: `suitable_migration_source`.
    fn is_source(&self, block_type: Migratetype) -> bool {
        if self.target.priority != CompactPriority::Async || !self.target.direct {
            return true;
        }
        match self.target.migratetype {
            Migratetype::Movable => matches!(block_type, Migratetype::Movable | Migratetype::Cma),
            wanted => block_type == wanted,
        }
    }

    /// Scans a pageblock from the scanner's position on.
    ///
    /// Linux counterpart: `isolate_migratepages_block`.
    fn scan_pageblock(&mut self, end: FrameIndex, from_start: bool) {
        let zone = self.zone;
        let block = self.migrate;
        // Asynchronous compaction empties a whole block of the wanted order, or does not touch it.
        let all_or_none = self
            .target
            .order
            .filter(|_| self.target.direct && self.target.priority == CompactPriority::Async);
        let end_of = |at: FrameIndex, order: Order| at.align_down(order).offset(1 << order.get());
        let mut part_end = all_or_none.map(|order| end_of(self.migrate, order));
        let mut hinted = false;
        let mut at = self.migrate;
        while at < end {
            if let (Some(order), Some(behind)) = (all_or_none, part_end)
                && at >= behind
            {
                if self.sources.pages > 0 {
                    break;
                }
                part_end = Some(end_of(at, order));
            }
            let (next, found) = self.scan_frame(at);
            self.done.migrate_scanned += u64::from(next.0 - at.0);
            match found {
                Found::Source(order) => {
                    if !hinted && from_start && !self.target.ignores_hints() {
                        hinted = true;
                        // The next run skips this pageblock.
                        let _guard = zone.lock();
                        zone.blocks.set_skip(block);
                    }
                    self.sources.push(at, order);
                    at = next;
                    if self.sources.is_full() {
                        break;
                    }
                }
                Found::Free => at = next,
                Found::Immovable => {
                    at = next;
                    if let (Some(order), Some(behind)) = (all_or_none, part_end) {
                        self.sources.clear();
                        at = at.max(behind);
                        part_end = Some(behind.offset(1 << order.get()));
                    }
                }
            }
        }
        let at = at.min(end);
        self.done.isolated += self.sources.pages;
        if at == end && (self.sources.pages == 0 || self.finishes_pageblock) {
            let mut guard = zone.lock();
            if from_start && !hinted {
                zone.blocks.set_skip(block);
            }
            guard.advance_migrate(at, self.target);
        }
        self.migrate = at;
    }

    /// Classifies the block that starts at a frame. Returns the first frame behind the block, and its kind.
    fn scan_frame(&mut self, at: FrameIndex) -> (FrameIndex, Found) {
        let frames = &self.zone.frames;
        let word = frames.word(at);
        let order = word.order();
        match word.kind() {
            FrameKind::Free => (at.offset(1 << order.get()), Found::Free),
            FrameKind::Allocated => {
                let movable = self.takes(order) && self.embedder.is_movable(frames.pfn(at), order);
                let found = if movable { Found::Source(order) } else { Found::Immovable };
                (at.offset(1 << order.get()), found)
            }
            FrameKind::PerCpu => (at.offset(1 << order.get()), Found::Immovable),
            FrameKind::Tail => self.scan_tail(at),
            FrameKind::Absent | FrameKind::Reserved | FrameKind::InTransit => {
                (at.offset(1), Found::Immovable)
            }
        }
    }

    /// Classifies a block as [`Self::scan_frame`] does, if a scan starts in the middle of the block.
    fn scan_tail(&self, at: FrameIndex) -> (FrameIndex, Found) {
        let frames = &self.zone.frames;
        let head = frames.block_head(at);
        let word = frames.word(head);
        let end = head.offset(1 << word.order().get()).max(at.offset(1));
        (end, if word.kind() == FrameKind::Free { Found::Free } else { Found::Immovable })
    }

    /// Returns true if compaction moves blocks of an order.
    ///
    /// Linux counterpart: `skip_isolation_on_order`; before 6.9, the skipping of compound pages.
    fn takes(&self, order: Order) -> bool {
        if order == Order::ZERO {
            return true;
        }
        self.zone.switches.compacts_large_blocks
            && order < self.zone.blocks.order()
            && self.target.order.is_none_or(|wanted| order < wanted)
    }
}

/// The kind of block that starts at a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    /// A block that can be moved.
    Source(Order),
    /// A free block.
    Free,
    /// A block or frame that cannot be moved.
    Immovable,
}
