//! Fills memory as after a long time in use.

use freehold::{GfpFlags, Order};

use super::host::{Host, PageRequest, Task};
use super::users::{Handle, Use};

/// The requests for long-lived pages, by type.
const SETTLED: [PageRequest; 3] = [
    PageRequest { order: Order::ZERO, gfp: GfpFlags::HIGHUSER_MOVABLE, used_for: Use::Pinned },
    PageRequest {
        order: Order::ZERO,
        gfp: GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE),
        used_for: Use::Slab,
    },
    PageRequest { order: Order::ZERO, gfp: GfpFlags::KERNEL, used_for: Use::Kernel },
];

/// The shares in which memory is filled: movable, reclaimable, unmovable.
pub(super) type Shares = [u64; 3];

/// Fills memory with single pages, in bursts of one type each, until `keep_free` pages are left.
///
/// Returns the pages by type, as [`Shares`] orders them.
pub(super) fn fill(host: &mut Host<'_, '_>, shares: Shares, keep_free: u64) -> [Vec<Handle>; 3] {
    let mut pages = [const { Vec::new() }; 3];
    let all: u64 = shares.iter().sum();
    while host.free_pages() > keep_free {
        let mut chosen = host.random.below(all);
        let mut kind = 0;
        while chosen >= shares[kind] {
            chosen -= shares[kind];
            kind += 1;
        }
        let task = Task { cpu: host.any_cpu(), pid: 1 };
        let burst = host.random.long_tailed(32, 2048);
        let taken = (0..burst).map_while(|_| host.alloc(task, SETTLED[kind])).collect::<Vec<_>>();
        if taken.is_empty() {
            break;
        }
        pages[kind].extend(taken);
    }
    pages
}

/// Frees one page in `one_in`, at random.
pub(super) fn free_here_and_there(host: &mut Host<'_, '_>, pages: &mut Vec<Handle>, one_in: u64) {
    let kept = Vec::with_capacity(pages.len());
    for page in std::mem::replace(pages, kept) {
        if host.random.one_in(one_in) {
            let task = Task { cpu: host.any_cpu(), pid: 1 };
            host.free(task, page);
        } else {
            pages.push(page);
        }
    }
}
