//! What the engine's tracepoints tell of a replay on this thread.

use std::cell::RefCell;

use freehold::{ExtFrag, MIGRATETYPES, Migratetype, Tracepoints};
use freehold_measure::histogram::{ByPowerOfTwo, power_of_two};
use serde::{Serialize, Serializer};

use crate::hold_log;

/// Events by the type wanted, the type found, and whether the pageblock was claimed.
type Fallbacks = [[[u64; 2]; MIGRATETYPES]; MIGRATETYPES];

thread_local! {
    static FALLBACKS: RefCell<Fallbacks> = const { RefCell::new([[[0; 2]; MIGRATETYPES]; MIGRATETYPES]) };
    static HOLDS: RefCell<ByPowerOfTwo> = const { RefCell::new([0; 32]) };
}

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

/// Notes a replay's events in its thread.
#[derive(Debug)]
pub(crate) struct Watch;

impl Tracepoints for Watch {
    fn page_alloc_extfrag(event: ExtFrag) {
        if hold_log::is_recording() {
            let (wanted, found) = (event.alloc_migratetype, event.fallback_migratetype);
            FALLBACKS.with_borrow_mut(|seen| {
                seen[wanted.index()][found.index()][usize::from(event.change_ownership)] += 1;
            });
        }
    }

    fn zone_lock_release(touched: u64) {
        if hold_log::is_recording() {
            HOLDS.with_borrow_mut(|holds| holds[power_of_two(touched)] += 1);
        }
    }
}

/// Forgets what this thread noted.
pub(crate) fn start() {
    FALLBACKS.set(Fallbacks::default());
    HOLDS.set(ByPowerOfTwo::default());
}

/// The holds of zone locks since the start, by the pages and list nodes that each touched.
pub(crate) fn take_holds() -> ByPowerOfTwo {
    HOLDS.take()
}

/// The fallbacks since they were last taken.
pub(crate) fn take_fallbacks() -> Vec<FallbackCount> {
    counts(&FALLBACKS.take())
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
