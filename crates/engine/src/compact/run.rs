//! One run of compaction over one zone.

use super::policy::{CompactPriority, CompactResult, Target};
use super::relocate::Relocate;
use crate::table::{BlockList, FrameIndex, FrameKind, FrameWord};
use crate::types::{MAX_ORDERS, Migratetype, Order, Platform};
use crate::zone::{Insertion, Zone};

/// The number of pages collected before they are moved. Linux counterpart: `COMPACT_CLUSTER_MAX`.
pub(super) const CLUSTER: usize = 32;

/// One run of compaction. The migrate scanner goes up from the zone's start and finds pages to move. The free scanner
/// goes down from the zone's end and finds free pages as targets.
///
/// Linux counterpart: `struct compact_control`.
pub(super) struct CompactRun<'r, 'm, P: Platform, E> {
    pub(super) zone: &'r Zone<'m, P>,
    pub(super) embedder: &'r mut E,
    pub(super) target: &'r Target,
    /// The position of the migrate scanner.
    pub(super) migrate: FrameIndex,
    /// The position of the free scanner.
    pub(super) free: FrameIndex,
    /// Allocated blocks that are about to be moved.
    pub(super) sources: Sources,
    /// Free blocks that the free scanner isolated, by order.
    pub(super) targets: [BlockList; MAX_ORDERS],
    /// The number of pages in `targets`.
    pub(super) target_pages: u64,
    /// True while a pageblock is scanned for the second and last time, to its end.
    pub(super) finishes_pageblock: bool,
    whole_zone: bool,
    pub(super) done: Work,
}

/// The work of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// A block that merged while its pages were freed.
    pub(crate) captured: Option<FrameIndex>,
    pub(super) migrate_scanned: u64,
    pub(super) free_scanned: u64,
    pub(super) isolated: u64,
    pub(super) moved: u64,
    pub(super) failed: u64,
}

/// Allocated blocks that are about to be moved.
#[derive(Debug)]
pub(super) struct Sources {
    blocks: [(FrameIndex, Order); CLUSTER],
    count: usize,
    pub(super) pages: u64,
}

impl Sources {
    const fn new() -> Self {
        Self { blocks: [(FrameIndex(0), Order::ZERO); CLUSTER], count: 0, pages: 0 }
    }

    pub(super) fn push(&mut self, index: FrameIndex, order: Order) {
        if let Some(slot) = self.blocks.get_mut(self.count) {
            *slot = (index, order);
            self.count += 1;
            self.pages += order.pages();
        }
    }

    pub(super) fn clear(&mut self) {
        (self.count, self.pages) = (0, 0);
    }

    pub(super) fn is_full(&self) -> bool {
        self.pages >= CLUSTER as u64
    }
}

/// The result of moving a cluster of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Moves {
    /// Every block was tried. Some may not have moved.
    Done,
    /// The zone had no target for a page.
    NowhereToGo,
}

impl<P: Platform> Zone<'_, P> {
    /// Compacts the zone if compaction is needed and may help. Returns the result and the work done.
    ///
    /// Linux counterpart: `compact_zone`.
    pub(crate) fn compact<E: Relocate>(&self, target: &Target, embedder: &mut E) -> (CompactResult, Work) {
        let suits = self.suits_target(target);
        if suits != CompactResult::Continue {
            return (suits, Work::default());
        }
        let mut run = CompactRun {
            zone: self,
            embedder,
            target,
            migrate: self.frames.start(),
            free: self.frames.start(),
            sources: Sources::new(),
            targets: [const { BlockList::EMPTY }; MAX_ORDERS],
            target_pages: 0,
            finishes_pageblock: false,
            whole_zone: target.order.is_none() || target.ignores_hints(),
            done: Work::default(),
        };
        run.place_scanners();
        let result = run.scan();
        run.give_targets_back();
        (result, run.done)
    }
}

impl<P: Platform> Zone<'_, P> {
    /// Lets the embedder move one block. Returns true if the embedder now owns the new place; otherwise nothing has
    /// changed.
    pub(crate) fn move_block<E: Relocate>(
        &self,
        from: FrameIndex,
        to: FrameIndex,
        order: Order,
        embedder: &mut E,
    ) -> bool {
        let frames = &self.frames;
        let word = frames.word(from);
        if !word.is_owned_of(order) {
            return false;
        }
        frames.hand_over(to, FrameWord::allocated(order, word.migratetype(), word.is_movable()));
        if embedder.relocate(frames.pfn(from), frames.pfn(to), order) {
            return true;
        }
        frames.set_word(to, FrameWord::head(FrameKind::InTransit, order, Migratetype::Movable));
        false
    }
}

impl<P: Platform, E: Relocate> CompactRun<'_, '_, P, E> {
    fn is_async(&self) -> bool {
        self.target.priority == CompactPriority::Async
    }

    /// Sets the scanners to their positions at the end of the last run, or to the ends of the zone.
    fn place_scanners(&mut self) {
        let zone = self.zone;
        let (start, end) = (zone.frames.start(), zone.frames.end());
        let mut guard = zone.lock();
        if self.target.order.is_some_and(|order| guard.state.compaction.is_restarting(order)) {
            guard.forget_hints();
        }
        let last = zone.blocks.start_of(FrameIndex(end.0 - 1));
        if self.whole_zone {
            (self.migrate, self.free) = (start, last);
            return;
        }
        let compaction = &mut guard.state.compaction;
        if !(start..end).contains(&compaction.free) {
            compaction.free = last;
        }
        let number = usize::from(self.target.priority != CompactPriority::Async);
        if !(start..end).contains(&compaction.migrate[number]) {
            compaction.migrate = [start; 2];
        }
        (self.migrate, self.free) = (compaction.migrate[number], compaction.free);
        self.whole_zone = self.migrate <= start;
    }

    /// Runs the scanners until they meet or the target is reached.
    fn scan(&mut self) -> CompactResult {
        let zone = self.zone;
        let mut last_moved: Option<FrameIndex> = None;
        let mut undrained = false;
        let mut in_step = {
            let [asynchronous, synchronous] = zone.lock().state.compaction.migrate;
            self.is_async() && asynchronous == synchronous
        };
        loop {
            let result = self.finished();
            if result != CompactResult::Continue {
                return result;
            }
            let block = zone.blocks.start_of(self.migrate);
            self.finishes_pageblock = last_moved == Some(block);
            if self.find_sources() {
                in_step = false;
                last_moved = Some(zone.blocks.start_of(FrameIndex(self.migrate.0 - 1)));
                undrained = true;
                if self.move_sources() == Moves::NowhereToGo && !self.have_met() {
                    return CompactResult::Contended;
                }
                if self.done.captured.is_some() {
                    return CompactResult::Success;
                }
            } else if in_step {
                // Nothing was found, so asynchronous and synchronous compaction both continue behind this pageblock.
                let migrate = &mut zone.lock().state.compaction.migrate;
                migrate[1] = migrate[0];
            }
            undrained = undrained && !self.drain_behind(last_moved);
        }
    }

    /// Drains the CPU's lists once the scanner has left a block of the wanted order, so that the pages freed there can
    /// merge. Returns true if it drained.
    fn drain_behind(&self, last_moved: Option<FrameIndex>) -> bool {
        let Some(order) = self.target.order.filter(|&order| order > Order::ZERO) else { return false };
        let left = last_moved.is_some_and(|block| block < self.migrate.align_down(order));
        if left {
            self.zone.drain_cpu(self.target.cpu);
        }
        left
    }

    /// Linux counterpart: `compact_scanners_met`.
    fn have_met(&self) -> bool {
        self.zone.blocks.start_of(self.free) <= self.zone.blocks.start_of(self.migrate)
    }

    /// Linux counterpart: `compact_finished`.
    fn finished(&self) -> CompactResult {
        if self.have_met() {
            let mut guard = self.zone.lock();
            guard.reset_scanners();
            guard.state.compaction.flush_hints |= self.target.direct;
            return if self.whole_zone { CompactResult::Complete } else { CompactResult::PartialSkipped };
        }
        let reached = self.zone.has_reached(self.target, self.migrate);
        if reached { CompactResult::Success } else { CompactResult::Continue }
    }

    /// Lets the embedder move the blocks in `sources`, and frees their old places.
    ///
    /// Linux counterpart: `migrate_pages`.
    fn move_sources(&mut self) -> Moves {
        let zone = self.zone;
        let (blocks, count) = (self.sources.blocks, self.sources.count);
        self.sources.clear();
        let mut left = [(FrameIndex(0), Order::ZERO); CLUSTER];
        let mut moved = 0;
        let mut moves = Moves::Done;
        for (number, &(from, order)) in blocks[..count].iter().enumerate() {
            let to_come = blocks[number..count].iter().map(|(_, order)| order.pages()).sum();
            let Some(to) = self.take_target(order, to_come) else {
                self.done.failed += order.pages();
                if order > Order::ZERO {
                    continue;
                }
                moves = Moves::NowhereToGo;
                break;
            };
            if zone.move_block(from, to, order, self.embedder) {
                left[moved] = (from, order);
                moved += 1;
                self.done.moved += order.pages();
            } else {
                self.put_target(to, order);
                self.done.failed += order.pages();
            }
        }
        self.free_sources(&left[..moved]);
        moves
    }

    /// Frees the old places of moved blocks in one hold of the zone lock. Captures the first merged block of the wanted
    /// order for the request.
    fn free_sources(&mut self, blocks: &[(FrameIndex, Order)]) {
        if blocks.is_empty() {
            return;
        }
        let zone = self.zone;
        let mut guard = zone.lock();
        for &(index, order) in blocks {
            // Another caller may have freed the block meanwhile.
            let Ok(word) = zone.reclaim_ownership(index, order) else { continue };
            guard.state.stats.direct_frees += 1;
            let block_type = zone.blocks.get(index);
            let wanted = self.capture_order(block_type);
            let back = word.movable_pages();
            let captured =
                guard.free_block_unless(index, order, block_type, Insertion::ByMergeLikelihood, |merged| {
                    wanted == Some(merged)
                });
            match (captured, wanted) {
                (Some(captured), Some(merged)) => {
                    if zone.switches.claims_by_counts {
                        let movable = self.target.migratetype == Migratetype::Movable;
                        zone.blocks.count_captured(captured, merged, back, movable);
                    }
                    guard.mark_taken(captured, merged, self.target.migratetype);
                    self.done.captured = Some(captured);
                }
                _ => guard.count_returned(index, order, back),
            }
        }
    }

    /// Returns the order of the merged block that the request captures in a pageblock of `block_type`, or `None` if it
    /// captures no block there.
    ///
    /// Linux counterpart: `compaction_capture`.
    fn capture_order(&self, block_type: Migratetype) -> Option<Order> {
        let order = self.target.order.filter(|_| self.target.direct && self.done.captured.is_none())?;
        // A request may not use CMA and isolated pageblocks. A small unmovable block would mix types in a movable
        // pageblock.
        let pollutes = order < self.zone.blocks.order()
            && block_type == Migratetype::Movable
            && self.target.migratetype != Migratetype::Movable;
        let own = !matches!(block_type, Migratetype::Cma | Migratetype::Isolate);
        (own && !pollutes).then_some(order)
    }
}
