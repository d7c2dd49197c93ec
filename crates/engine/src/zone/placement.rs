//! Which pageblock a request of another type claims: a rule that Linux does not have.
//!
//! Linux tries the pageblock of the first block of each list, the largest blocks first, so that free
//! pageblocks go before any other. If none suits, it takes single pages from wherever one lies. Here many
//! pageblocks are looked at, by the two numbers that each keeps, and those in use go before free ones.

use super::guard::ZoneGuard;
use crate::table::sync::Locks;
use crate::table::{FrameIndex, PageblockUse};
use crate::types::{AllocFlags, Migratetype, Order, Want};

/// The number of blocks at the head of a list that are looked at.
pub(crate) const LOOKS: usize = 32;

/// One in so many of its pages must be free for a pageblock with pages like the wanted ones to be claimed.
const WORTH_CLAIMING: u32 = 8;

/// A free block of another type than the wanted one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foreign {
    pub(super) index: FrameIndex,
    pub(super) order: Order,
    pub(super) migratetype: Migratetype,
}

impl<L: Locks> ZoneGuard<'_, '_, L> {
    /// Returns a free block in a pageblock that is worth claiming although part of it is in use, or
    /// `None`.
    pub(super) fn used_to_claim(&mut self, want: Want) -> Option<Foreign> {
        if !self.zone.switches.claims_used_first || want.flags.contains(AllocFlags::NOFRAGMENT) {
            return None;
        }
        let pages = self.zone.blocks.pages();
        let stays = want.migratetype != Migratetype::Movable;
        self.find_foreign(want, |used, foreign| {
            let alike = used.like_wanted(pages, foreign, want.migratetype);
            let is_lost = stays && alike > 0 && used.free >= pages / WORTH_CLAIMING;
            is_lost || used.free + alike >= pages / 2
        })
    }

    /// Returns the largest foreign block, of those at the heads of the lists, in a pageblock that
    /// `will_do` accepts.
    fn find_foreign(
        &mut self,
        want: Want,
        will_do: impl Fn(PageblockUse, Migratetype) -> bool,
    ) -> Option<Foreign> {
        let zone = self.zone;
        let (mut looks, mut found) = (0, None);
        let orders = want.order.up_to(zone.blocks.order().down()?);
        'lists: for order in orders.rev() {
            for migratetype in want.migratetype.fallbacks() {
                if !zone.list_has_block(order, migratetype) {
                    continue;
                }
                let list = self.state.lists.get(order, migratetype);
                for index in list.iter(&zone.frames).take(LOOKS) {
                    looks += 1;
                    if will_do(zone.blocks.counted_use(index).unwrap_or_default(), migratetype) {
                        found = Some(Foreign { index, order, migratetype });
                        break 'lists;
                    }
                }
            }
        }
        self.touch(looks);
        found
    }
}
