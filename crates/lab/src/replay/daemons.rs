//! kswapd and kcompactd of a replay.

use std::collections::HashSet;

use freehold::Zone;

use super::ledger::Holders;

/// Events between two looks at the zones; daemons do not start at once either.
pub(crate) const EVENTS_A_LOOK: u32 = 64;

/// The time for which proactive compaction that did not help is left out.
/// Linux counterpart: `proactive_defer`, 64 times half a second.
const PROACTIVE_PAUSE_NS: u64 = 32_000_000_000;

/// Time between two calls to sort pageblocks.
const SORTING_STEP_NS: u64 = 100_000_000;

/// Pages after which such a call stops: 160 MiB a second at the most, of 4 KiB pages.
const SORTED_PAGES: u64 = 4096;

/// The CPU on which they run.
const CPU: u16 = 0;

/// Each node's kswapd and kcompactd.
///
/// What kswapd reclaimed is in the trace, as frees; what its being awake changes in the
/// allocator is done here. What kcompactd moved is in the trace too, but not where it went: the
/// replay's own compacts instead, as often as the machine did if the trace tells. Without that it
/// would work where the machine's had deferred it long ago.
pub(super) struct Daemons {
    events: u32,
    /// Times that the machine's kcompactd began to compact a zone, less the rounds of the replay's
    /// and the zones that it went over unasked; `None` where the trace does not tell of them.
    begun: Option<u32>,
    /// The tasks that are the machine's.
    kcompactd: HashSet<i32>,
    /// Whose kswapd is awake: one bit a node; nodes 64 apart share one.
    awake: u64,
    /// When proactive compaction may be tried again.
    not_before_ns: u64,
    /// When pageblocks are sorted next.
    sort_ns: u64,
}

impl Daemons {
    /// Daemons of a trace in which these tasks are kcompactd, if it tells. They look `shift` events
    /// earlier than they would.
    pub(super) fn new(kcompactd: Option<HashSet<i32>>, start_ns: u64, shift: u32) -> Self {
        Self {
            events: shift,
            begun: kcompactd.as_ref().map(|_| 0),
            kcompactd: kcompactd.unwrap_or_default(),
            awake: 0,
            not_before_ns: 0,
            sort_ns: start_ns.saturating_add(SORTING_STEP_NS),
        }
    }

    /// A task of the machine began to compact a zone.
    pub(super) fn compaction_begins(&mut self, pid: i32) {
        let is_daemon = self.kcompactd.contains(&pid);
        self.begun = self.begun.map(|begun| begun + u32::from(is_daemon));
    }

    /// Whether kcompactd may work now; if so, it has.
    fn may_compact(&mut self) -> bool {
        let may = self.begun != Some(0);
        self.begun = self.begun.map(|begun| begun.saturating_sub(1));
        may
    }

    /// Counts an event; whether it is time for a look.
    #[inline]
    pub(super) fn are_due(&mut self) -> bool {
        self.events += 1;
        self.events.is_multiple_of(EVENTS_A_LOOK)
    }

    /// Wakes the kswapd of each node that a request asked for and that has no zone above its
    /// high mark; puts it to sleep, the boosts gone, once one is. Lets kcompactd work where it
    /// was asked for.
    pub(super) fn look_after(&mut self, holders: &mut Holders<'_, '_>) {
        let memory = holders.memory();
        for zones in memory.zones().chunk_by(|a, b| a.node() == b.node()) {
            let node = zones[0].node();
            let bit = 1 << (node % 64);
            let was_awake = self.awake & bit != 0;
            let wanted = zones.iter().fold(false, |wanted, zone| zone.take_kswapd_wake() | wanted);
            let boosted = zones.iter().any(|zone| zone.watermark_boost() > 0);
            let is_awake = (was_awake || wanted) && !zones.iter().any(Zone::is_balanced);
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
            if memory.is_kcompactd_wanted(node) && self.may_compact() {
                memory.kcompactd(node, CPU, holders);
            } else if self.begun.is_some_and(|begun| begun > 0) && memory.should_compact_proactively(node) {
                // Nobody had asked the machine's either, whose kswapd was asleep: it went over all of
                // the node's zones.
                self.begun = self.begun.map(|begun| begun.saturating_sub(zones.len() as u32));
                memory.compact_proactively(node, CPU, holders);
            }
        }
    }

    /// Sorts pageblocks where it is time and the era does.
    pub(super) fn sort_pageblocks(&mut self, holders: &mut Holders<'_, '_>, now_ns: u64) {
        if now_ns < self.sort_ns {
            return;
        }
        self.sort_ns = now_ns.saturating_add(SORTING_STEP_NS);
        let memory = holders.memory();
        for zones in memory.zones().chunk_by(|a, b| a.node() == b.node()) {
            memory.sort_pageblocks(zones[0].node(), SORTED_PAGES, holders);
        }
    }

    /// Compacts nodes that are too fragmented, kswapd being asleep.
    pub(super) fn compact_proactively(&mut self, holders: &mut Holders<'_, '_>, now_ns: u64) {
        let memory = holders.memory();
        if now_ns < self.not_before_ns || self.begun.is_some() {
            return;
        }
        for zones in memory.zones().chunk_by(|a, b| a.node() == b.node()) {
            let node = zones[0].node();
            let is_awake = self.awake & 1 << (node % 64) != 0;
            if is_awake || !memory.should_compact_proactively(node) {
                continue;
            }
            memory.compact_proactively(node, CPU, holders);
            if memory.should_compact_proactively(node) {
                self.not_before_ns = now_ns.saturating_add(PROACTIVE_PAUSE_NS);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kcompactd_works_as_often_as_the_machines() {
        let mut told = Daemons::new(Some(HashSet::from([7])), 0, 0);
        assert!(!told.may_compact());
        told.compaction_begins(8);
        assert!(!told.may_compact(), "a request for itself");
        told.compaction_begins(7);
        assert!(told.may_compact() && !told.may_compact());
        let mut untold = Daemons::new(None, 0, 0);
        untold.compaction_begins(7);
        assert!(untold.may_compact() && untold.may_compact());
    }
}
