//! What a request may do to a zone's marks and reserves: a table by the kernel's version.

use freehold::{GfpFlags, Migratetype};

use crate::report::Letters;

/// The generations of the rule of `__zone_watermark_ok`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Rule {
    /// Until 4.3: each order's free pages are taken off, and the mark halves for each order.
    ByOrder,
    /// 4.4 to 6.2: a block must be on a list; `ALLOC_HARDER` opens a quarter of the mark and the atomic reserve.
    Harder,
    /// Since 6.3: the quarter is for callers with `__GFP_HIGH` that do not wait.
    NonBlock,
}

impl Rule {
    /// Returns the rule of a kernel.
    pub(crate) fn of(version: (u32, u32)) -> Self {
        if version < (4, 4) {
            Self::ByOrder
        } else if version < (6, 3) {
            Self::Harder
        } else {
            Self::NonBlock
        }
    }
}

/// The rights of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a right of its own in Linux, too")]
pub(crate) struct Rights {
    pub(crate) rule: Rule,
    /// `__GFP_HIGH`: half of the min mark is open.
    pub(crate) half: bool,
    /// A quarter of what is left of the mark is open.
    pub(crate) quarter: bool,
    /// CMA blocks may be used.
    pub(crate) cma: bool,
    /// The reserve for atomic requests may be used.
    pub(crate) highatomic: bool,
    /// The pages of that reserve count as used.
    pub(crate) leaves_highatomic: bool,
    /// `__GFP_MEMALLOC`: no mark counts.
    pub(crate) ignores_marks: bool,
}

impl Rights {
    /// Returns the rights that flags give at the min mark.
    pub(crate) fn of(rule: Rule, flags: GfpFlags, order: u8) -> Self {
        let may_dip = !flags.contains(GfpFlags::NOMEMALLOC);
        let half = flags.contains(GfpFlags::HIGH);
        let non_block = !flags.contains(GfpFlags::DIRECT_RECLAIM) && may_dip;
        let harder = flags.contains(GfpFlags::ATOMIC) && may_dip;
        let (quarter, highatomic, leaves) = match rule {
            Rule::ByOrder => (harder, false, false),
            Rule::Harder => (harder, harder, !harder),
            Rule::NonBlock => (non_block && half, non_block && half && order > 0, !non_block && !half),
        };
        Self {
            rule,
            half,
            quarter,
            cma: flags.migratetype() == Migratetype::Movable,
            highatomic,
            leaves_highatomic: leaves,
            ignores_marks: flags.contains(GfpFlags::MEMALLOC) && may_dip,
        }
    }

    /// Returns true if a request for one page does not count the boost of the min mark. Linux has this since 5.9, before reports
    /// had the boost.
    pub(crate) fn skips_boost(self) -> bool {
        match self.rule {
            Rule::ByOrder => false,
            Rule::Harder => self.quarter,
            Rule::NonBlock => self.half,
        }
    }

    /// Returns what is left of a min mark. Units: pages.
    pub(crate) fn lowered(self, min: u64) -> u64 {
        let half = if self.half { min / 2 } else { 0 };
        let left = min - half;
        let quarter = if self.quarter { left / 4 } else { 0 };
        left - quarter
    }

    /// Returns true if the request may use a block of one of the types of `letters`.
    pub(crate) fn may_use(self, letters: Letters) -> bool {
        letters.is_empty()
            || letters.types().any(|migratetype| match migratetype {
                Migratetype::HighAtomic => self.highatomic,
                Migratetype::Cma => self.cma,
                Migratetype::Isolate => false,
                _ => true,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_lowered_by_version() {
        let atomic = GfpFlags::GFP_ATOMIC | GfpFlags::ATOMIC;
        let min = |rule, flags| Rights::of(rule, flags, 0).lowered(834);
        assert_eq!([Rule::ByOrder, Rule::Harder, Rule::NonBlock].map(|rule| min(rule, atomic)), [313; 3]);
        assert_eq!(
            [Rule::ByOrder, Rule::Harder, Rule::NonBlock].map(|rule| min(rule, GfpFlags::KERNEL)),
            [834; 3]
        );
        // A caller that only does not wait had a quarter until 4.3, nothing afterwards.
        assert_eq!(min(Rule::NonBlock, GfpFlags::NOWAIT), 834);
        let high = Rights::of(Rule::NonBlock, GfpFlags::KERNEL | GfpFlags::HIGH, 2);
        assert!(high.lowered(100) == 50 && !high.highatomic && !high.leaves_highatomic);
        let nomemalloc = Rights::of(Rule::NonBlock, GfpFlags::GFP_ATOMIC | GfpFlags::NOMEMALLOC, 2);
        assert!(nomemalloc.lowered(100) == 50 && !nomemalloc.highatomic);
    }

    #[test]
    fn versions_have_rules() {
        use Rule::{ByOrder, Harder, NonBlock};
        let rules = [(2, 26), (3, 10), (4, 3), (4, 4), (5, 19), (6, 2), (6, 3), (7, 3)].map(Rule::of);
        assert_eq!(rules, [ByOrder, ByOrder, ByOrder, Harder, Harder, Harder, NonBlock, NonBlock]);
    }
}
