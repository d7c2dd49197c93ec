//! What an embedder may decide: where requests find room outside their own type, and what is tidied.

use super::migratetype::Migratetype;
use super::pageblock_use::PageblockUse;
use super::units::{Order, Pfn};

/// A request that found no block of its own type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FallbackRequest {
    /// The order of the block.
    pub order: Order,
    /// Unmovable, movable or reclaimable.
    pub migratetype: Migratetype,
    /// The order of a pageblock.
    pub pageblock_order: Order,
}

/// A free block of another type than the wanted one, and what its pageblock holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The block's first frame.
    pub pfn: Pfn,
    /// The block's order, at least the wanted one.
    pub order: Order,
    /// The type of the list that has it.
    pub migratetype: Migratetype,
    /// Free pages of its pageblock, the block's own among them.
    pub free: u32,
    /// Pages of its pageblock that were asked for as movable; those that can be moved in eras without
    /// [`crate::Switches::claims_by_counts`].
    pub movable: u32,
    /// Pages of its pageblock that are neither: in use where they are, on CPUs' lists, or holes.
    pub immovable: u32,
}

impl Offer {
    /// Returns how many pages of the pageblock are in use like the wanted ones: movable pages for a movable
    /// request, pages that stay for another one in a movable pageblock. Unmovable and reclaimable pages cannot be told
    /// apart.
    #[inline]
    pub fn like(&self, wanted: Migratetype) -> u32 {
        wanted.like(self.migratetype, self.movable, self.immovable)
    }
}

/// The free blocks that a rule may choose from, up to 32 of each list, read from the lists as the rule asks for them.
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

/// What a rule chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// What the era does.
    AsEra,
    /// None of the offers.
    Nothing,
    /// This one.
    Take(Offer),
}

/// What is to be done about a pageblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chore {
    /// What the era does.
    AsEra,
    /// Nothing.
    Nothing,
    /// It gets this type: unmovable, movable or reclaimable. Its free blocks go to that type's lists.
    Retype(Migratetype),
    /// The pages that can be moved leave it for fuller pageblocks, those of a pageblock that is not movable for any.
    /// Nothing where CPUs' lists hold pages of a movable pageblock even after they were drained.
    Empty,
}

/// A rule of placement: which pageblocks requests of other types take from, and what is tidied.
///
/// `()` leaves everything to the era and costs nothing. [`PlacementRule::claim`] and [`PlacementRule::steal`] are
/// called with the zone lock held: an implementation must not call the allocator. What it chooses must be as it was
/// offered. Otherwise the engine refuses and counts it ([`crate::Memory::refused_choices`]); the request then gets what
/// the era gives it. Eras without [`crate::Switches::hygiene`] ask no rule. Where pageblocks keep no counts, each offer
/// takes a walk over its pageblock's frames.
///
/// Linux counterpart: none; `__rmqueue_claim` and `__rmqueue_steal` are what it replaces.
pub trait PlacementRule {
    /// Chooses the block whose pageblock is claimed, of those that lie whole in the zone: it becomes one of the wanted
    /// type as a whole, whatever else is in use there, and the request takes the smallest block that is then of its
    /// type. Offers come the largest first, and for one order the types as Linux prefers them. Not asked where types
    /// should not mix.
    fn claim(&self, _wanted: FallbackRequest, _offers: Offers<'_>) -> Choice {
        Choice::AsEra
    }

    /// Chooses the block that a request takes a piece of although its pageblock keeps its type. Asked if no pageblock
    /// was claimed. Offers come the smallest first. After [`Choice::Nothing`] the request finds no room in this zone.
    fn steal(&self, _wanted: FallbackRequest, _offers: Offers<'_>) -> Choice {
        Choice::AsEra
    }

    /// True if [`PlacementRule::chore`] is to be asked about each pageblock that [`crate::Memory::tidy_pageblocks`]
    /// passes.
    fn tidies(&self) -> bool {
        false
    }

    /// Chooses what is to be done about a pageblock of `pages` that lies whole in its zone and is not one free or
    /// allocated block. Called without a lock: others may allocate and free there meanwhile.
    fn chore(&self, _pageblock: &PageblockUse, _pages: u32) -> Chore {
        Chore::AsEra
    }
}

impl PlacementRule for () {}

/// How often rules chose what they were not offered.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RefusedChoices {
    /// How often.
    pub count: u64,
    /// The last block or pageblock that was refused.
    pub last: Pfn,
}
