//! Who holds the pages that nothing moves: frames of pageblocks come in, and what each run of unmovable pages is and which code
//! allocated it goes out.
//!
//! What a run is, its flags tell, and BPF what flags do not: the slab cache, kernel stacks, zsmalloc. Whose a pinned page is,
//! the page tables of processes tell. Which code allocated it,
//! `page_owner` tells where the kernel keeps it, and otherwise [`AllocationWatch`] of what was allocated while it watched.

mod allocations;
mod held;
mod mappers;
mod page_owner;
mod stacks;
mod symbols;
#[cfg(feature = "bpf")]
mod watch;
#[cfg(not(feature = "bpf"))]
#[path = "no_watch.rs"]
mod watch;
mod watched;

pub use allocations::{Allocation, Allocations};
pub use held::{
    HeldPages, Pin, PinOwner, What, leave_out_passing, name_by_bpf, name_by_cgroup, read_held_pages,
};
pub use mappers::name_by_mapping;
pub use page_owner::{PageOwner, parse_page_owner};
pub use stacks::{StackId, Stacks};
pub use symbols::Symbols;
pub use watch::AllocationWatch;
pub use watched::{Share, Watched};

/// Returns the time since the boot in nanoseconds, by the clock of [`Allocation::time_ns`].
pub fn now_ns() -> u64 {
    crate::clock::monotonic_ns()
}
