//! The use of a pageblock's pages.

use super::migratetype::Migratetype;
use super::units::Pfn;

/// The pages of one pageblock, counted by use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageblockUse {
    /// The first frame of the pageblock that lies in the zone.
    pub start: Pfn,
    /// The pageblock's type; `None` if the pageblock has only holes.
    pub migratetype: Option<Migratetype>,
    /// Pages on free lists.
    pub free: u32,
    /// Pages on per-CPU lists.
    pub percpu: u32,
    /// Allocated pages by requested type: unmovable, movable, reclaimable.
    pub allocated: [u32; 3],
    /// Allocated pages that can be migrated.
    pub movable: u32,
    /// Pages in use since before the allocator started.
    pub reserved: u32,
}

impl PageblockUse {
    /// Returns true if pages of another type than the pageblock's own are allocated in it.
    ///
    /// Linux counterpart: the pageblocks that `pagetypeinfo` counts as mixed with `page_owner`.
    pub fn is_mixed(&self) -> bool {
        self.migratetype.is_some_and(|kind| {
            let own = if kind == Migratetype::Cma { Migratetype::Movable } else { kind };
            self.allocated.iter().enumerate().any(|(index, &pages)| pages > 0 && index != own.index())
        })
    }

    /// Returns the number of pages in a pageblock of type `foreign` that have the mobility of the type `wanted`:
    /// movable pages for a movable request, immovable pages for any other. `pages` is the number of all its pages.
    #[inline]
    pub(crate) fn like_wanted(&self, pages: u32, foreign: Migratetype, wanted: Migratetype) -> u32 {
        wanted.like(foreign, self.movable, pages.saturating_sub(self.free + self.movable))
    }
}
