//! What each pageblock of a zone holds.

use crate::types::{Migratetype, Pfn};

/// What one pageblock holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageblockUse {
    /// First frame of the pageblock that is inside the zone.
    pub start: Pfn,
    /// The pageblock's type; `None` where the zone has only holes there.
    pub migratetype: Option<Migratetype>,
    /// Pages on free lists.
    pub free: u32,
    /// Pages on per-CPU lists.
    pub percpu: u32,
    /// Allocated pages by the type that was asked for: unmovable, movable, reclaimable.
    pub allocated: [u32; 3],
    /// Pages in use since before the allocator started.
    pub reserved: u32,
}

impl PageblockUse {
    /// Whether pages of another type than the block's own are allocated in it.
    ///
    /// Linux counterpart: the blocks that `pagetypeinfo` counts as mixed with `page_owner`.
    pub fn is_mixed(&self) -> bool {
        self.migratetype.is_some_and(|kind| {
            let own = if kind == Migratetype::Cma { Migratetype::Movable } else { kind };
            self.allocated.iter().enumerate().any(|(index, &pages)| pages > 0 && index != own.index())
        })
    }
}
