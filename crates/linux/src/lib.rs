//! All access to a live Linux: readings of `/proc`, recordings through tracefs, and the import of what
//! other tracers wrote.

pub mod blame;
pub mod callers;
mod clock;
mod error;
mod events;
mod excerpt;
pub mod ftrace_text;
mod import;
mod out_of_memory;
pub mod pageblocks;
pub mod perf_data;
pub mod procfs;
mod record;
mod reorder;
pub mod sample;
pub mod sensor;
mod sink;
pub mod tracefs;

pub use error::{Error, ParseError, PerfDataError, SinkError};
pub use excerpt::{Excerpt, open_log};
pub use import::{ImportOptions, Imported, import, read_events};
pub use out_of_memory::end_without_memory;
pub use record::{HeededSignals, Progress, RecordOptions, RecordReport, record, record_measured};
pub use sink::{EventSink, MemorySink, RingOptions, RingSink, TraceSink};
