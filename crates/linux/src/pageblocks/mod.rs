//! Pageblocks: the words of `/proc/kpageflags` come in, a record of what each pageblock holds goes out.
//!
//! One unmovable page pins a pageblock, so totals are not enough: `fold.rs` makes a record of a fixed size for each pageblock.
//! `reader.rs` reads all at once, `survey.rs` a part at a time, faster if `haste.rs` says so. `known.rs` and `map.rs` know memory
//! that need not be read, `types.rs` the migratetypes. Flags do not show pages on per-CPU lists, zsmalloc, and additional
//! references (`unflagged.rs`). BPF shows the first and the last ([`PerCpuFrames`], [`PinnedFrames`]).

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

pub use block::{Pageblock, SMALL_FOLIOS, STRIDES, UnmovableKind};
pub use charges::{Charge, read_charges};
pub use map::{PageblockMap, ZonePageblocks};
pub use order::{pageblock_order, pageblock_order_with};
pub use per_cpu::PerCpuFrames;
pub use reader::{PageblockReader, read_pageblocks};
pub use recount::recount_listed;
pub use sampler::PageblockSampler;
pub use slabs::{Slab, read_slabs};
pub use survey::{KnownTypes, Pace, Survey, Surveyed};
pub use types::{PageblockTypes, pageblock_types};
pub use unflagged::{PinnedFrames, Unflagged};
