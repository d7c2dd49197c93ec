//! The free scanner: finds free pages as targets of migration, from the zone's end down.

use super::policy::CompactPriority;
use super::relocate::Relocate;
use super::run::{CLUSTER, CompactRun};
use crate::table::{FrameIndex, FrameKind, FrameWord, Place, Run};
use crate::types::{AllocFlags, Migratetype, Order, Platform};
use crate::zone::{Admission, ListOp, Mark, ZoneGuard};

/// Returns the word of a free block that compaction has taken.
const fn taken(order: Order) -> FrameWord {
    FrameWord::head(FrameKind::InTransit, order, Migratetype::Movable)
}

impl<P: Platform, E: Relocate> CompactRun<'_, '_, P, E> {
    /// Takes a free block as the target for a block of `order`. Returns `None` if the zone has none. `to_come` is the
    /// number of pages that are still to be moved.
    ///
    /// Linux counterpart: `compaction_alloc`.
    pub(super) fn take_target(&mut self, order: Order, to_come: u64) -> Option<FrameIndex> {
        if let Some(found) = self.take_listed(order) {
            return Some(found);
        }
        self.find_targets(to_come);
        self.take_listed(order)
    }

    /// Takes a block of `order` from the smallest suitable block that the scanner isolated, or returns `None`.
    fn take_listed(&mut self, order: Order) -> Option<FrameIndex> {
        let frames = &self.zone.frames;
        let size = order.up_to(self.zone.max_order).find(|size| !self.targets[size.index()].is_empty())?;
        let index = self.targets[size.index()].first()?;
        self.targets[size.index()].remove(frames, index);
        let mut size = size;
        while size > order
            && let Some(half) = size.down()
        {
            let upper = index.offset(1 << half.get());
            frames.set_word(upper, taken(half));
            self.targets[half.index()].insert(frames, upper, Place::Head);
            size = half;
        }
        frames.set_word(index, taken(order));
        self.target_pages -= order.pages();
        Some(index)
    }

    /// Takes back a target that was not used.
    pub(super) fn put_target(&mut self, index: FrameIndex, order: Order) {
        self.targets[order.index()].insert(&self.zone.frames, index, Place::Head);
        self.target_pages += order.pages();
    }

    /// Isolates free blocks until they have `wanted` pages or the scanner meets the migrate scanner.
    ///
    /// Linux counterpart: `isolate_freepages`.
    fn find_targets(&mut self, wanted: u64) {
        let zone = self.zone;
        let pages = zone.blocks.pages();
        let lowest = zone.blocks.start_of(self.migrate).offset(pages);
        let mut at = self.free;
        let mut block = zone.blocks.start_of(at);
        // Asynchronous compaction reads every 32nd frame until it finds something.
        let mut stride = if self.target.priority == CompactPriority::Async { CLUSTER as u32 } else { 1 };
        while block >= lowest {
            let end = block.offset(pages).min(zone.frames.end());
            if block >= zone.frames.start() && self.is_target(block) {
                let before = self.target_pages;
                let (stopped, full) = self.take_free_blocks(at, end, stride, wanted);
                if stopped == end {
                    let mut guard = zone.lock();
                    zone.blocks.set_skip(block);
                    let free = &mut guard.state.compaction.free;
                    *free = (*free).min(FrameIndex(block.0 - pages));
                }
                if full || stopped < end {
                    at = if stopped < end { stopped } else { FrameIndex(block.0 - pages) };
                    self.free = at;
                    return;
                }
                stride = if self.target_pages > before { 1 } else { (stride << 1).min(CLUSTER as u32) };
            }
            block = FrameIndex(block.0 - pages);
            at = block;
        }
        self.free = at;
    }

    /// Returns true if pages may move to a pageblock. A pageblock with a free block of the wanted order is no target.
    /// By default the pageblock must be movable and without a skip hint.
    ///
    /// Linux counterpart: `suitable_migration_target`, `isolation_suitable`.
    fn is_target(&self, block: FrameIndex) -> bool {
        let zone = self.zone;
        let word = zone.frames.word(block);
        let wanted = self.target.order.filter(|&order| order > Order::ZERO).unwrap_or(zone.blocks.order());
        if word.kind() == FrameKind::Free && word.order() >= wanted {
            return false;
        }
        if self.target.ignores_types() {
            return zone.blocks.get(block) != Migratetype::Isolate;
        }
        matches!(zone.blocks.get(block), Migratetype::Movable | Migratetype::Cma)
            && (self.target.ignores_hints() || !zone.blocks.is_skipped(block))
    }

    /// Isolates the free blocks of a part of a pageblock. Returns the frame where the scan stopped, and true if the
    /// isolated blocks have `wanted` pages.
    ///
    /// The zone lock is released every 32 frames.
    /// Linux counterpart: `isolate_freepages_block`.
    fn take_free_blocks(
        &mut self,
        from: FrameIndex,
        end: FrameIndex,
        stride: u32,
        wanted: u64,
    ) -> (FrameIndex, bool) {
        let zone = self.zone;
        let mut at = from;
        let mut locked: Option<ZoneGuard<'_, '_, P>> = None;
        while at < end {
            if at.0.is_multiple_of(CLUSTER as u32) {
                locked = None;
            }
            let word = zone.frames.word(at);
            let order = word.order();
            if word.kind() == FrameKind::Allocated && at.offset(1 << order.get()) <= end {
                self.done.free_scanned += order.pages();
                at = FrameIndex(at.0 + (1 << order.get()) - 1 + stride);
                continue;
            }
            self.done.free_scanned += 1;
            if word.kind() != FrameKind::Free {
                at = at.offset(stride);
                continue;
            }
            let guard = locked.get_or_insert_with(|| zone.lock());
            // The block may have left its list before the lock was taken.
            if !zone.frames.word(at).is_free_of(order) {
                at = at.offset(stride);
                continue;
            }
            if !guard.isolate_free(at, order) {
                break;
            }
            self.targets[order.index()].insert(&zone.frames, at, Place::Tail);
            self.target_pages += order.pages();
            self.done.isolated += order.pages();
            self.done.free_scanned += order.pages() - 1;
            at = at.offset(1 << order.get());
            if self.target_pages >= wanted {
                return (at.min(end), true);
            }
            at = at.offset(stride - 1);
        }
        (at.min(end), false)
    }

    /// Frees the isolated blocks that were not used. The next run of the free scanner starts above them again.
    ///
    /// Linux counterpart: `release_free_list`.
    pub(super) fn give_targets_back(&mut self) {
        if self.target_pages == 0 {
            return;
        }
        let zone = self.zone;
        let mut highest = zone.frames.start();
        let mut guard = zone.lock();
        for order in Order::ZERO.up_to(self.zone.max_order) {
            let list = &mut self.targets[order.index()];
            while let Some(index) = list.first() {
                list.remove(&zone.frames, index);
                highest = highest.max(index);
                guard.free_direct(index, order, zone.blocks.get(index));
            }
        }
        self.target_pages = 0;
        let free = &mut guard.state.compaction.free;
        *free = zone.blocks.start_of(highest).max(*free);
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Returns true if the zone stays above its min watermark after a block of `order` is taken.
    pub(crate) fn spares(&self, order: Order) -> bool {
        let mark = self.zone.watermarks().min + order.pages();
        let admission =
            Admission { order: Order::ZERO, mark: Mark::Min, highest_zone: 0, flags: AllocFlags::CMA };
        self.zone.is_above_with(self.state.free_pages, mark, admission)
    }

    /// Takes a free block off its list for compaction, unless the zone would fall to its min watermark.
    ///
    /// Linux counterpart: `__isolate_free_page`.
    fn isolate_free(&mut self, index: FrameIndex, order: Order) -> bool {
        let zone = self.zone;
        let block_type = zone.blocks.get(index);
        if block_type != Migratetype::Isolate && !self.spares(order) {
            return false;
        }
        self.update_list(index, order, ListOp::Leave);
        self.account_before_hygiene(-(order.pages() as i64), block_type);
        self.become_movable(index, order);
        zone.frames.set_word(index, taken(order));
        self.count_taken(Run::single(index, order), Migratetype::Movable);
        true
    }

    /// Makes a pageblock movable if the isolated block is at least half of it.
    fn become_movable(&mut self, index: FrameIndex, order: Order) {
        let zone = self.zone;
        let block = zone.blocks.order();
        let block_type = zone.blocks.get(index);
        if order.get() + 1 < block.get() || !block_type.is_mergeable() || block_type == Migratetype::Movable {
            return;
        }
        // Before hygiene the type changes alone: the other free pages stay on their lists.
        if order >= block || zone.is_before_hygiene() {
            zone.blocks.set_range(index, order, Migratetype::Movable);
        } else if let Ok(start) = self.whole_pageblock(index) {
            self.convert_pageblock(start, Migratetype::Movable);
        }
    }
}
