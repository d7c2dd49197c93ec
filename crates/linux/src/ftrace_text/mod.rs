//! Texts of ftrace, `trace-cmd report`, `perf script` and bpftrace: lines come in, page events in the order of time
//! go out.

mod fields;
mod input;
mod line;
mod options;
mod read;

pub use input::MAX_LINE_BYTES;
pub use options::{PfnRadix, TextCounts, TextOptions};
pub use read::read_text_events;

pub(super) use input::{open_packed, unpack};
