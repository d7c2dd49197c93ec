//! The trace format: page events, snapshots and provenance in an Arrow IPC stream.
//!
//! A trace is one file (`.arrows`). It has a header with the machine's state at the start and the trace's origin, one
//! row for each event in the order of time, and an ending. [`TraceWriter`] writes a trace. [`TraceReader`] reads a
//! trace, and checks every value. `docs/reference/trace-format.md` specifies the file for readers in other languages.
//!
//! This crate does not open files or read a clock. The caller provides sources and sinks.
#![forbid(unsafe_code)]

mod format;
mod model;
mod read;
mod recompress;
mod summary;
mod write;

pub use format::{FORMAT_VERSION, TraceError, event_names};
pub use model::{
    ByOrder, ByType, Disturbance, EXACT_VERSION, Ending, Event, EventKind, EventLog, ExactCompaction,
    ExactCpu, ExactList, ExactPart, ExactState, ExactZone, FrameUse, FreeCount, KernelType, KernelTypes,
    ObserverEffect, Origin, PageTypeInfo, PageTypeZone, PageWork, PageblockRun, Pageset, Quartiles, Run,
    RunTimes, SYSCTLS, Snapshot, StoppedBy, ZoneSnapshot,
};
pub use read::{ReadOptions, TraceReader};
pub use recompress::recompress;
pub use summary::{KindCounts, TraceFacts, TraceSummary};
pub use write::{EVENT_BYTES, TraceWriter, WriteOptions, event_batch, event_schema};
