//! All that touches a live Linux: readings of `/proc`, recordings through tracefs and the
//! import of trace texts.

mod clock;
mod error;
pub mod ftrace_text;
mod import;
pub mod pageblocks;
pub mod procfs;
mod record;
mod ring;
pub mod sample;
pub mod sensor;
mod sink;
pub mod tracefs;

pub use error::{Error, ParseError, SinkError};
pub use import::{ImportOptions, import};
pub use record::{Progress, RecordOptions, RecordReport, cpu_model, record, record_measured};
pub use ring::{RingOptions, RingSink};
pub use sink::{EventSink, MemorySink, TraceSink};
