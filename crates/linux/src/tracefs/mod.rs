//! Recording through tracefs: an instance of one's own, its binary ring buffers, and the
//! meaning of the events in them.
//!
//! Nothing about the layout of pages and events is built in: the kernel announces both
//! (`events/header_page`, `events/kmem/*/format`).

mod buffers;
mod cexpr;
mod decode;
mod decode_work;
mod format;
mod gfp_table;
mod groups;
mod instance;
mod merge;
mod mount;
mod reaper;
mod ring_page;

pub use decode::{Decoded, Decoder, Detail, RawEvent};
pub use format::{EventFormat, Field, FormatError, parse_format};
pub use gfp_table::GfpTable;
pub use groups::EventGroup;
pub use ring_page::{Missed, PageError, PageLayout, Record, Records, RingPage};

pub(crate) use buffers::{Buffers, CpuLoss, Tally};
pub(crate) use groups::optional_events;
pub(crate) use instance::{Instance, remove_stale};
pub(crate) use merge::Merger;
pub(crate) use mount::Tracefs;
