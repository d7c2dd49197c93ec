//! Errors on a live Linux: answers of the system come in, messages that say what to do go out.

mod bpf;
mod reading;

pub use bpf::BpfError;
pub use reading::{Error, ParseError, SinkError};
