//! Pageblocks: the words of `/proc/kpageflags` come in, a record of what each pageblock holds goes out.
//!
//! Totals cannot tell which pageblocks can become free as a whole, as one unmovable page holds a
//! pageblock. So each pageblock gets a record of a fixed size: a machine of 24 GiB takes a few buffers
//! and half a megabyte of records.
//!
//! Two things cannot be seen in `/proc/kpageflags`. Pages on per-CPU lists and of zsmalloc have no flag
//! and look like the kernel's own, and a page with an additional reference, which nothing moves, looks like any other of its kind.
//! BPF tells which are on lists ([`PerCpuFrames`]), and which are pinned ([`PinnedFrames`]).

mod block;
mod charges;
mod fold;
mod frame_use;
mod haste;
mod known;
mod map;
mod order;
mod per_cpu;
mod reader;
mod recount;
mod sampler;
mod slabs;
mod survey;
mod types;
mod unflagged;

pub(crate) use charges::cgroup_names;
pub(crate) use frame_use::{Use, Uses};

pub use block::{Held, Pageblock, SMALL_FOLIOS, STRIDES};
pub use charges::{Charge, read_charges};
pub use map::{PageblockMap, ZonePageblocks};
pub use order::pageblock_order;
pub use per_cpu::PerCpuFrames;
pub use reader::{PageblockReader, read_pageblocks};
pub use recount::recount_listed;
pub use sampler::PageblockSampler;
pub use slabs::{Slab, read_slabs};
pub use survey::{KnownTypes, Pace, Survey, Surveyed};
pub use types::{PageblockTypes, pageblock_types};
pub use unflagged::{PinnedFrames, Unflagged};
