//! The predicted measures: the name of each, its value in a replay, and its value on the machine.

use freehold::Order;

use super::own::{ByPair, Own, pairs};
use crate::replay::Measures;

/// The unit of measures that depend on the size of a pageblock.
pub(super) const PAGEBLOCKS: &str = "pageblocks";

/// The measure that per-CPU lists reduce when they keep pages, and increase when they return pages.
pub(super) const FREE_PAGEBLOCKS: &str = "free pageblocks at the end";

/// The measure of pages on per-CPU lists.
pub(super) const ON_LISTS: &str = "pages on CPUs' lists at the end";

/// The units of counts of single events, which vary at least as a Poisson process does.
pub(super) const EVENTS: [&str; 5] = ["events", "requests", "wakes", "refills", "drains"];

/// A measure: its name, unit, value in a replay with pageblocks of the given order, and value on the machine.
#[derive(Clone, Copy)]
struct Subject {
    name: &'static str,
    unit: &'static str,
    /// The value in a replay; `None` if replays do not compute it.
    of: Option<fn(&Measures, Order) -> f64>,
    own: fn(&Own) -> Option<f64>,
    /// The value on the machine at the start, for measures that do not begin with the recording.
    at_start: Option<fn(&Own) -> Option<u64>>,
    /// The reason if eras do not model the measure of another kernel; `None` if they do.
    not_of_eras: Option<&'static str>,
}

/// The reason why reclaim of another kernel is undecided.
const RECLAIM: &str = "the replay takes kswapd's reclaim from the trace, so direct reclaim is as recorded";

/// The reason why compaction of another kernel is undecided.
const COMPACTION: &str =
    "kcompactd starts as often as in the recording: eras do not model when that of another kernel starts";

const fn subject(
    name: &'static str,
    unit: &'static str,
    of: fn(&Measures, Order) -> f64,
    own: fn(&Own) -> Option<f64>,
) -> Subject {
    Subject { name, unit, of: Some(of), own, at_start: None, not_of_eras: None }
}

/// Returns a measure that a replay takes from the trace.
const fn not_replayed(name: &'static str, unit: &'static str, own: fn(&Own) -> Option<f64>) -> Subject {
    Subject { name, unit, of: None, own, at_start: None, not_of_eras: None }
}

/// Returns a measure that has a value at the start of the recording.
const fn since(subject: Subject, at_start: fn(&Own) -> Option<u64>) -> Subject {
    Subject { at_start: Some(at_start), ..subject }
}

/// Returns a measure that eras do not model, with the reason.
const fn not_of_eras(subject: Subject, why: &'static str) -> Subject {
    Subject { not_of_eras: Some(why), ..subject }
}

fn real(count: Option<u64>) -> Option<f64> {
    count.map(|count| count as f64)
}

/// Returns the ratio of two counts; 0 if `of` is 0.
fn share(things: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { things as f64 / of as f64 }
}

/// All measures except the fallbacks by pair of types.
#[rustfmt::skip]
static SUBJECTS: [Subject; 30] = [
    since(subject(FREE_PAGEBLOCKS, PAGEBLOCKS, |m, _| m.free_pageblocks_at_end as f64, |own| real(own.free_pageblocks)), |own| own.free_pageblocks_at_start),
    subject("free pageblocks, mean over time", PAGEBLOCKS, Measures::mean_free_pageblocks, |_| None),
    subject("mixed pageblocks at the end", PAGEBLOCKS, |m, _| m.mixed.end as f64, |_| None),
    subject("pageblocks claimed", "events", |m, _| m.locked.claims as f64, |own| real(own.claims_and_steals.map(|both| both.0))),
    subject("blocks stolen", "events", |m, _| m.locked.steals as f64, |own| real(own.claims_and_steals.map(|both| both.1))),
    subject("refills", "refills", |m, _| m.locked.refills as f64, |own| real(own.refills)),
    subject("blocks refilled", "blocks", |m, _| m.locked.refilled_blocks as f64, |own| real(own.refilled_blocks)),
    subject("blocks a refill", "blocks", |m, _| share(m.locked.refilled_blocks, m.locked.refills), |own| Some(share(own.refilled_blocks?, own.refills?))),
    subject("drains", "drains", |m, _| m.locked.drains as f64, |_| None),
    subject("pages drained", "pages", |m, _| m.locked.drained_pages as f64, |own| real(own.drained_pages)),
    subject("pages a drain", "pages", |m, _| share(m.locked.drained_pages, m.locked.drains), |_| None),
    subject("largest drain", "pages", |m, _| m.locked.largest_drain as f64, |_| None),
    since(subject(ON_LISTS, "pages", |m, _| m.percpu_pages_at_end as f64, |own| real(own.recorded.percpu_pages_at_end)), |own| own.percpu_pages_at_start),
    subject("huge pages refused", "requests", |m, _| m.followed.huge_page_failures as f64, |own| real(own.huge_pages_refused)),
    not_of_eras(subject("kcompactd wakes", "wakes", |m, _| m.events.compact_daemon_wake as f64, |own| real(own.recorded.events.compact_daemon_wake)), COMPACTION),
    subject("direct compaction stalls", "requests", |m, _| m.events.compact_stall as f64, |own| real(own.recorded.events.compact_stall)),
    subject("direct compaction failures", "requests", |m, _| m.events.compact_fail as f64, |own| real(own.recorded.events.compact_fail)),
    subject("direct compaction successes", "requests", |m, _| m.events.compact_success as f64, |own| real(own.recorded.events.compact_success)),
    not_of_eras(subject("pages moved", "pages", |m, _| m.events.pgmigrate_success as f64, |own| real(own.recorded.events.pgmigrate_success)), COMPACTION),
    not_of_eras(subject("pages that could not be moved", "pages", |m, _| m.events.pgmigrate_fail as f64, |own| real(own.recorded.events.pgmigrate_fail)), COMPACTION),
    not_of_eras(subject("scanned for pages to move", "pages", |m, _| m.events.compact_migrate_scanned as f64, |own| real(own.recorded.events.compact_migrate_scanned)), COMPACTION),
    not_of_eras(subject("scanned for free pages", "pages", |m, _| m.events.compact_free_scanned as f64, |own| real(own.recorded.events.compact_free_scanned)), COMPACTION),
    not_of_eras(subject("direct reclaim stalls", "requests", |m, _| m.events.allocstall as f64, |own| real(own.recorded.events.allocstall)), RECLAIM),
    not_of_eras(subject("scanned by direct reclaim", "pages", |m, _| m.events.pgscan_direct as f64, |own| real(own.recorded.events.pgscan_direct)), RECLAIM),
    not_of_eras(subject("reclaimed directly", "pages", |m, _| m.events.pgsteal_direct as f64, |own| real(own.recorded.events.pgsteal_direct)), RECLAIM),
    not_replayed("scanned by kswapd", "pages", |own| real(own.recorded.events.pgscan_kswapd)),
    not_replayed("reclaimed by kswapd", "pages", |own| real(own.recorded.events.pgsteal_kswapd)),
    subject("zone lock holds", "holds", |m, _| m.locked.lock_holds as f64, |_| None),
    subject("most touched in one hold", "pages", |m, _| m.locked.longest_hold_touched as f64, |_| None),
    subject("requests below the low mark", "requests", |m, _| m.slow_paths as f64, |_| None),
];

/// Returns the name and the unit of every measure.
pub(super) fn names() -> Vec<(String, &'static str)> {
    let fixed = SUBJECTS.iter().map(|subject| (subject.name.to_owned(), subject.unit));
    let by_pair = pairs().map(|(wanted, found)| (format!("fallback {wanted} from {found}"), "events"));
    fixed.chain(by_pair).collect()
}

/// Returns for each measure the reason if eras do not model it; `None` if they do.
pub(super) fn why_not_of_eras() -> Vec<Option<&'static str>> {
    SUBJECTS.iter().map(|subject| subject.not_of_eras).chain(pairs().map(|_| None)).collect()
}

/// Returns the value of every measure in a replay; `None` if replays do not compute it.
pub(super) fn of_replay(measures: &Measures, pageblock_order: Order) -> Vec<Option<f64>> {
    let mut fallbacks = ByPair::default();
    for count in measures.samples.iter().flat_map(|sample| &sample.fallbacks) {
        fallbacks[count.wanted.index()][count.found.index()] += count.events;
    }
    let by_pair = pairs().map(|(wanted, found)| Some(fallbacks[wanted.index()][found.index()] as f64));
    let fixed = SUBJECTS.iter().map(|subject| subject.of.map(|of| of(measures, pageblock_order)));
    fixed.chain(by_pair).collect()
}

/// Returns the value of every measure on the machine; `None` if the recording lacks it.
pub(super) fn of_machine(own: &Own) -> Vec<Option<f64>> {
    let by_pair =
        pairs().map(|(wanted, found)| Some(own.fallbacks.as_ref()?[wanted.index()][found.index()] as f64));
    let fixed = SUBJECTS.iter().map(|subject| (subject.own)(own));
    fixed.chain(by_pair).collect()
}

/// Returns the value of every measure on the machine at the start; `None` for counts that begin with the recording.
pub(super) fn at_start(own: &Own) -> Vec<Option<f64>> {
    let fixed =
        SUBJECTS.iter().map(|subject| subject.at_start.and_then(|of| of(own)).map(|count| count as f64));
    fixed.chain(pairs().map(|_| None)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_have_unique_names_that_fit_the_table() {
        let names = names();
        for (number, (name, unit)) in names.iter().enumerate() {
            assert!(name.chars().count() <= 36 && !unit.is_empty(), "{name}");
            assert!(names[..number].iter().all(|(other, _)| other != name), "{name} twice");
        }
        assert_eq!(of_machine(&Own::default()).len(), names.len());
        assert_eq!(of_replay(&Measures::default(), Order::MAX_PAGE_ORDER).len(), names.len());
        assert_eq!(why_not_of_eras().len(), names.len());
    }
}
