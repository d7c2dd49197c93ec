//! How far a replay in the recorded kernel's own era may be believed.

use std::fmt;

use freehold::{MAX_ORDERS, MIGRATETYPES, Migratetype};
use freehold_measure::{Cell, grouped};
use serde::Serialize;

use super::distance::EndDistance;
use crate::counts::pageblocks;
use crate::recorded::Recorded;
use crate::replay::{Measures, Variant, nearest_era};
use crate::start::Machine;

/// The bound of the difference in free pages of a type, in percent of the zone.
const MOST_OF_ZONE: f64 = 2.0;

/// The bound of the difference in whole pageblocks that are free, in percent.
const MOST_OF_PAGEBLOCKS: f64 = 5.0;

/// The bound of the difference in fallback events, in percent.
const MOST_OF_FALLBACKS: f64 = 10.0;

/// How far a replay in the recorded kernel's own era is from the machine itself.
///
/// The figures of the other eras are as believable as those of this one: what a replay cannot know, such as where
/// compaction moved pages to, it does not know for any era.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Trust {
    /// The era nearest to the recorded kernel.
    pub variant: String,
    /// The recorded kernel's release.
    pub kernel_release: String,
    /// The zone and type whose free pages differ most, and the difference in percent of the zone.
    pub worst_type: Option<(String, f64)>,
    /// Whole pageblocks in free blocks at the end: of the replay, and of the machine.
    pub free_pageblocks: Option<(u64, u64)>,
    /// Fallback events (`mm_page_alloc_extfrag`): of the replay, and of the machine.
    pub fallbacks: Option<(u64, u64)>,
}

impl Trust {
    /// Compares the era nearest to the recorded kernel with what the machine did; `None` if the release is
    /// unknown or `eras` do not have that era.
    pub(super) fn new(
        machine: &Machine,
        kernel_release: &str,
        eras: &[Measures],
        recorded: &Recorded,
        distance: Option<&EndDistance>,
    ) -> Option<Self> {
        let variant = Variant::new(nearest_era(kernel_release)?).to_string();
        let measures = eras.iter().find(|measures| measures.variant == variant)?;
        let order = machine.pageblock_order;
        let blocks = |of: &[[u64; MAX_ORDERS]; MIGRATETYPES]| -> u64 {
            of.iter().map(|orders| pageblocks(order, |order| orders[order])).sum()
        };
        let both = |distance: &EndDistance| {
            let zones = distance.zones.iter();
            zones.fold((0, 0), |sum, zone| (sum.0 + blocks(&zone.replay), sum.1 + blocks(&zone.machine)))
        };
        let replayed = measures.locked.claims + measures.locked.steals;
        Some(Self {
            variant,
            kernel_release: kernel_release.to_owned(),
            worst_type: distance.and_then(|distance| worst_type(machine, distance)),
            free_pageblocks: distance.map(both),
            fallbacks: recorded.has_fallbacks.then_some((replayed, recorded.claims + recorded.steals)),
        })
    }

    /// Returns true if every part that was recorded is within its bound and at least one part was recorded.
    pub fn is_kept(&self) -> bool {
        let worst = self.worst_type.as_ref().map(|(_, percent)| percent.abs() <= MOST_OF_ZONE);
        let within = |(replay, machine), most: f64| percent(replay, machine).abs() <= most;
        let pageblocks = self.free_pageblocks.map(|both| within(both, MOST_OF_PAGEBLOCKS));
        let fallbacks = self.fallbacks.map(|both| within(both, MOST_OF_FALLBACKS));
        let mut known = [worst, pageblocks, fallbacks].into_iter().flatten().peekable();
        known.peek().is_some() && known.all(|kept| kept)
    }
}

/// Returns how much more the replay has than the machine, in percent of the machine's.
fn percent(replay: u64, machine: u64) -> f64 {
    (replay as f64 - machine as f64) * 100.0 / machine.max(1) as f64
}

/// Returns the zone and type whose free pages differ most, and the difference in percent of the zone.
fn worst_type(machine: &Machine, distance: &EndDistance) -> Option<(String, f64)> {
    let pages = |orders: &[u64; MAX_ORDERS]| -> f64 {
        orders.iter().enumerate().map(|(order, &blocks)| blocks as f64 * f64::from(1 << order)).sum()
    };
    let all = distance.zones.iter().flat_map(|zone| {
        let number = (0..machine.zones.len()).find(|&number| machine.zone_name(number) == zone.zone);
        let managed = number.map_or(1, |number| machine.zones[number].managed).max(1);
        Migratetype::ALL.into_iter().map(move |kind| {
            let difference = pages(&zone.replay[kind.index()]) - pages(&zone.machine[kind.index()]);
            (format!("{} {kind}", zone.zone), difference * 100.0 / managed as f64)
        })
    });
    all.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
}

impl fmt::Display for Trust {
    /// Writes one line: what differs, by how much, and whether each difference is within its bound.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, the era nearest to {}, ends", self.variant, self.kernel_release)?;
        let judged = |kept: bool| if kept { "" } else { ", too far" };
        let number = |value: f64| Cell::Real(value).text();
        if let Some((name, off)) = &self.worst_type {
            let kept = judged(off.abs() <= MOST_OF_ZONE);
            write!(
                f,
                " at most {} % of a zone from the machine's free pages of a type ({name}){kept};",
                number(off.abs())
            )?;
        }
        for (name, both, most) in [
            ("free pageblocks", self.free_pageblocks, MOST_OF_PAGEBLOCKS),
            ("fallback events", self.fallbacks, MOST_OF_FALLBACKS),
        ] {
            if let Some((replay, machine)) = both {
                let off = percent(replay, machine);
                let kept = judged(off.abs() <= most);
                let sign = if off > 0.0 { "+" } else { "" };
                write!(
                    f,
                    " {name} {} against {} ({sign}{} %){kept};",
                    grouped(replay),
                    grouped(machine),
                    number(off)
                )?;
            }
        }
        f.write_str(if self.is_kept() { " within bounds" } else { " not within bounds" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(worst: f64, pageblocks: (u64, u64), fallbacks: (u64, u64)) -> Trust {
        Trust {
            variant: "linux-6.12".to_owned(),
            kernel_release: "6.18.3".to_owned(),
            worst_type: Some(("Normal Movable".to_owned(), worst)),
            free_pageblocks: Some(pageblocks),
            fallbacks: Some(fallbacks),
        }
    }

    #[test]
    fn each_part_has_its_bound() {
        assert!(trust(-1.9, (105, 100), (90, 100)).is_kept());
        assert!(!trust(-2.1, (100, 100), (100, 100)).is_kept());
        assert!(!trust(0.0, (94, 100), (100, 100)).is_kept());
        assert!(!trust(0.0, (100, 100), (111, 100)).is_kept());
        let unknown =
            Trust { worst_type: None, free_pageblocks: None, fallbacks: None, ..trust(0.0, (0, 0), (0, 0)) };
        assert!(!unknown.is_kept());
    }

    #[test]
    fn the_line_says_what_is_too_far() {
        let line = trust(0.5, (26, 27), (70, 100)).to_string();
        assert!(line.contains("fallback events 70 against 100 (-30.0 %), too far"), "{line}");
        assert!(line.contains("free pageblocks 26 against 27 (-3.704 %);"), "{line}");
        assert!(line.ends_with("not within bounds"), "{line}");
    }
}
