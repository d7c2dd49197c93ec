//! The agreement between the machine and a replay in the era nearest to its kernel.

use std::fmt;

use freehold::{MIGRATETYPES, Migratetype, Order};
use freehold_measure::{Cell, Table, grouped};
use serde::Serialize;

use super::distance::{EndDistance, ZoneDistance};
use crate::counts::{CountsByOrder, pageblocks};
use crate::error::LabError;
use crate::recorded::{FallbackCount, Recorded, recorded_fallbacks};
use crate::replay::{Agreement, Lab, Measures, Options, Variant, nearest_era};

/// The limit for the difference in free pages of one type, in percent of the machine's free pages of that type.
const MOST_OF_TYPE: f64 = 10.0;

/// The limit for the sum of the differences of all types, in percent of the machine's free pages.
const MOST_OF_FREE: f64 = 5.0;

/// The limit for the difference in pages on per-CPU lists, in percent of the machine's pages.
const MOST_OF_LISTS: f64 = 10.0;

/// The limit for the difference in free pageblocks, in percent of the machine's free pageblocks.
const MOST_OF_PAGEBLOCKS: f64 = 5.0;

/// The limit for the sum of the differences in fallback events by pair of types, in percent of the machine's events.
const MOST_OF_FALLBACKS: f64 = 10.0;

/// The five checks: the columns of [`trust_table`].
pub(crate) const SUBJECTS: [&str; 5] = [
    "free pages of a type",
    "free pages of all types",
    "pages on CPUs' lists",
    "free pageblocks",
    "fallback events by pair of types",
];

/// The columns of [`trust_table`] that count allocations.
const AGREED: [&str; 3] = ["own frame", "own pageblock", "pageblock of own type"];

/// The differences between the machine and a replay in the era nearest to its kernel.
///
/// The results of other eras are as reliable as those of this era: information that the trace lacks, such as the
/// places to which compaction moved pages, is missing in the replays of all eras.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Trust {
    /// The era nearest to the recorded kernel.
    pub variant: String,
    /// The release of the recorded kernel.
    pub kernel_release: String,
    /// The checks for which the trace has data.
    pub parts: Vec<TrustPart>,
    /// The origin of the start state: read from the machine, or a fit, with the reason.
    pub start: String,
    /// The agreement of the answers with those of the machine, allocation by allocation.
    pub agreement: Agreement,
}

/// One check of a replay against the machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrustPart {
    /// The compared number.
    pub what: &'static str,
    /// The largest of several differences.
    pub worst: Option<String>,
    /// The number in the replay: of the largest difference, or of all together.
    pub replay: u64,
    /// The number on the machine.
    pub machine: u64,
    /// The difference between replay and machine. Differences of types do not cancel each other.
    ///
    /// Units: percent of the machine's number.
    pub percent: f64,
    /// The limit for `percent`.
    pub most: f64,
}

impl TrustPart {
    /// Returns true if the difference is within the limit.
    pub fn is_kept(&self) -> bool {
        self.percent <= self.most
    }
}

impl Trust {
    /// Compares the era nearest to the recorded kernel with the machine; `None` if the release is unknown or `eras`
    /// lacks that era.
    pub(super) fn new(
        lab: &Lab<'_>,
        eras: &[Measures],
        recorded: &Recorded,
        distance: Option<&EndDistance>,
    ) -> Option<Self> {
        let kernel_release = lab.trace.origin.kernel_release.clone();
        let variant = Variant::new(nearest_era(&kernel_release)?).to_string();
        let measures = eras.iter().find(|measures| measures.variant == variant)?;
        let zones = distance.map_or(&[][..], |distance| &distance.zones);
        let mut parts = free_parts(lab.machine.pageblock_order, zones);
        parts.extend(recorded.percpu_pages_at_end.map(|machine| {
            let least = pages_of(zones, |zone| &zone.machine) / 100;
            lists_part(measures.percpu_pages_at_end, machine, least)
        }));
        // A trace whose origin does not name its events may have been recorded without fallback events.
        let named = lab.trace.origin.events.iter().any(|event| event.ends_with("mm_page_alloc_extfrag"));
        if recorded.has_fallbacks || named {
            let replayed = measures.samples.iter().flat_map(|sample| &sample.fallbacks);
            let machine = recorded_fallbacks(lab.trace.events, &[u64::MAX]).concat();
            parts.push(fallback_part(&by_pair(replayed), &by_pair(&machine)));
        }
        let start = lab.start_report().summary();
        Some(Self { variant, kernel_release, parts, start, agreement: measures.agreement.clone() })
    }

    /// Returns a line on the start state and a line on the agreement, allocation by allocation.
    pub fn start_and_answers(&self) -> [String; 2] {
        [self.start.clone(), format!("event by event: {}", self.agreement)]
    }

    /// Returns true if at least one check was possible and all differences are within their limits.
    pub fn is_kept(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(TrustPart::is_kept)
    }

    /// Returns sentences on the checks: the number that agree, the checks that agree, and the others.
    pub(super) fn lines(&self) -> Vec<String> {
        let Self { variant, kernel_release, parts, .. } = self;
        let of = |kept: bool| parts.iter().filter(move |part| part.is_kept() == kept);
        let (reported, kept) = (parts.len(), of(true).count());
        let mut lines = vec![format!(
            "{variant}, the era nearest to {kernel_release}: replay agrees with the machine on {kept} of {reported} \
             checks."
        )];
        for (kept, title) in [(true, "agreement"), (false, "no agreement, so not reliable for any era")] {
            let named: Vec<_> = of(kept)
                .map(|part| format!("{} ({:.1} % off, limit {} %)", part.what, part.percent, part.most))
                .collect();
            lines.extend((!named.is_empty()).then(|| format!("{title}: {}", named.join(", "))));
        }
        lines
    }
}

impl Lab<'_> {
    /// Replays only the era nearest to the recorded kernel and compares it with the machine; `None` if the trace does
    /// not name its kernel.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn trust(&self) -> Result<Option<Trust>, LabError> {
        let Some(era) = nearest_era(&self.trace.origin.kernel_release) else { return Ok(None) };
        let measures = self.replay(&era.into(), Options { runs: 1, ..Options::default() })?.measures;
        let distance =
            self.end().and_then(|end| EndDistance::new(&self.machine, &era.into(), &measures, end));
        Ok(Trust::new(self, std::slice::from_ref(&measures), &self.recorded(), distance.as_ref()))
    }
}

/// Returns a table with a row for each trace: the differences, and the number of checks that agree.
pub fn trust_table(traces: &[(String, Trust)]) -> Table {
    let bounds = [MOST_OF_TYPE, MOST_OF_FREE, MOST_OF_LISTS, MOST_OF_PAGEBLOCKS, MOST_OF_FALLBACKS];
    let columns = SUBJECTS.iter().zip(bounds).map(|(what, most)| format!("{what} (≤ {most} %)"));
    let columns = columns.chain(["checks that agree".to_owned(), "checks".to_owned()]);
    let columns = columns.chain(AGREED.map(str::to_owned)).collect();
    let mut table =
        Table::new("Differences between the machine and a replay in the era nearest to its kernel", columns);
    for (name, trust) in traces {
        let of = |what: &&str| {
            let part = trust.parts.iter().find(|part| part.what == *what);
            part.map_or(Cell::Empty, |part| Cell::Real(part.percent))
        };
        let kept = trust.parts.iter().filter(|part| part.is_kept()).count() as u64;
        let counts = [Cell::Count(kept), Cell::Count(trust.parts.len() as u64)];
        let total = trust.agreement.total();
        let agreed = [total.frame, total.pageblock, total.migratetype].map(|n| Cell::Real(total.percent(n)));
        table.push(&trust.variant, name, "%", SUBJECTS.iter().map(of).chain(counts).chain(agreed).collect());
    }
    table
}

type Blocks = [CountsByOrder; MIGRATETYPES];

fn pages(orders: &CountsByOrder) -> u64 {
    let pages = orders.iter().enumerate().map(|(order, &blocks)| blocks.saturating_mul(1 << order));
    pages.fold(0, u64::saturating_add)
}

fn pages_of(zones: &[ZoneDistance], of: impl Fn(&ZoneDistance) -> &Blocks) -> u64 {
    let all = zones.iter().flat_map(|zone| of(zone).iter().map(pages));
    all.fold(0, u64::saturating_add)
}

fn percent(difference: u64, of: u64) -> f64 {
    difference as f64 * 100.0 / of.max(1) as f64
}

/// Compares free pages by type, and free pageblocks.
fn free_parts(order: Order, zones: &[ZoneDistance]) -> Vec<TrustPart> {
    let (in_replay, free) = (pages_of(zones, |zone| &zone.replay), pages_of(zones, |zone| &zone.machine));
    let all = zones.iter().flat_map(|zone| {
        Migratetype::ALL.into_iter().map(move |kind| {
            let both = (pages(&zone.replay[kind.index()]), pages(&zone.machine[kind.index()]));
            (format!("{} {kind}", zone.zone), both)
        })
    });
    // A type with almost no free pages is compared with a hundredth of all free pages.
    let off = |&(_, (replay, machine)): &(String, (u64, u64))| {
        percent(u64::abs_diff(replay, machine), machine.max(free / 100))
    };
    let types: Vec<_> = all.collect();
    let Some(worst) = types.iter().max_by(|a, b| off(a).total_cmp(&off(b))) else { return Vec::new() };
    let differences: u64 = types.iter().map(|&(_, (replay, machine))| replay.abs_diff(machine)).sum();
    let blocks =
        |of: &Blocks| -> u64 { of.iter().map(|orders| pageblocks(order, |order| orders.of(order))).sum() };
    let both =
        zones.iter().fold((0, 0), |sum, zone| (sum.0 + blocks(&zone.replay), sum.1 + blocks(&zone.machine)));
    vec![
        TrustPart {
            what: SUBJECTS[0],
            worst: Some(worst.0.clone()),
            replay: worst.1.0,
            machine: worst.1.1,
            percent: off(worst),
            most: MOST_OF_TYPE,
        },
        TrustPart {
            what: SUBJECTS[1],
            worst: None,
            replay: in_replay,
            machine: free,
            percent: percent(differences, free),
            most: MOST_OF_FREE,
        },
        TrustPart {
            what: SUBJECTS[3],
            worst: None,
            replay: both.0,
            machine: both.1,
            percent: percent(both.0.abs_diff(both.1), both.1),
            most: MOST_OF_PAGEBLOCKS,
        },
    ]
}

/// Compares the pages on per-CPU lists. If the machine has fewer than `least`, the percentage refers to `least`.
fn lists_part(replay: u64, machine: u64, least: u64) -> TrustPart {
    let percent = percent(replay.abs_diff(machine), machine.max(least));
    TrustPart { what: SUBJECTS[2], worst: None, replay, machine, percent, most: MOST_OF_LISTS }
}

/// Fallback events by requested type, then by the type of the found block.
type Pairs = [[u64; MIGRATETYPES]; MIGRATETYPES];

fn by_pair<'f>(counts: impl IntoIterator<Item = &'f FallbackCount>) -> Pairs {
    let mut pairs = Pairs::default();
    for count in counts {
        pairs[count.wanted.index()][count.found.index()] += count.events;
    }
    pairs
}

/// Compares fallback events pair by pair, so that too many events of one pair do not cancel too few of another.
fn fallback_part(replay: &Pairs, machine: &Pairs) -> TrustPart {
    let sum = |pairs: &Pairs| pairs.iter().flatten().sum::<u64>();
    let all = Migratetype::ALL.into_iter().flat_map(|wanted| Migratetype::ALL.map(|found| (wanted, found)));
    let both = |(wanted, found): (Migratetype, Migratetype)| {
        (replay[wanted.index()][found.index()], machine[wanted.index()][found.index()])
    };
    let off = |pair| u64::abs_diff(both(pair).0, both(pair).1);
    let differences: u64 = all.clone().map(off).sum();
    let worst = all.max_by_key(|&pair| off(pair)).filter(|&pair| off(pair) > 0).map(|pair| {
        let (wanted, found) = pair;
        format!("{wanted} from {found}: replay {}, machine {}", grouped(both(pair).0), grouped(both(pair).1))
    });
    TrustPart {
        what: SUBJECTS[4],
        worst,
        replay: sum(replay),
        machine: sum(machine),
        percent: percent(differences, sum(machine)),
        most: MOST_OF_FALLBACKS,
    }
}

impl fmt::Display for Trust {
    /// Writes one line: each difference, and whether it is within its limit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, the era nearest to {}, compared with the machine:",
            self.variant, self.kernel_release
        )?;
        for part in &self.parts {
            let (replay, machine) = (grouped(part.replay), grouped(part.machine));
            write!(f, " {}: replay {replay}, machine {machine} ({:.1} % off", part.what, part.percent)?;
            if let Some(worst) = &part.worst {
                write!(f, "; {worst}")?;
            }
            f.write_str(if part.is_kept() { ");" } else { "), beyond the limit;" })?;
        }
        f.write_str(if self.is_kept() { " all checks agree" } else { " not all checks agree" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: Order = match Order::new(9) {
        Some(order) => order,
        None => Order::MAX_PAGE_ORDER,
    };

    fn zone(replay: &Blocks) -> ZoneDistance {
        ZoneDistance {
            zone: "Normal".to_owned(),
            replay: *replay,
            machine: machine(),
            ..ZoneDistance::default()
        }
    }

    /// 20 free pageblocks and 1 000 single pages of Movable, 1 000 of Unmovable, 100 blocks of order 3 of
    /// Reclaimable.
    fn machine() -> Blocks {
        let mut free = Blocks::default();
        free[Migratetype::Movable.index()][9] = 20;
        free[Migratetype::Movable.index()][0] = 1000;
        free[Migratetype::Unmovable.index()][0] = 1000;
        free[Migratetype::Reclaimable.index()][3] = 100;
        free
    }

    /// Returns the checks that fail for a replay with these free blocks at the end.
    fn too_far(replay: &Blocks) -> Vec<&'static str> {
        let parts = free_parts(ORDER, &[zone(replay)]);
        parts.iter().filter(|part| !part.is_kept()).map(|part| part.what).collect()
    }

    fn changed(kind: Migratetype, order: usize, by: i64) -> Blocks {
        let mut free = machine();
        let blocks = &mut free[kind.index()][order];
        *blocks = blocks.saturating_add_signed(by);
        free
    }

    #[test]
    fn planted_errors_in_free_memory_fail_the_checks() {
        assert!(too_far(&machine()).is_empty());
        assert!(too_far(&changed(Migratetype::Unmovable, 0, 90)).is_empty());
        assert_eq!(too_far(&changed(Migratetype::Unmovable, 0, 110)), [SUBJECTS[0]]);
        assert_eq!(too_far(&changed(Migratetype::Movable, 0, 700)), [SUBJECTS[1]]);
        assert!(too_far(&changed(Migratetype::Movable, 9, 1)).is_empty());
        // Two split pageblocks: the same number of pages of each type.
        let mut pieces = changed(Migratetype::Movable, 9, -2);
        pieces[Migratetype::Movable.index()][8] += 4;
        assert_eq!(too_far(&pieces), [SUBJECTS[3]]);
        // Errors of two types do not cancel.
        let mut other = changed(Migratetype::Unmovable, 0, 700);
        other[Migratetype::Movable.index()][0] -= 700;
        assert_eq!(too_far(&other), [SUBJECTS[0], SUBJECTS[1]]);
    }

    #[test]
    fn planted_errors_on_per_cpu_lists_fail_the_check() {
        assert!(lists_part(70_000, 77_000, 0).is_kept());
        assert!(!lists_part(40_045, 77_855, 0).is_kept());
        assert!(!lists_part(4_247, 0, 540).is_kept() && lists_part(50, 0, 540).is_kept());
    }

    #[test]
    fn planted_errors_of_two_pairs_with_equal_sums_fail_the_check() {
        let mut machine = Pairs::default();
        machine[0][1] = 1470;
        machine[1][2] = 24_076;
        assert!(fallback_part(&machine, &machine).is_kept());
        let mut replay = machine;
        (replay[0][1], replay[1][2]) = (7598, 17_948);
        let part = fallback_part(&replay, &machine);
        assert_eq!(part.replay, part.machine);
        assert!(!part.is_kept(), "{part:?}");
        assert!(!fallback_part(&replay, &Pairs::default()).is_kept(), "the machine had no fallback");
    }

    #[test]
    fn the_line_names_checks_that_fail() {
        let parts = vec![lists_part(95, 100, 0), lists_part(40, 100, 0)];
        let mut trust = Trust {
            variant: "linux-6.12".into(),
            kernel_release: "6.12.3".into(),
            parts,
            start: String::new(),
            agreement: Agreement::default(),
        };
        let line = trust.to_string();
        assert!(line.contains("lists: replay 95, machine 100 (5.0 % off); pages"), "{line}");
        assert!(
            line.ends_with("replay 40, machine 100 (60.0 % off), beyond the limit; not all checks agree"),
            "{line}"
        );
        trust.parts.pop();
        assert!(trust.is_kept());
        trust.parts.clear();
        assert!(!trust.is_kept(), "no check is no agreement");
    }
}
