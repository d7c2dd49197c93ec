//! Pageblocks: in come the words of `/proc/kpageflags`, out comes a record of what each pageblock holds.
//!
//! No total tells which pageblocks can become free as a whole: one page of the kernel's own holds a
//! pageblock. So each pageblock gets a record, of a fixed size: reading a machine of 24 GiB takes a few
//! buffers and half a megabyte of records.
//!
//! What cannot be seen from there is said where it matters: pages on per-CPU lists have no flag and look
//! like the kernel's own, and so do pages of zsmalloc; a page that somebody holds a further reference to
//! looks like any other of its kind.

mod block;
mod charges;
mod fold;
mod map;
mod order;
mod reader;
mod slabs;
mod survey;

pub use block::{Held, Pageblock, STRIDES};
pub use charges::{Charge, read_charges};
pub use map::{PageblockMap, ZonePageblocks};
pub use order::pageblock_order;
pub use reader::{PageblockReader, read_pageblocks};
pub use slabs::{Slab, read_slabs};
pub use survey::{Pace, Survey, Surveyed};
