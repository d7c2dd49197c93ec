//! tracefs: in come the binary ring buffers of an instance of one's own, out come events in the order of time.
//!
//! Nothing about the layout of pages and events is built in: the kernel announces both
//! (`events/header_page`, `events/kmem/*/format`).

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

pub use crate::events::{Detail, EventGroup};
pub use decode::{Decoded, Decoder, RawEvent};
pub use format::{EventFormat, Field, FormatError, parse_format};
pub use gfp_table::GfpTable;
pub use ring_page::{Missed, PageError, PageLayout, Record, Records, RingPage};

pub(super) use buffers::{Buffers, CpuLoss, Tally};
pub(super) use instance::{Instance, remove_stale};
pub(super) use merge::Merger;
pub(super) use mount::Tracefs;
