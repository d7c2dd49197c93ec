//! What the engine's tracepoints tell of a replay.

use std::cell::RefCell;

use freehold::{ExtFrag, MIGRATETYPES, Migratetype, OwnersFreeOnce, Tracepoints};
use freehold_measure::HoldTimer;
use freehold_measure::histogram::{ByPowerOfTwo, power_of_two};
use serde::{Serialize, Serializer};

use crate::one_thread::OneThread;

/// The locks of a replay, whose holds of the zone lock and whose fallbacks are noted.
pub(crate) type ReplayLocks = OwnersFreeOnce<(OneThread, OneThread, Watch)>;

/// Events by the type wanted, the type found, and whether the pageblock was claimed.
type Fallbacks = [[[u64; 2]; MIGRATETYPES]; MIGRATETYPES];

/// Requests that were answered from another type's block.
///
/// Linux counterpart: `mm_page_alloc_extfrag`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct FallbackCount {
    /// The type asked for.
    #[serde(serialize_with = "name")]
    pub wanted: Migratetype,
    /// The type whose list had the block.
    #[serde(serialize_with = "name")]
    pub found: Migratetype,
    /// Whether the block's pageblock is of the wanted type now: a claim, otherwise a steal.
    pub claimed: bool,
    /// How many.
    pub events: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn name<S: Serializer>(kind: &Migratetype, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

/// Notes the events of a replay while its hold timer is on.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) timer: HoldTimer,
    fallbacks: RefCell<Fallbacks>,
    /// Holds of zone locks by the pages and list nodes that each touched.
    touched: RefCell<ByPowerOfTwo>,
}

impl Tracepoints for Watch {
    type Since = u64;

    fn page_alloc_extfrag(&self, event: ExtFrag) {
        if self.timer.is_on() {
            let (wanted, found) = (event.alloc_migratetype, event.fallback_migratetype);
            let seen = &mut self.fallbacks.borrow_mut()[wanted.index()][found.index()];
            seen[usize::from(event.change_ownership)] += 1;
        }
    }

    #[inline]
    fn zone_lock_acquired(&self) -> u64 {
        self.timer.zone_lock_acquired()
    }

    #[inline]
    fn zone_lock_release(&self, since: u64, touched: u64) {
        if self.timer.is_on() {
            self.timer.zone_lock_release(since, touched);
            self.touched.borrow_mut()[power_of_two(touched)] += 1;
        }
    }
}

impl Watch {
    /// Begins a run; the first run forgets the times of all holds before.
    pub(crate) fn begin(&self, first_run: bool) {
        self.fallbacks.take();
        self.touched.take();
        self.timer.begin(first_run);
    }

    /// Returns the holds of zone locks since the run began, by the pages and list nodes that each touched.
    pub(crate) fn touched(&self) -> ByPowerOfTwo {
        *self.touched.borrow()
    }

    /// Returns the fallbacks since they were last taken.
    pub(crate) fn take_fallbacks(&self) -> Vec<FallbackCount> {
        counts(&self.fallbacks.take())
    }
}

fn counts(seen: &Fallbacks) -> Vec<FallbackCount> {
    let mut counts = Vec::new();
    for wanted in Migratetype::ALL {
        for found in Migratetype::ALL {
            for claimed in [false, true] {
                let events = seen[wanted.index()][found.index()][usize::from(claimed)];
                if events > 0 {
                    counts.push(FallbackCount { wanted, found, claimed, events });
                }
            }
        }
    }
    counts
}

/// The fallbacks that were recorded before each of `times_ns`, and since the one before it.
pub(crate) fn recorded_fallbacks(
    events: &freehold_trace::EventLog,
    times_ns: &[u64],
) -> Vec<Vec<FallbackCount>> {
    let mut rest = events.iter().peekable();
    let mut taken = |until_ns: u64, last: bool| {
        let mut seen = Fallbacks::default();
        while let Some(event) = rest.next_if(|event| last || event.time_ns < until_ns) {
            if let freehold_trace::EventKind::ExtFrag {
                migratetype,
                fallback_migratetype,
                change_ownership,
                ..
            } = event.kind
            {
                let found = &mut seen[migratetype.index()][fallback_migratetype.index()];
                found[usize::from(change_ownership)] += 1;
            }
        }
        counts(&seen)
    };
    let numbered = times_ns.iter().enumerate();
    numbered.map(|(number, &until_ns)| taken(until_ns, number + 1 == times_ns.len())).collect()
}
