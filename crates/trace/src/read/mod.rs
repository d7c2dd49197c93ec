//! Reading: in come bytes that nobody vouches for, out come events that were checked.

mod decode;
mod header;
mod message;
mod reader;

pub use reader::{ReadOptions, TraceReader};
