//! The report on an exact start.

use freehold_measure::grouped;
use serde::Serialize;

/// The report on an exact start: how the state was read from the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ExactReport {
    /// The moment of the state, in nanoseconds on the trace's clock. Events up to it are not replayed.
    pub moment_ns: u64,
    /// The duration of the reading.
    ///
    /// Units: nanoseconds.
    pub window_ns: u64,
    /// The number of readings until the state was consistent.
    pub tries: u32,
    /// Pages on the free lists of the zones.
    pub free_pages: u64,
    /// Pages on per-CPU lists.
    pub listed_pages: u64,
    /// Pairs of CPU and zone whose per-CPU lists could not be read.
    pub unread_cpus: u64,
    /// Pageblocks whose type could not be read and is fitted instead.
    pub unread_pageblocks: u64,
    /// Orders and CPUs whose count differs from the length of their lists.
    pub unequal_counts: u64,
    /// Allocations and frees during the reading.
    pub events_meanwhile: u64,
    /// Frames that were changed to get the state at one moment.
    pub changed_frames: u64,
    /// Events up to the moment: they are not replayed.
    pub events_before: u64,
}

impl ExactReport {
    /// Returns one line on the start.
    pub(super) fn sentence(&self) -> String {
        let quiet = self.events_meanwhile + self.changed_frames + self.unequal_counts == 0;
        let mut parts = vec![format!(
            "start state: exact, {} free pages and {} on CPUs' lists as the machine had them, read in {:.1} ms {}",
            grouped(self.free_pages),
            grouped(self.listed_pages),
            self.window_ns as f64 / 1e6,
            if quiet { "during which nothing happened" } else { "while the machine went on" }
        )];
        let details = [
            (self.events_meanwhile, "allocation or free meanwhile", "allocations and frees meanwhile"),
            (self.changed_frames, "frame reconciled", "frames reconciled"),
            (self.unequal_counts, "count unequal to its list", "counts unequal to their lists"),
            (self.unread_cpus, "CPU's list not readable", "CPUs' lists not readable"),
            (self.unread_pageblocks, "pageblock's type fitted", "pageblocks' types fitted"),
        ];
        let details = details.into_iter().filter(|&(number, ..)| number > 0);
        let text = |(number, one, several): (u64, &str, &str)| {
            format!("{} {}", grouped(number), if number == 1 { one } else { several })
        };
        parts.extend(details.map(text));
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_kind_is_singular() {
        let report = ExactReport { events_meanwhile: 1, changed_frames: 2, ..ExactReport::default() };
        let sentence = report.sentence();
        assert!(sentence.ends_with("; 1 allocation or free meanwhile; 2 frames reconciled"), "{sentence}");
    }
}
