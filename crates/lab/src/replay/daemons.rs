//! The kswapd and kcompactd of a replay.

use std::collections::HashSet;
use std::ops::Range;

use freehold::{Tunables, Zone};

use super::budget::Budget;
use super::clocks::TidyingClock;
use super::ledger::Holders;
use super::options::Background;

/// The number of events between two looks at the zones. A real daemon does not start at once either.
pub(crate) const EVENTS_PER_WAKE_UP: u32 = 64;

/// The pause after proactive compaction that left the node as fragmented as it was. Linux counterpart: the timeout
/// of `kcompactd`, 64 times half a second.
const PROACTIVE_PAUSE_NS: u64 = 32_000_000_000;

/// The number of calls that tidy pageblocks between two looks for proactive compaction. Linux counterpart:
/// `HPAGE_FRAG_CHECK_INTERVAL_MSEC`.
const STEPS_PER_WAKE_UP: u32 = 5;

/// The CPU on which the daemons run.
const CPU: u16 = 0;

/// Each node's kswapd and kcompactd.
///
/// What the machine's kswapd reclaimed is in the trace, as frees. What changes in the allocator while kswapd is
/// awake is done here: it is while the machine's reclaims, if the trace tells. The trace also has what the machine's
/// kcompactd moved, but not where to. So the replay's own kcompactd compacts instead, and only as often as the machine's
/// did, if the trace tells. Without that bound it would still compact where the machine's had deferred compaction long
/// ago.
pub(super) struct Daemons {
    events: u32,
    /// How often the machine's kcompactd has begun to compact a zone, less what the replay's own did of it: one
    /// for each round that was asked for, and one for each zone of a proactive round. `None` if the trace does
    /// not tell.
    begun: Option<u32>,
    /// The tasks that are the machine's kcompactd.
    kcompactd: HashSet<i32>,
    /// The events during which the machine's kswapd reclaims that are still to come or under way, the last ones first.
    reclaims: Vec<Range<usize>>,
    /// True while the machine's kswapd reclaims; `None` if the trace does not tell.
    machine_reclaims: Option<bool>,
    /// The event at which that changes.
    reclaim_changes: usize,
    /// Which nodes' kswapd is awake: one bit for each node; nodes 64 apart share a bit.
    awake: u64,
    /// The time before which no proactive compaction is tried.
    not_before_ns: u64,
    /// What moves pages although nobody waits for a block, and the time that is left for it.
    background: Background,
    budget: Budget,
    /// When pageblocks are tidied, and how often they were.
    tidying: TidyingClock,
    steps: u32,
}

impl Daemons {
    /// Returns the daemons of a trace. `kcompactd` are the tasks that are the machine's kcompactd, and `kswapd` the events
    /// during which its kswapd reclaimed, if the trace tells. The daemons look at the zones `shift` events earlier than
    /// they otherwise would. `background` is what moves pages unasked, and the time that it has.
    pub(super) fn new(
        kcompactd: Option<HashSet<i32>>,
        kswapd: Option<Vec<Range<usize>>>,
        start_ns: u64,
        shift: u32,
        (background, budget): (Background, Budget),
    ) -> Self {
        let machine_reclaims = kswapd.as_ref().map(|_| false);
        let mut reclaims = kswapd.unwrap_or_default();
        reclaims.reverse();
        Self {
            events: shift,
            begun: kcompactd.as_ref().map(|_| 0),
            kcompactd: kcompactd.unwrap_or_default(),
            machine_reclaims,
            reclaim_changes: reclaims.last().map_or(usize::MAX, |next| next.start),
            reclaims,
            awake: 0,
            not_before_ns: 0,
            background,
            budget,
            tidying: TidyingClock::new(start_ns),
            steps: 0,
        }
    }

    /// Notes that a task of the machine began to compact a zone.
    pub(super) fn compaction_begins(&mut self, pid: i32) {
        let is_daemon = self.kcompactd.contains(&pid);
        self.begun = self.begun.map(|begun| begun + u32::from(is_daemon));
    }

    /// Takes a turn of kcompactd. Returns true if it may compact: the machine's has begun more often so far, or
    /// the trace does not tell.
    fn take_turn(&mut self) -> bool {
        let may = self.begun != Some(0);
        self.begun = self.begun.map(|begun| begun.saturating_sub(1));
        may
    }

    /// Does what is due at an event: kswapd begins and ends with the machine's, and now and then the zones are looked at.
    #[inline]
    pub(super) fn at_event(&mut self, holders: &mut Holders<'_, '_>, number: usize, now_ns: u64) {
        if number >= self.reclaim_changes {
            self.follow_kswapd(holders, number);
        }
        self.events += 1;
        if self.events.is_multiple_of(EVENTS_PER_WAKE_UP) {
            self.look_after(holders);
            self.move_in_background(holders, now_ns);
        }
    }

    /// Lets kswapd begin or end as the machine's does.
    #[cold]
    fn follow_kswapd(&mut self, holders: &mut Holders<'_, '_>, number: usize) {
        while self.reclaims.last().is_some_and(|reclaim| reclaim.end <= number) {
            self.reclaims.pop();
        }
        let next = self.reclaims.last();
        let reclaims = next.is_some_and(|reclaim| reclaim.contains(&number));
        self.machine_reclaims = Some(reclaims);
        let change = |reclaim: &Range<usize>| if reclaims { reclaim.end } else { reclaim.start };
        self.reclaim_changes = next.map_or(usize::MAX, change);
        self.look_after(holders);
    }

    /// Wakes and puts to sleep the kswapd of each node, and lets kcompactd compact where it is wanted.
    ///
    /// kswapd is awake while the machine's reclaims. If the trace does not tell, it wakes if a request asked for it and no
    /// zone of the node is above its high mark, until one is. It takes the boosts back when it goes to sleep.
    fn look_after(&mut self, holders: &mut Holders<'_, '_>) {
        let memory = holders.memory();
        for zones in memory.zones().chunk_by(|a, b| a.node() == b.node()) {
            let node = zones[0].node();
            let bit = 1 << (node % 64);
            let was_awake = self.awake & bit != 0;
            let wanted = zones.iter().fold(false, |wanted, zone| zone.take_kswapd_wake() | wanted);
            let boosted = zones.iter().any(|zone| zone.watermark_boost() > 0);
            let is_awake = match self.machine_reclaims {
                Some(reclaims) => reclaims,
                None => (was_awake || wanted) && !zones.iter().any(Zone::is_balanced),
            };
            if is_awake != was_awake {
                for zone in zones {
                    zone.set_reclaim_active(is_awake);
                }
                self.awake ^= bit;
            }
            if !is_awake && (boosted || was_awake) {
                // Takes the boosts back, and wakes kcompactd.
                memory.kswapd(node, CPU, holders);
            }
            if memory.is_kcompactd_wanted(node) && self.take_turn() {
                memory.kcompactd(node, CPU, holders);
            } else if self.begun.is_some_and(|begun| begun > 0) && memory.should_compact_proactively(node) {
                // The machine's kcompactd compacted although nobody had asked for it and kswapd was asleep: it
                // was proactive, and began once for each of the node's zones.
                self.begun = self.begun.map(|begun| begun.saturating_sub(zones.len() as u32));
                memory.compact_proactively(node, CPU, holders);
            }
        }
    }

    /// Moves pages that nobody asked to be moved, if it is time and there is time left for it.
    fn move_in_background(&mut self, holders: &mut Holders<'_, '_>, now_ns: u64) {
        if !self.tidying.is_due(now_ns) {
            return;
        }
        self.steps += 1;
        let memory = holders.memory();
        for zones in memory.zones().chunk_by(|a, b| a.node() == b.node()) {
            let (node, pages) = (zones[0].node(), self.budget.pages(now_ns));
            if pages == 0 {
                continue;
            }
            let is_awake = self.awake & 1 << (node % 64) != 0;
            let is_due = self.steps.is_multiple_of(STEPS_PER_WAKE_UP) && !is_awake;
            let tried = holders.unasked(pages, |holders| match self.background {
                Background::OfVariant => memory.tidy_pageblocks(node, CPU, pages, holders),
                Background::ProactiveCompaction if is_due => {
                    // Only here: the machine's own kcompactd was as eager as it was set.
                    let as_recorded = memory.tunables();
                    memory.set_tunables(Tunables { compaction_proactiveness: 100, ..as_recorded });
                    if memory.should_compact_proactively(node) {
                        memory.compact_proactively(node, CPU, holders);
                    }
                    memory.set_tunables(as_recorded);
                }
                Background::ProactiveCompaction => {}
            });
            self.budget.spend(tried);
        }
    }

    /// Compacts the nodes that are too fragmented and whose kswapd is asleep.
    pub(super) fn compact_proactively(&mut self, holders: &mut Holders<'_, '_>, now_ns: u64) {
        let memory = holders.memory();
        let has_budget = self.background == Background::ProactiveCompaction;
        if has_budget || now_ns < self.not_before_ns || self.begun.is_some() {
            return;
        }
        for zones in memory.zones().chunk_by(|a, b| a.node() == b.node()) {
            let node = zones[0].node();
            let is_awake = self.awake & 1 << (node % 64) != 0;
            if is_awake || !memory.should_compact_proactively(node) {
                continue;
            }
            if !memory.compact_proactively(node, CPU, holders) {
                self.not_before_ns = now_ns.saturating_add(PROACTIVE_PAUSE_NS);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unasked() -> (Background, Budget) {
        (Background::OfVariant, Budget::new(1, 0))
    }

    #[test]
    fn kcompactd_works_as_often_as_the_machines() {
        let mut told = Daemons::new(Some(HashSet::from([7])), None, 0, 0, unasked());
        assert!(!told.take_turn());
        told.compaction_begins(8);
        assert!(!told.take_turn(), "a request for itself");
        told.compaction_begins(7);
        assert!(told.take_turn() && !told.take_turn());
        let mut untraced = Daemons::new(None, None, 0, 0, unasked());
        untraced.compaction_begins(7);
        assert!(untraced.take_turn() && untraced.take_turn());
    }
}
