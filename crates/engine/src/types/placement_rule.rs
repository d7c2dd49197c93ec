//! Placement rules: an embedder chooses blocks of other types for requests, and pageblocks to tidy.

use super::migratetype::Migratetype;
use super::pageblock_use::PageblockUse;
use super::units::{Order, Pfn};

/// A request that found no block of its own type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FallbackRequest {
    /// The order of the block.
    pub order: Order,
    /// The type of the request: unmovable, movable or reclaimable.
    pub migratetype: Migratetype,
    /// The order of a pageblock.
    pub pageblock_order: Order,
}

/// A free block of another type than the request's, and the use of its pageblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The block's first frame.
    pub pfn: Pfn,
    /// The block's order, at least that of the request.
    pub order: Order,
    /// The type of the free list that has the block.
    pub migratetype: Migratetype,
    /// Free pages of the pageblock, including those of the block.
    pub free: u32,
    /// Pages of the pageblock that movable requests got. In eras without [`crate::Switches::claims_by_counts`]: pages
    /// that can be moved.
    pub movable: u32,
    /// All other pages of the pageblock: immovable pages, pages on CPUs' lists, and holes.
    pub immovable: u32,
}

impl Offer {
    /// Returns the number of pages in the pageblock that have the mobility of the type `wanted`: movable pages for a
    /// movable request, immovable pages of a movable pageblock for any other request. The counts do not distinguish
    /// unmovable from reclaimable pages, so the result is 0 between these two types.
    #[inline]
    pub fn like(&self, wanted: Migratetype) -> u32 {
        wanted.like(self.migratetype, self.movable, self.immovable)
    }
}

/// An iterator over the free blocks that a rule may choose, up to 32 of each free list. It reads the lists lazily.
pub struct Offers<'o>(&'o mut dyn Iterator<Item = Offer>);

impl<'o> Offers<'o> {
    pub(crate) fn new(offers: &'o mut dyn Iterator<Item = Offer>) -> Self {
        Self(offers)
    }
}

impl Iterator for Offers<'_> {
    type Item = Offer;

    #[inline]
    fn next(&mut self) -> Option<Offer> {
        self.0.next()
    }
}

impl core::fmt::Debug for Offers<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Offers")
    }
}

/// The choice of a rule for a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlacementChoice {
    /// The era decides.
    AsEra,
    /// None of the offers.
    Nothing,
    /// The block of this offer.
    Take(Offer),
}

/// The choice of a rule for a pageblock that is tidied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chore {
    /// The era decides.
    AsEra,
    /// The pageblock stays as it is.
    Nothing,
    /// The pageblock gets this type: unmovable, movable or reclaimable. Its free blocks move to that type's lists.
    Retype(Migratetype),
    /// The movable pages leave the pageblock. From a movable pageblock they move to fuller ones, from another to any
    /// movable pageblock. A movable pageblock stays as it is if CPUs' lists have pages of it even after a drain.
    Empty,
}

/// A placement rule: chooses the blocks that requests of other types take, and the pageblocks to tidy.
///
/// `()` leaves everything to the era and costs nothing. The engine calls [`PlacementRule::claim`] and
/// [`PlacementRule::steal`] with the zone lock held: an implementation must not call the allocator.
///
/// A chosen block must be one of the offers, unchanged. Otherwise the engine refuses the choice, counts it
/// ([`crate::Memory::refused_choices`]), and lets the era decide. The engine calls no rule in eras without
/// [`crate::Switches::hygiene`]. If pageblocks keep no counts, each offer costs a walk over the frames of its
/// pageblock.
///
/// Linux counterpart: none; a rule replaces `__rmqueue_claim` and `__rmqueue_steal`.
pub trait PlacementRule {
    /// Chooses the block whose pageblock is claimed. The whole pageblock then changes to the type of the request, even
    /// if pages of other types are in use there, and the request takes the smallest suitable block of its type.
    ///
    /// Only pageblocks that lie completely in the zone are offered. Larger blocks come first; for one order, the types
    /// come in Linux's order of preference. The engine does not call this method where pageblock types should not mix.
    fn claim(&self, _wanted: FallbackRequest, _offers: Offers<'_>) -> PlacementChoice {
        PlacementChoice::AsEra
    }

    /// Chooses the block from which the request takes a piece. The pageblock keeps its type.
    ///
    /// The engine calls this method if no pageblock was claimed. Smaller blocks come first. After
    /// [`PlacementChoice::Nothing`] the request gets no block from this zone.
    fn steal(&self, _wanted: FallbackRequest, _offers: Offers<'_>) -> PlacementChoice {
        PlacementChoice::AsEra
    }

    /// Returns true if [`PlacementRule::chore`] decides about the pageblocks that [`crate::Memory::tidy_pageblocks`]
    /// visits.
    fn tidies(&self) -> bool {
        false
    }

    /// Chooses the chore for a pageblock of `pages` pages. The pageblock lies completely in its zone, and is not one
    /// free or allocated block. The engine holds no lock: other callers may allocate and free there meanwhile.
    fn chore(&self, _pageblock: &PageblockUse, _pages: u32) -> Chore {
        Chore::AsEra
    }
}

impl PlacementRule for () {}

/// The choices of placement rules that the engine refused.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RefusedChoices {
    /// The number of refused choices.
    pub count: u64,
    /// The last block or pageblock that was refused.
    pub last: Pfn,
}
