//! The numbers by which replays are compared.

use freehold::Order;

use crate::recorded::Recorded;
use crate::replay::Measures;

/// A number by which replays are compared.
pub(super) struct Subject {
    /// The name: a plural noun that can follow "fewer" and "more".
    pub(super) name: &'static str,
    /// The unit in tables.
    pub(super) unit: &'static str,
    pub(super) kind: Kind,
    /// Returns the value in a replay with pageblocks of the given order.
    pub(super) of: fn(&Measures, Order) -> f64,
    /// Returns the value of the machine; `None` if the trace lacks it.
    pub(super) machine: fn(&OfMachine<'_>) -> Option<u64>,
}

/// The meaning of a number for an allocator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A result of the allocator.
    Outcome,
    /// A cost of the result.
    Cost,
    /// The way to the result.
    Way,
    /// A sum whose parts are also subjects.
    Sum,
}

/// The values of the recorded machine.
pub(super) struct OfMachine<'r> {
    pub(super) recorded: &'r Recorded,
    pub(super) free_pageblocks: Option<u64>,
}

/// The values of all subjects in one replay.
pub(crate) type Values = [f64; SUBJECTS.len()];

const fn subject(
    name: &'static str,
    unit: &'static str,
    kind: Kind,
    of: fn(&Measures, Order) -> f64,
) -> Subject {
    Subject { name, unit, kind, of, machine: |_| None }
}

const fn reported(mut subject: Subject, machine: fn(&OfMachine<'_>) -> Option<u64>) -> Subject {
    subject.machine = machine;
    subject
}

fn fallbacks(of: &OfMachine<'_>, value: u64) -> Option<u64> {
    of.recorded.has_fallbacks.then_some(value)
}

/// Every subject, the most important of its kind first.
#[rustfmt::skip]
pub(super) static SUBJECTS: [Subject; 20] = [
    reported(subject("free pageblocks at the end", "pageblocks", Kind::Outcome, |m, _| m.free_pageblocks_at_end as f64), |of| of.free_pageblocks),
    subject("free pageblocks, mean over time", "pageblocks", Kind::Outcome, Measures::mean_free_pageblocks),
    subject("mixed pageblocks at the end", "pageblocks", Kind::Outcome, |m, _| m.mixed.end as f64),
    reported(subject("steals", "", Kind::Outcome, |m, _| m.locked.steals as f64), |of| fallbacks(of, of.recorded.steals)),
    reported(subject("claims", "", Kind::Outcome, |m, _| m.locked.claims as f64), |of| fallbacks(of, of.recorded.claims)),
    subject("failed requests", "", Kind::Outcome, |m, _| m.failed() as f64),
    subject("huge pages in use at the end", "", Kind::Outcome, |m, _| m.followed.huge_pages_in_use_at_end as f64),
    reported(subject("huge pages refused", "", Kind::Outcome, |m, _| m.followed.huge_page_failures as f64), |of| of.recorded.events.thp_fault_fallback),
    subject("requests answered from another type's block", "", Kind::Outcome, |m, _| m.type_mismatches as f64),
    subject("free blocks on another type's list", "", Kind::Outcome, |m, _| m.locked.hygiene_violations as f64),
    subject("list nodes for a reader of pagetypeinfo", "", Kind::Outcome, |m, _| m.nodes.end as f64),
    subject("claim attempts", "", Kind::Way, |m, _| m.locked.claim_attempts as f64),
    subject("fallback searches", "", Kind::Way, |m, _| m.locked.fallback_searches as f64),
    subject("zone lock holds", "", Kind::Cost, |m, _| m.locked.lock_holds as f64),
    subject("pages touched in the longest hold", "pages", Kind::Cost, |m, _| m.locked.longest_hold_touched as f64),
    subject("pages in the largest drain", "pages", Kind::Cost, |m, _| m.locked.largest_drain as f64),
    reported(subject("blocks refilled to CPUs' lists", "", Kind::Cost, |m, _| m.locked.refilled_blocks as f64), |of| of.recorded.refilled_blocks),
    reported(subject("pages on CPUs' lists at the end", "pages", Kind::Cost, |m, _| m.percpu_pages_at_end as f64), |of| of.recorded.percpu_pages_at_end),
    reported(subject("pages moved", "pages", Kind::Cost, |m, _| m.events.pgmigrate_success as f64), |of| of.recorded.events.pgmigrate_success),
    reported(subject("fallback events", "", Kind::Sum, |m, _| (m.locked.claims + m.locked.steals) as f64), |of| fallbacks(of, of.recorded.claims + of.recorded.steals)),
];

/// Returns the values of all subjects in one replay.
pub(crate) fn values(measures: &Measures, pageblock_order: Order) -> Values {
    std::array::from_fn(|number| (SUBJECTS[number].of)(measures, pageblock_order))
}
