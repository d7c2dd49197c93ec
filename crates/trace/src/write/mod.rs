//! Writing: in come events, out go the bytes of a trace, a record batch at a time.

mod encode;
mod writer;

pub use writer::{TraceWriter, WriteOptions};
