//! Slab caches: objects of one size in slabs. Objects and slabs are never freed.

use freehold::{GfpFlags, Order};

use super::host::{Host, PageRequest, Task};
use super::users::Use;

/// The caches, all reclaimable, with the sizes of an x86-64 kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cache {
    /// `inode_cache` and its like.
    Inode,
    /// `dentry`.
    Dentry,
    /// `radix_tree_node`, which indexes the page cache.
    RadixTreeNode,
}

/// For each cache, the order of a slab and the number of objects in a slab.
const CACHES: [(Cache, u8, u16); 3] =
    [(Cache::Inode, 3, 27), (Cache::Dentry, 0, 21), (Cache::RadixTreeNode, 2, 28)];

/// The number of free objects in the newest slab of each cache.
#[derive(Clone, Debug, Default)]
pub(super) struct SlabCaches([u16; CACHES.len()]);

impl SlabCaches {
    /// Allocates an object, from a new slab if the newest is full. Returns false if there is no memory.
    pub(super) fn take(&mut self, host: &mut Host<'_, '_>, task: Task, cache: Cache) -> bool {
        let room = &mut self.0[cache as usize];
        if *room == 0 {
            *room = grow(host, task, cache).unwrap_or(0);
        }
        let is_taken = *room > 0;
        *room -= u16::from(is_taken);
        is_taken
    }
}

/// Adds a slab to a cache. Returns the number of its objects.
///
/// Linux counterpart: `allocate_slab`, which does not reclaim for a large slab if a small one would do.
fn grow(host: &mut Host<'_, '_>, task: Task, cache: Cache) -> Option<u16> {
    let (_, order, objects) = CACHES[cache as usize];
    let order = Order::new(order).unwrap_or(Order::ZERO);
    let gfp = GfpFlags::KERNEL | GfpFlags::COMP | GfpFlags::RECLAIMABLE;
    if order > Order::ZERO {
        let light = GfpFlags::NOWARN | GfpFlags::NORETRY | GfpFlags::NOMEMALLOC;
        let large =
            PageRequest { order, gfp: gfp.difference(GfpFlags::RECLAIM) | light, used_for: Use::Slab };
        if host.alloc(task, large).is_some() {
            return Some(objects);
        }
    }
    let small = PageRequest { order: Order::ZERO, gfp, used_for: Use::Slab };
    host.alloc(task, small).map(|_| (objects >> order.get()).max(1))
}
