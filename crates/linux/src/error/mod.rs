//! Errors on a live Linux: answers of the system come in, messages that say what to do go out.

mod bpf;
mod perf_data;
mod reading;

pub use bpf::BpfError;
pub use perf_data::PerfDataError;
pub use reading::{Error, ParseError, SinkError};
