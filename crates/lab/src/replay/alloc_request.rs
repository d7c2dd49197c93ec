//! A recorded request, as the engine gets it.

use freehold::{GfpFlags, Migratetype, Switches};

/// A recorded request: flags and migratetype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AllocRequest {
    /// The flags of the caller.
    pub(super) gfp: GfpFlags,
    /// The migratetype in which the machine searched.
    pub(super) migratetype: Migratetype,
}

impl AllocRequest {
    /// Returns the flags of the request in an era. Before Linux 6.3, `GFP_ATOMIC` had one more flag.
    pub(super) fn gfp_of(self, era: Switches) -> GfpFlags {
        let gfp = self.of_its_migratetype();
        let atomic = gfp.contains(GfpFlags::GFP_ATOMIC) && !gfp.contains(GfpFlags::DIRECT_RECLAIM);
        if atomic && !era.high_ignores_boost { gfp | GfpFlags::ATOMIC } else { gfp }
    }

    /// Returns flags with which the engine searches in the machine's migratetype. They are the flags of the caller,
    /// unless the machine does not group by mobility: with too little memory for a pageblock of each type, all
    /// requests are Unmovable.
    ///
    /// Linux counterpart: `page_group_by_mobility_disabled`.
    fn of_its_migratetype(self) -> GfpFlags {
        if self.gfp.migratetype() == self.migratetype {
            return self.gfp;
        }
        let without = self.gfp.difference(GfpFlags::MOVABLE | GfpFlags::RECLAIMABLE);
        match self.migratetype {
            Migratetype::Unmovable => without,
            Migratetype::Movable => without.union(GfpFlags::MOVABLE),
            Migratetype::Reclaimable => without.union(GfpFlags::RECLAIMABLE),
            // No flags request another type.
            _ => self.gfp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_searches_in_the_migratetype_of_the_machine() {
        let callers = [GfpFlags::KERNEL, GfpFlags::HIGHUSER_MOVABLE, GfpFlags::NOFS | GfpFlags::RECLAIMABLE];
        for gfp in callers {
            for migratetype in [Migratetype::Unmovable, Migratetype::Movable, Migratetype::Reclaimable] {
                assert_eq!(AllocRequest { gfp, migratetype }.of_its_migratetype().migratetype(), migratetype);
            }
            let own = AllocRequest { gfp, migratetype: gfp.migratetype() };
            assert_eq!(own.of_its_migratetype(), gfp);
            assert_eq!(AllocRequest { gfp, migratetype: Migratetype::Cma }.of_its_migratetype(), gfp);
        }
        let ungrouped = AllocRequest { gfp: GfpFlags::HIGHUSER_MOVABLE, migratetype: Migratetype::Unmovable };
        assert_eq!(ungrouped.of_its_migratetype(), GfpFlags::HIGHUSER);
    }
}
