//! The trace format: page events, snapshots and provenance in an Arrow IPC stream.
//!
//! A trace is one file (`.arrows`): a header with where it comes from and the machine's
//! state at the start, one row an event sorted by time, and an ending. [`TraceWriter`]
//! writes it, [`TraceReader`] reads it and believes nothing that it has not checked.
//! `docs/trace-format.md` specifies the file for readers in other languages.
//!
//! Nothing here opens a file or reads a clock: sources and sinks are the caller's.
#![forbid(unsafe_code)]

mod closing;
mod decode;
mod effect;
mod encode;
mod error;
mod event;
mod event_log;
mod layout;
mod message;
mod provenance;
mod reader;
mod recompress;
mod row;
mod snapshot;
mod summary;
mod writer;
mod zones;

pub use effect::{ObserverEffect, Quartiles, RunTimes};
pub use error::TraceError;
pub use event::{Event, EventKind, PageWork};
pub use event_log::EventLog;
pub use layout::FORMAT_VERSION;
pub use provenance::{Disturbance, Ending, Origin, StoppedBy};
pub use reader::{ReadOptions, TraceReader};
pub use recompress::recompress;
pub use snapshot::{FrameUse, FreeCount, PageTypeInfo, PageTypeZone, Pageset, Run, Snapshot, ZoneSnapshot};
pub use summary::{KindCounts, TraceSummary};
pub use writer::{TraceWriter, WriteOptions};
