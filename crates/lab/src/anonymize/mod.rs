//! Anonymization: a trace comes in; a trace without the texts, pids and clock of its machine goes out. Every measure
//! of a comparison stays the same.
//!
//! Frames, CPUs, orders, types and flags stay, because each of them affects where a replay places pages. `moments.rs`
//! finds the times that a replay depends on, and `shared_times.rs` moves all others. `unnamed.rs` keeps only texts of
//! Linux itself, and renumbers tasks. `differing.rs` compares the result with the original.

mod differing;
mod moments;
mod shared_times;
mod unnamed;

use std::io::{Read, Write};

use freehold_trace::{Event, TraceError, TraceReader, TraceWriter, WriteOptions};

use crate::replay::Lab;

pub use differing::{Differing, differing};
use shared_times::SharedTimes;
use unnamed::{Tasks, ending, origin, snapshot};

/// Removes the texts, pids and clock that identify a machine from its trace.
#[derive(Clone, Debug)]
pub struct Anonymizer {
    times: SharedTimes,
    blur_ns: u64,
}

impl Anonymizer {
    /// Chooses new times for the events of `lab`'s trace. Moves each time by at most `blur_ns` and keeps the order of
    /// events. Everything that a replay does at a given time stays at the same event. Knowledge of the seed makes the
    /// blur narrower.
    pub fn new(lab: &Lab<'_>, blur_ns: u64, seed: u64) -> Self {
        Self { times: SharedTimes::new(lab, blur_ns, seed), blur_ns }
    }

    /// Returns the number of events whose distance to the first event must stay, because a replay depends on it.
    pub fn kept(&self) -> usize {
        self.times.kept
    }

    /// Returns the mean distance by which event times move, in nanoseconds.
    pub fn mean_move_ns(&self) -> f64 {
        self.times.mean_move_ns
    }

    /// Writes the anonymized trace. `reader` must be at the first event of the trace of [`Self::new`].
    ///
    /// # Errors
    /// Errors of reading and of writing. The output is incomplete then.
    pub fn write<R: Read, W: Write>(
        &self,
        mut reader: TraceReader<R>,
        sink: W,
        options: WriteOptions,
    ) -> Result<W, TraceError> {
        let clock = self.times.clock;
        let start = snapshot(reader.start(), reader.start(), clock);
        let mut writer = TraceWriter::create(sink, options, &origin(reader.origin(), self.blur_ns), &start)?;
        let mut tasks = Tasks::default();
        let mut times = self.times.times_ns.iter().copied();
        while let Some(events) = reader.next_batch()? {
            // Events that were appended to the file since then have no times, and are left out.
            for (event, time_ns) in events.iter().zip(times.by_ref()) {
                writer.push(&Event { time_ns, pid: tasks.number(event.pid), ..*event })?;
            }
        }
        match reader.ending() {
            Some(end) => writer.finish(&ending(end, reader.start(), clock)),
            None => writer.abandon(),
        }
    }
}
