//! A trace to share: a trace comes in; out goes one without the texts, pids and clock of its machine, of which every measure of a
//! comparison is the same.
//!
//! Frames, CPUs, orders, types and flags stay as they are: each of them decides where a replay places pages. `moments.rs` finds the
//! times that a replay depends on, and `shared_times.rs` moves all others. `unnamed.rs` keeps only texts of Linux's own and
//! renumbers tasks. `differing.rs` compares the result with the original.

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

/// What takes out of a trace the texts, pids and clock that name its machine.
#[derive(Clone, Debug)]
pub struct Anonymizer {
    times: SharedTimes,
    blur_ns: u64,
}

impl Anonymizer {
    /// Decides the times of the events of `lab`'s trace: each is moved by at most `blur_ns`, their order stays, and
    /// whatever a replay does by the time it does at the same events. Whoever knows the seed can narrow the blur.
    pub fn new(lab: &Lab<'_>, blur_ns: u64, seed: u64) -> Self {
        Self { times: SharedTimes::new(lab, blur_ns, seed), blur_ns }
    }

    /// Returns how many events keep their distance in time to the first one, besides those that kept it by chance.
    pub fn kept(&self) -> usize {
        self.times.kept
    }

    /// Returns the mean of what the times of all events are moved by, in nanoseconds.
    pub fn mean_move_ns(&self) -> f64 {
        self.times.mean_move_ns
    }

    /// Writes the trace without names; `reader` reads the trace of which this was made, from its first event on.
    ///
    /// # Errors
    /// Those of reading and of writing; what was written is then incomplete.
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
            // Events that were added to the file since have no times, and are left out.
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
