//! The kswapd and kcompactd of a replay.

use std::collections::HashSet;
use std::ops::Range;

use freehold::{Tunables, Zone};

use super::budget::Budget;
use super::clocks::TidyingClock;
use super::ledger::Holders;
use super::options::Background;

/// The number of events between two wake-ups of the daemons. Real daemons also start with a delay.
pub(crate) const EVENTS_PER_WAKE_UP: u32 = 64;

/// The pause after proactive compaction that left the node as fragmented as it was. Linux counterpart: the timeout
/// of `kcompactd`, 64 times half a second.
const PROACTIVE_PAUSE_NS: u64 = 32_000_000_000;

/// The number of tidying steps between two checks for proactive compaction. Linux counterpart:
/// `HPAGE_FRAG_CHECK_INTERVAL_MSEC`.
const STEPS_PER_WAKE_UP: u32 = 5;

/// The CPU on which the daemons run.
const CPU: u16 = 0;

/// The kswapd and kcompactd of each node.
///
/// Pages that the machine's kswapd reclaimed are frees in the trace. The replay only makes the changes in the allocator
/// that depend on kswapd being awake. It is awake while the machine's kswapd reclaims, if the trace records that.
///
/// The trace does not record where the machine's kcompactd moved pages. The replay's own kcompactd compacts instead,
/// but only as often as the machine's, if the trace records that. Without this limit it would continue to compact
/// when the machine's kcompactd had deferred compaction.
pub(super) struct Daemons {
    events: u32,
    /// The number of zone compactions that the machine's kcompactd has begun, minus those of the replay: one for each
    /// requested round, and one for each zone of a proactive round. `None` if the trace does not record them.
    begun: Option<u32>,
    /// The kcompactd tasks of the machine.
    kcompactd: HashSet<i32>,
    /// The current and future event ranges in which the machine's kswapd reclaims, the last ones first.
    reclaims: Vec<Range<usize>>,
    /// True while the machine's kswapd reclaims; `None` if the trace does not record that.
    machine_reclaims: Option<bool>,
    /// The event at which `machine_reclaims` changes.
    reclaim_changes: usize,
    /// One bit for each node whose kswapd is awake; nodes 64 apart share a bit.
    awake: u64,
    /// The end of the pause in proactive compaction.
    not_before_ns: u64,
    /// The kind of background moves, and the remaining time budget.
    background: Background,
    budget: Budget,
    /// The clock of tidying, and the number of steps so far.
    tidying: TidyingClock,
    steps: u32,
}

impl Daemons {
    /// Returns the daemons of a trace. `kcompactd` are the kcompactd tasks of the machine, and `kswapd` the event
    /// ranges in which its kswapd reclaimed; `None` if the trace does not record them. The daemons wake up `shift`
    /// events earlier than without jitter. `background` is the kind of background moves with its time budget.
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

    /// Records that a task of the machine began to compact a zone.
    pub(super) fn compaction_begins(&mut self, pid: i32) {
        let is_daemon = self.kcompactd.contains(&pid);
        self.begun = self.begun.map(|begun| begun + u32::from(is_daemon));
    }

    /// Takes a turn of kcompactd. Returns true if it may compact: the machine's kcompactd has compacted more often so
    /// far, or the trace does not record that.
    fn take_turn(&mut self) -> bool {
        let may = self.begun != Some(0);
        self.begun = self.begun.map(|begun| begun.saturating_sub(1));
        may
    }

    /// Does the work due at an event: starts and stops kswapd with that of the machine, and wakes up the daemons every
    /// [`EVENTS_PER_WAKE_UP`] events.
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

    /// Starts or stops kswapd when that of the machine does.
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

    /// Wakes the kswapd of each node or puts it to sleep, and compacts in nodes whose kcompactd was woken.
    ///
    /// kswapd is awake while that of the machine reclaims. If the trace does not record that, kswapd wakes for a
    /// request if no zone of the node is above its high watermark, and sleeps when one is. It removes the boosts when
    /// it goes to sleep.
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
                // Removes the boosts, and wakes kcompactd.
                memory.kswapd(node, CPU, holders);
            }
            if memory.is_kcompactd_wanted(node) && self.take_turn() {
                memory.kcompactd(node, CPU, holders);
            } else if self.begun.is_some_and(|begun| begun > 0) && memory.should_compact_proactively(node) {
                // The machine's kcompactd compacted without a request while kswapd was asleep: this was a proactive
                // round, with one compaction for each zone of the node.
                self.begun = self.begun.map(|begun| begun.saturating_sub(zones.len() as u32));
                memory.compact_proactively(node, CPU, holders);
            }
        }
    }

    /// Moves pages in the background, if a step is due and the budget allows it.
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
            let tried = holders.in_background(pages, |holders| match self.background {
                Background::OfVariant => memory.tidy_pageblocks(node, CPU, pages, holders),
                Background::ProactiveCompaction if is_due => {
                    // Only for this call: otherwise kcompactd has the recorded setting.
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

    /// Compacts nodes that are too fragmented and whose kswapd is asleep.
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

    fn no_moves() -> (Background, Budget) {
        (Background::OfVariant, Budget::new(1, 0))
    }

    #[test]
    fn kcompactd_compacts_as_often_as_on_the_machine() {
        let mut recorded = Daemons::new(Some(HashSet::from([7])), None, 0, 0, no_moves());
        assert!(!recorded.take_turn());
        recorded.compaction_begins(8);
        assert!(!recorded.take_turn(), "direct compaction");
        recorded.compaction_begins(7);
        assert!(recorded.take_turn() && !recorded.take_turn());
        let mut untraced = Daemons::new(None, None, 0, 0, no_moves());
        untraced.compaction_begins(7);
        assert!(untraced.take_turn() && untraced.take_turn());
    }
}
