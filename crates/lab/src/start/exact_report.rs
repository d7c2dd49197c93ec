//! What is told of a start that was read from the machine.

use freehold_measure::grouped;
use serde::Serialize;

/// How a start was read from the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ExactReport {
    /// The moment of the state, in nanoseconds on the trace's clock. Events up to it are not replayed.
    pub moment_ns: u64,
    /// How long reading took.
    ///
    /// Units: nanoseconds.
    pub window_ns: u64,
    /// How often the state was read until it was consistent.
    pub tries: u32,
    /// Pages in free blocks on the zones' lists.
    pub free_pages: u64,
    /// Pages on CPUs' lists.
    pub listed_pages: u64,
    /// CPUs and zones whose CPU lists could not be read.
    pub unread_cpus: u64,
    /// Pageblocks whose type could not be read: the fit gives it.
    pub unread_pageblocks: u64,
    /// Orders and CPUs whose count was another than that of their lists.
    pub unequal_counts: u64,
    /// Allocations and frees while the state was being read.
    pub events_meanwhile: u64,
    /// Frames that were changed to bring the state to one moment.
    pub changed_frames: u64,
    /// Events up to the moment: they are not replayed.
    pub events_before: u64,
}

impl ExactReport {
    /// Returns a line on the start.
    pub(super) fn sentence(&self) -> String {
        let quiet = self.events_meanwhile + self.changed_frames + self.unequal_counts == 0;
        let mut parts = vec![format!(
            "start state: exact, {} free pages and {} on CPUs' lists as the machine had them, read in {:.1} ms {}",
            grouped(self.free_pages),
            grouped(self.listed_pages),
            self.window_ns as f64 / 1e6,
            if quiet { "during which nothing happened" } else { "while the machine went on" }
        )];
        let told = [
            (self.events_meanwhile, "allocations and frees meanwhile"),
            (self.changed_frames, "frames reconciled"),
            (self.unequal_counts, "counts unequal to their lists"),
            (self.unread_cpus, "CPUs' lists not readable"),
            (self.unread_pageblocks, "pageblocks' types fitted"),
        ];
        let told = told.into_iter().filter(|&(number, _)| number > 0);
        parts.extend(told.map(|(number, what)| format!("{} {what}", grouped(number))));
        parts.join("; ")
    }
}
