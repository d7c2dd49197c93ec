//! Files of `perf record`: records of the kernel come in, page events in the order of time go out.
//!
//! The layout of events is not built in: the file holds a copy of the kernel's own descriptions. No number of
//! the file's is used before it was compared with the file's length.
//!
//! Source: `tools/perf/Documentation/perf.data-file-format.txt`, `include/uapi/linux/perf_event.h`,
//! `tools/perf/util/trace-event-info.c`.

mod attributes;
mod bytes;
mod file;
mod losses;
mod read;
mod records;
mod sample;
mod tracing_data;
mod unpack;

pub use file::{PerfData, looks_like_perf_data};
pub use read::{PerfCounts, PerfOptions};
