//! All that touches a live Linux: readings of `/proc`, recordings through tracefs and the
//! import of trace texts.

mod clock;
mod error;
pub mod procfs;
mod sink;

pub use error::{Error, ParseError, SinkError};
pub use sink::{EventSink, MemorySink};
