//! Counts of fallbacks: requests answered with a block of another type.

use freehold::{MIGRATETYPES, Migratetype};
use freehold_trace::{EventKind, EventLog};
use serde::{Serialize, Serializer};

/// The number of fallbacks from one type to another.
///
/// Linux counterpart: `mm_page_alloc_extfrag`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct FallbackCount {
    /// The requested type.
    #[serde(serialize_with = "name")]
    pub wanted: Migratetype,
    /// The type of the found block.
    #[serde(serialize_with = "name")]
    pub found: Migratetype,
    /// True if the pageblock got the requested type (a claim); false if it kept its own (a steal).
    pub claimed: bool,
    /// The number of fallbacks.
    pub events: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn name<S: Serializer>(kind: &Migratetype, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

/// Fallbacks by requested type, by found type, and by claim or steal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fallbacks([[[u64; 2]; MIGRATETYPES]; MIGRATETYPES]);

impl Fallbacks {
    pub(crate) fn note(&mut self, wanted: Migratetype, found: Migratetype, claimed: bool) {
        self.0[wanted.index()][found.index()][usize::from(claimed)] += 1;
    }

    /// Returns an entry for each kind of fallback that occurred.
    pub(crate) fn counts(&self) -> Vec<FallbackCount> {
        let mut counts = Vec::new();
        for wanted in Migratetype::ALL {
            for found in Migratetype::ALL {
                for claimed in [false, true] {
                    let events = self.0[wanted.index()][found.index()][usize::from(claimed)];
                    if events > 0 {
                        counts.push(FallbackCount { wanted, found, claimed, events });
                    }
                }
            }
        }
        counts
    }
}

/// Returns the recorded fallbacks in each interval that ends at one of `times_ns`.
pub(crate) fn recorded_fallbacks(events: &EventLog, times_ns: &[u64]) -> Vec<Vec<FallbackCount>> {
    let mut rest = events.iter().peekable();
    let mut taken = |until_ns: u64, last: bool| {
        let mut seen = Fallbacks::default();
        while let Some(event) = rest.next_if(|event| last || event.time_ns < until_ns) {
            if let EventKind::ExtFrag { migratetype, fallback_migratetype, change_ownership, .. } = event.kind
            {
                seen.note(migratetype, fallback_migratetype, change_ownership);
            }
        }
        seen.counts()
    };
    let numbered = times_ns.iter().enumerate();
    numbered.map(|(number, &until_ns)| taken(until_ns, number + 1 == times_ns.len())).collect()
}
