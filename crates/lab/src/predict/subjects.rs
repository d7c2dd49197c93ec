//! What is foretold: each measure's name, its value in a replay, and the machine's own.

use freehold::Order;

use super::own::{ByPair, Own, pairs};
use crate::replay::Measures;

/// The unit of measures that a pageblock of another size would count otherwise.
pub(super) const PAGEBLOCKS: &str = "pageblocks";

/// A measure: its name, its unit, its value in a replay with pageblocks of some order, and the machine's own.
struct Subject {
    name: &'static str,
    unit: &'static str,
    of: fn(&Measures, Order) -> Option<f64>,
    own: fn(&Own) -> Option<u64>,
}

const fn subject(
    name: &'static str,
    unit: &'static str,
    of: fn(&Measures, Order) -> Option<f64>,
    own: fn(&Own) -> Option<u64>,
) -> Subject {
    Subject { name, unit, of, own }
}

fn some(count: u64) -> Option<f64> {
    Some(count as f64)
}

/// Returns how many things there are of each; `None` of nothing.
fn share(things: u64, of: u64) -> Option<f64> {
    Some(if of == 0 { 0.0 } else { things as f64 / of as f64 })
}

/// Every measure but the fallbacks by pair of types.
#[rustfmt::skip]
static SUBJECTS: [Subject; 30] = [
    subject("free pageblocks at the end", PAGEBLOCKS, |m, _| some(m.free_pageblocks_at_end), |own| own.free_pageblocks),
    subject("free pageblocks, mean over time", PAGEBLOCKS, |m, order| Some(m.mean_usable(order)), |_| None),
    subject("mixed pageblocks at the end", PAGEBLOCKS, |m, _| some(m.mixed.end), |_| None),
    subject("pageblocks claimed", "events", |m, _| some(m.locked.claims), |own| own.claims_and_steals.map(|both| both.0)),
    subject("blocks stolen", "events", |m, _| some(m.locked.steals), |own| own.claims_and_steals.map(|both| both.1)),
    subject("refills", "refills", |m, _| some(m.locked.refills), |_| None),
    subject("blocks refilled", "blocks", |m, _| some(m.locked.refilled_blocks), |own| own.refilled_blocks),
    subject("blocks a refill", "blocks", |m, _| share(m.locked.refilled_blocks, m.locked.refills), |_| None),
    subject("drains", "drains", |m, _| some(m.locked.drains), |_| None),
    subject("pages drained", "pages", |m, _| some(m.locked.drained_pages), |own| own.drained_pages),
    subject("pages a drain", "pages", |m, _| share(m.locked.drained_pages, m.locked.drains), |_| None),
    subject("largest drain", "pages", |m, _| some(m.locked.largest_drain), |_| None),
    subject("pages on CPUs' lists at the end", "pages", |m, _| some(m.percpu_pages_at_end), |own| own.recorded.percpu_pages_at_end),
    subject("huge pages refused", "requests", |m, _| some(m.followed.huge_page_failures), |own| own.huge_pages_refused),
    subject("kcompactd wakes", "wakes", |m, _| some(m.events.compact_daemon_wake), |own| own.recorded.events.compact_daemon_wake),
    subject("direct compaction stalls", "requests", |m, _| some(m.events.compact_stall), |own| own.recorded.events.compact_stall),
    subject("direct compaction failures", "requests", |m, _| some(m.events.compact_fail), |own| own.recorded.events.compact_fail),
    subject("direct compaction successes", "requests", |m, _| some(m.events.compact_success), |own| own.recorded.events.compact_success),
    subject("pages moved", "pages", |m, _| some(m.events.pgmigrate_success), |own| own.recorded.events.pgmigrate_success),
    subject("pages that could not be moved", "pages", |m, _| some(m.events.pgmigrate_fail), |own| own.recorded.events.pgmigrate_fail),
    subject("scanned for pages to move", "pages", |m, _| some(m.events.compact_migrate_scanned), |own| own.recorded.events.compact_migrate_scanned),
    subject("scanned for free pages", "pages", |m, _| some(m.events.compact_free_scanned), |own| own.recorded.events.compact_free_scanned),
    subject("direct reclaim stalls", "requests", |m, _| some(m.events.allocstall), |own| own.recorded.events.allocstall),
    subject("scanned by direct reclaim", "pages", |m, _| some(m.events.pgscan_direct), |own| own.recorded.events.pgscan_direct),
    subject("reclaimed directly", "pages", |m, _| some(m.events.pgsteal_direct), |own| own.recorded.events.pgsteal_direct),
    subject("scanned by kswapd", "pages", |_, _| None, |own| own.recorded.events.pgscan_kswapd),
    subject("reclaimed by kswapd", "pages", |_, _| None, |own| own.recorded.events.pgsteal_kswapd),
    subject("zone lock holds", "holds", |m, _| some(m.locked.lock_holds), |_| None),
    subject("most touched in one hold", "pages", |m, _| some(m.locked.longest_hold_touched), |_| None),
    subject("requests below the low mark", "requests", |m, _| some(m.slow_paths), |_| None),
];

/// Returns the name and the unit of every measure.
pub(super) fn names() -> Vec<(String, &'static str)> {
    let fixed = SUBJECTS.iter().map(|subject| (subject.name.to_owned(), subject.unit));
    let by_pair = pairs().map(|(wanted, found)| (format!("fallback {wanted} from {found}"), "events"));
    fixed.chain(by_pair).collect()
}

/// Returns the value of every measure in a replay; `None` for what a replay does not do.
pub(super) fn of_replay(measures: &Measures, pageblock_order: Order) -> Vec<Option<f64>> {
    let mut fallbacks = ByPair::default();
    for count in measures.samples.iter().flat_map(|sample| &sample.fallbacks) {
        fallbacks[count.wanted.index()][count.found.index()] += count.events;
    }
    let by_pair = pairs().map(|(wanted, found)| some(fallbacks[wanted.index()][found.index()]));
    SUBJECTS.iter().map(|subject| (subject.of)(measures, pageblock_order)).chain(by_pair).collect()
}

/// Returns the machine's own value of every measure; `None` for what the recording does not tell.
pub(super) fn of_machine(own: &Own) -> Vec<Option<f64>> {
    let by_pair = pairs().map(|(wanted, found)| some(own.fallbacks.as_ref()?[wanted.index()][found.index()]));
    let fixed = SUBJECTS.iter().map(|subject| (subject.own)(own).map(|count| count as f64));
    fixed.chain(by_pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_has_a_name_of_its_own_that_fits_the_page() {
        let names = names();
        for (number, (name, unit)) in names.iter().enumerate() {
            assert!(name.chars().count() <= 36 && !unit.is_empty(), "{name}");
            assert!(names[..number].iter().all(|(other, _)| other != name), "{name} twice");
        }
        assert_eq!(of_machine(&Own::default()).len(), names.len());
        assert_eq!(of_replay(&Measures::default(), Order::MAX).len(), names.len());
    }
}
