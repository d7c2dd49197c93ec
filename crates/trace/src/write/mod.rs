//! Writing: events come in; the bytes of a trace go out, one record batch at a time.

mod encode;
mod event_batch;
mod writer;

pub use event_batch::{EVENT_BYTES, event_batch, event_schema};
pub use writer::{TraceWriter, WriteOptions};
