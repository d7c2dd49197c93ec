//! What the machine was asked for.

use freehold::{GfpFlags, Migratetype, Switches};

/// What the machine was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AllocRequest {
    /// The caller's flags.
    pub(super) gfp: GfpFlags,
    /// The migratetype that the machine looked for.
    pub(super) migratetype: Migratetype,
}

impl AllocRequest {
    /// Returns the flags of the request in an era: before 6.3, `GFP_ATOMIC` had one flag more.
    pub(super) fn gfp_of(self, era: Switches) -> GfpFlags {
        let gfp = self.of_its_migratetype();
        let atomic = gfp.contains(GfpFlags::GFP_ATOMIC) && !gfp.contains(GfpFlags::DIRECT_RECLAIM);
        if atomic && !era.high_ignores_boost { gfp | GfpFlags::ATOMIC } else { gfp }
    }

    /// Returns the flags with which the engine looks for the machine's migratetype. They are the caller's own, unless
    /// the machine does not group by mobility: too little memory for a pageblock of each type, and every request is
    /// Unmovable.
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
            // No flags of Linux ask for another type.
            _ => self.gfp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_looks_for_the_type_that_the_machine_looked_for() {
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
