//! Who holds unmovable pages: frames of pageblocks come in; the owner of each run of such pages, and the code that allocated it, go
//! out.
//!
//! `unmovable.rs` identifies pages by flags, by BPF (slab cache, kernel stack, kind of pin) and by cgroup; `mappers.rs` finds the
//! processes that map pinned pages. `page_owner.rs` reads the allocating code where the kernel keeps it, and
//! `owner_dump.rs` a dump of it that has no other file beside it. Otherwise
//! [`AllocationWatch`] records non-movable allocations with their stacks, for a share of the pageblocks that shrinks if it costs
//! too much time. `stacks.rs` and `symbols.rs` find the function that wanted the memory.

mod allocations;
mod mappers;
mod owner_dump;
mod page_owner;
mod stacks;
mod symbols;
mod unmovable;
#[cfg(feature = "bpf")]
mod watch;
#[cfg(not(feature = "bpf"))]
#[path = "no_watch.rs"]
mod watch;
mod watched;

pub use allocations::{Allocation, Allocations};
pub use mappers::name_by_mapping;
pub use owner_dump::{OwnerDumpCounts, OwnerRecord, read_owner_dump};
pub use page_owner::{PageOwner, parse_page_owner};
pub use stacks::{StackId, Stacks, who_wants};
pub use symbols::Symbols;
pub use unmovable::{
    Pin, PinOwner, UnmovablePages, What, leave_out_passing, name_by_bpf, name_by_cgroup, read_unmovable_pages,
};
pub use watch::AllocationWatch;
pub use watched::{Share, Watched};

/// Returns the time since the boot in nanoseconds, by the clock of [`Allocation::time_ns`].
pub fn now_ns() -> u64 {
    crate::clock::monotonic_ns()
}
