//! tracefs: the binary ring buffers of an instance come in, events in the order of time go out.
//!
//! The layout of pages and events is not built in: it is read from the kernel (`events/header_page`, `events/kmem/*/format`).
//! `rings.rs` reads pages and `ring_page.rs` parses them, `decode.rs` and `decode_work.rs` the events in it, and `merge.rs` merges the CPUs by time.

mod buffers;
mod cexpr;
mod decode;
mod decode_work;
mod format;
mod gfp_table;
mod instance;
mod merge;
mod mount;
mod reaper;
mod ring_page;
mod rings;

pub use crate::events::{Detail, EventGroup};
pub use decode::{Decoded, Decoder, RawEvent};
pub use format::{EventFormat, Field, FormatError, parse_format};
pub use gfp_table::GfpTable;
pub use ring_page::{Missed, PageError, PageLayout, Record, Records, RingPage};

pub(super) use buffers::{Buffers, Tally};
pub(super) use instance::{Instance, TRACE_CLOCK, remove_stale};
pub(super) use merge::Merger;
pub(super) use mount::Tracefs;
pub(super) use rings::{CpuLoss, Part, Rings};
