//! Sinks: the events of a recording or an import come in, a trace in a file or in memory goes out.
//!
//! `ring.rs` keeps segments in memory, each with a snapshot of its own, and passes on the last ones at the end.

mod event_sink;
mod memory;
mod ring;
mod trace_file;

pub use event_sink::EventSink;
pub use memory::MemorySink;
pub use ring::{RingOptions, RingSink};
pub use trace_file::TraceSink;
