//! Reasons for wide bounds of a forecast of compaction.

use serde::Serialize;

use super::evidence::Names;
use super::supply::{Supply, ZoneSupply};

/// The forecast's bounds are shown as one number if they are no further apart than this part of the upper bound.
const CLOSE: u64 = 20;

/// From so many KiB of dirty page cache on, it is being written.
const DIRTY_KIB: u64 = 2048;

/// From so many pages on that are dirtied in a second, too.
const DIRTIED: u64 = 64;

/// Why the result of compaction is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// It may give up at a dirty compound page of page cache.
    MayGiveUp,
    /// Page cache is being written, by which dirty compound pages come anywhere.
    BeingWritten,
    /// Its bounds are far apart.
    Wide,
}

impl Doubt {
    /// Returns why the forecast for a machine is not known within 5 %; `None` if it is known, or there is none.
    pub(super) fn of(supply: &Supply, zones: &[ZoneSupply], is_written: bool) -> Option<Self> {
        let (least, most) = (supply.after_compaction?, supply.after_compaction_at_most?);
        let is_wide = (most - least).saturating_mul(CLOSE) > most;
        if is_wide && zones.iter().any(|zone| zone.gives_up_at_pfn.is_some()) {
            Some(Self::MayGiveUp)
        } else if is_written {
            Some(Self::BeingWritten)
        } else {
            is_wide.then_some(Self::Wide)
        }
    }
}

impl Names {
    /// Returns true if page cache is being written.
    ///
    /// A quiet machine has had some hundred dirty pages, and dirtied up to 22 in a second.
    pub(super) fn is_written(&self) -> bool {
        self.dirty_pages.saturating_mul(self.page_kib) >= DIRTY_KIB || self.dirtied_pages >= DIRTIED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_is_doubted_for_one_reason_at_a_time() {
        let doubt = |least, most, gives_up_at_pfn, is_written| {
            let supply = Supply {
                after_compaction: Some(least),
                after_compaction_at_most: Some(most),
                ..Supply::default()
            };
            Doubt::of(&supply, &[ZoneSupply { gives_up_at_pfn, ..ZoneSupply::default() }], is_written)
        };
        assert_eq!(doubt(95, 100, Some(7), false), None, "wherever it gives up, as much comes");
        assert_eq!(doubt(94, 100, None, false), Some(Doubt::Wide));
        assert_eq!(doubt(94, 100, Some(7), true), Some(Doubt::MayGiveUp));
        assert_eq!(doubt(95, 100, Some(7), true), Some(Doubt::BeingWritten));
        assert_eq!(doubt(0, 0, None, false), None);
        assert_eq!(Doubt::of(&Supply::default(), &[], true), None, "there is no prediction");
    }

    #[test]
    fn a_quiet_machine_writes_a_little() {
        let names = |dirty_pages, dirtied_pages| Names {
            dirty_pages,
            dirtied_pages,
            page_kib: 4,
            ..Names::default()
        };
        assert!(!names(511, 63).is_written());
        assert!(names(512, 0).is_written() && names(0, 64).is_written());
    }
}
