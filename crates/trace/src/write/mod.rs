//! Writing: events come in, the bytes of a trace go out, a record batch at a time.

mod encode;
mod writer;

pub use writer::{TraceWriter, WriteOptions};
