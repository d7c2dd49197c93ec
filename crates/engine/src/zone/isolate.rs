//! Isolation of one pageblock under the zone lock: requests cannot get its free pages.

use super::buddy::Insertion;
use super::free_area::ListOp;
use super::guard::ZoneGuard;
use crate::table::{FrameIndex, FrameKind};
use crate::types::{BlockError, Migratetype, Order, Platform};

/// The purpose of an isolation, and the type that pageblocks get at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Isolation {
    /// True if CMA pageblocks may be isolated.
    pub(crate) for_cma: bool,
    /// True if only CMA pageblocks may be isolated.
    pub(crate) only_cma: bool,
    /// The type that pageblocks get at the end of the isolation, in eras that do not keep the former type.
    pub(crate) afterwards: Migratetype,
}

impl Isolation {
    /// Returns the isolation for a request of this type. Linux counterpart: the `migratetype` of
    /// `start_isolate_page_range`.
    pub(crate) fn of(migratetype: Migratetype) -> Self {
        Self { for_cma: migratetype == Migratetype::Cma, only_cma: false, afterwards: migratetype }
    }

    /// Returns the isolation for a request of type `Movable` or `Cma`. With `Cma` only CMA pageblocks may be isolated,
    /// with `Movable` only pageblocks of other types than CMA.
    ///
    /// # Errors
    /// [`BlockError::WrongType`] for another type.
    pub(crate) fn of_one_type(migratetype: Migratetype) -> Result<Self, BlockError> {
        match migratetype {
            Migratetype::Movable => Ok(Self::of(migratetype)),
            Migratetype::Cma => Ok(Self { only_cma: true, ..Self::of(migratetype) }),
            _ => Err(BlockError::WrongType),
        }
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Isolates one pageblock.
    ///
    /// Linux counterpart: `set_migratetype_isolate`.
    pub(crate) fn isolate(&mut self, start: FrameIndex, isolation: Isolation) -> Result<(), BlockError> {
        let zone = self.zone;
        if !zone.frames.contains(start) {
            return Err(BlockError::StraddlesZone);
        }
        match zone.blocks.get(start) {
            Migratetype::Isolate => return Err(BlockError::WrongState),
            Migratetype::Cma if isolation.for_cma => {}
            Migratetype::Cma => return Err(BlockError::Unmovable),
            _ if isolation.only_cma => return Err(BlockError::WrongType),
            _ if self.holds_unmovable(start, start.offset(zone.blocks.pages())) => {
                return Err(BlockError::Unmovable);
            }
            _ => {}
        }
        if zone.is_before_hygiene() {
            self.isolate_before_hygiene(start);
        } else {
            self.whole_pageblock(start)?;
            self.toggle_isolation(start, Migratetype::Isolate);
        }
        self.state.isolated_blocks += 1;
        self.state.ever_isolated = true;
        Ok(())
    }

    /// Ends the isolation of one pageblock, which becomes `to`.
    ///
    /// Linux counterpart: `unset_migratetype_isolate`.
    pub(crate) fn unisolate(&mut self, index: FrameIndex, to: Migratetype) -> Result<(), BlockError> {
        let zone = self.zone;
        let start = zone.blocks.start_of(index);
        if !zone.frames.contains(start) || zone.blocks.get(start) != Migratetype::Isolate {
            return Err(BlockError::WrongState);
        }
        if let Some(order) = self.mergeable_now(start) {
            self.update_list(start, order, ListOp::Leave);
            zone.blocks.set(start, to);
            self.free_block(start, order, to, Insertion::Tail);
        } else if zone.is_before_hygiene() {
            self.unisolate_before_hygiene(start, to);
        } else {
            self.toggle_isolation(start, to);
        }
        self.state.isolated_blocks -= 1;
        Ok(())
    }

    /// Returns the order of the free block at `start` if the block is a pageblock or more, and has a free buddy that is
    /// not isolated. These two could not merge while the block was isolated.
    fn mergeable_now(&self, start: FrameIndex) -> Option<Order> {
        let zone = self.zone;
        let word = zone.frames.word(start);
        let order = word.order();
        if word.kind() != FrameKind::Free || order < zone.blocks.order() || order >= zone.max_order {
            return None;
        }
        let buddy = start.buddy(order);
        let merges = zone.frames.contains(buddy)
            && zone.frames.word(buddy).is_free_of(order)
            && zone.blocks.get(buddy) != Migratetype::Isolate;
        merges.then_some(order)
    }

    /// Changes the type of a pageblock to `to`, which may be isolated, and moves its free pages along.
    ///
    /// Linux counterpart: `__move_freepages_block_isolate`.
    fn toggle_isolation(&mut self, start: FrameIndex, to: Migratetype) {
        let zone = self.zone;
        let change_type = || match to {
            Migratetype::Isolate => zone.blocks.set_isolated(start),
            other => zone.blocks.set(start, other),
        };
        let head = zone.frames.block_head(start);
        let word = zone.frames.word(head);
        if word.kind() == FrameKind::Free && word.order() > zone.blocks.order() {
            // The free block is larger than the pageblock. It is split, so that the part of each pageblock goes to its
            // own list.
            self.update_list(head, word.order(), ListOp::Leave);
            change_type();
            self.free_by_pageblock(head, word.order(), Insertion::ByMergeLikelihood);
        } else {
            change_type();
            self.move_free_blocks(start, start.offset(zone.blocks.pages()), to);
        }
    }

    /// Returns true if the frames `start..end` have a page that can be neither freed nor migrated.
    ///
    /// Tail frames of blocks have no references of their own, and count as free.
    /// Linux counterpart: `has_unmovable_pages`.
    pub(crate) fn holds_unmovable(&self, start: FrameIndex, end: FrameIndex) -> bool {
        let frames = &self.zone.frames;
        let mut at = start;
        while at < end {
            if !frames.contains(at) {
                return true;
            }
            let word = frames.word(at);
            match word.kind() {
                FrameKind::Reserved | FrameKind::Absent => return true,
                FrameKind::Allocated if !word.is_movable() => return true,
                FrameKind::Allocated | FrameKind::Free | FrameKind::PerCpu => {
                    at = at.offset(1 << word.order().get());
                }
                FrameKind::Tail | FrameKind::InTransit => at = at.offset(1),
            }
        }
        false
    }
}
