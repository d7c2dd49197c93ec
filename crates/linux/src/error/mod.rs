//! What can go wrong on a live Linux: in come answers of the system, out come messages that say what to do.

mod bpf;
mod reading;

pub use bpf::BpfError;
pub use reading::{Error, ParseError, SinkError};
