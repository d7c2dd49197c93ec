//! Slab caches: objects of one size in slabs, which are freed when they become empty.

use freehold::{GfpFlags, Order};

use super::host::{Ask, Host, Task};
use super::users::{Handle, Use};

/// Empty slabs that a cache keeps. Linux counterpart: `min_partial`.
const MIN_PARTIAL: usize = 5;

/// The caches, with sizes of an x86-64 kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cache {
    /// `inode_cache` and its like: reclaimable.
    Inode,
    /// `dentry`: reclaimable.
    Dentry,
    /// `radix_tree_node`, which indexes the page cache: reclaimable.
    RadixTreeNode,
    /// `task_struct`.
    Task,
    /// `vm_area_struct`, `anon_vma` and their like.
    Mapping,
    /// `filp`.
    OpenFile,
    /// `kmalloc-1k`: buffers of sockets and drivers.
    Buffer,
}

/// For each cache: order of a slab, objects in a slab, true if reclaimable.
const CACHES: [(Cache, u8, u16, bool); 7] = [
    (Cache::Inode, 3, 27, true),
    (Cache::Dentry, 0, 21, true),
    (Cache::RadixTreeNode, 2, 28, true),
    (Cache::Task, 3, 4, false),
    (Cache::Mapping, 0, 20, false),
    (Cache::OpenFile, 1, 32, false),
    (Cache::Buffer, 3, 32, false),
];

/// An object of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Object {
    cache: u8,
    slab: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slab {
    pages: Handle,
    used: u16,
    holds: u16,
    /// Its index in the list of slabs with room.
    place: u32,
}

const FULL: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
struct Slabs {
    all: Vec<Slab>,
    vacant: Vec<u32>,
    /// Slabs with room for an object. The last one is used first.
    partial: Vec<u32>,
}

/// All slab caches of a machine.
#[derive(Clone, Debug, Default)]
pub(super) struct SlabCaches([Slabs; CACHES.len()]);

impl SlabCaches {
    /// Allocates an object, from a new slab if no slab has room; `None` if there is no memory.
    pub(super) fn take(&mut self, host: &mut Host<'_, '_>, task: Task, cache: Cache) -> Option<Object> {
        let number = cache as usize;
        let slabs = &mut self.0[number];
        let slab = match slabs.partial.last() {
            Some(&slab) => slab,
            None => slabs.grow(host, task, number)?,
        };
        let entry = &mut slabs.all[slab as usize];
        entry.used += 1;
        if entry.used == entry.holds {
            entry.place = FULL;
            slabs.partial.pop();
        }
        Some(Object { cache: number as u8, slab })
    }

    /// Frees an object, and its slab if it was the last one there.
    pub(super) fn give_back(&mut self, host: &mut Host<'_, '_>, task: Task, object: Object) {
        let slabs = &mut self.0[usize::from(object.cache)];
        let entry = &mut slabs.all[object.slab as usize];
        entry.used -= 1;
        if entry.place == FULL {
            entry.place = slabs.partial.len() as u32;
            slabs.partial.push(object.slab);
        }
        if slabs.all[object.slab as usize].used == 0 && slabs.partial.len() > MIN_PARTIAL {
            slabs.discard(host, task, object.slab);
        }
    }
}

impl Slabs {
    /// Adds a slab to a cache. Linux counterpart: `allocate_slab`, which does not reclaim for a large slab if a
    /// small one would do.
    fn grow(&mut self, host: &mut Host<'_, '_>, task: Task, number: usize) -> Option<u32> {
        let (_, order, objects, is_reclaimable) = CACHES[number];
        let order = Order::new(order).unwrap_or(Order::ZERO);
        let mut gfp = GfpFlags::KERNEL | GfpFlags::COMP;
        gfp.set(GfpFlags::RECLAIMABLE, is_reclaimable);
        let small = Ask { order: Order::ZERO, gfp, used_for: Use::Slab };
        let large = (order > Order::ZERO).then(|| {
            let light = GfpFlags::NOWARN | GfpFlags::NORETRY | GfpFlags::NOMEMALLOC;
            let ask = Ask { order, gfp: gfp.difference(GfpFlags::RECLAIM) | light, used_for: Use::Slab };
            host.alloc(task, ask).map(|pages| (pages, objects))
        });
        let by_page = (objects >> order.get()).max(1);
        let (pages, holds) =
            large.flatten().or_else(|| host.alloc(task, small).map(|pages| (pages, by_page)))?;
        let slab = Slab { pages, used: 0, holds, place: self.partial.len() as u32 };
        let number = if let Some(number) = self.vacant.pop() {
            self.all[number as usize] = slab;
            number
        } else {
            self.all.push(slab);
            self.all.len() as u32 - 1
        };
        self.partial.push(number);
        Some(number)
    }

    fn discard(&mut self, host: &mut Host<'_, '_>, task: Task, number: u32) {
        let Slab { pages, place, .. } = self.all[number as usize];
        self.partial.swap_remove(place as usize);
        if let Some(&moved) = self.partial.get(place as usize) {
            self.all[moved as usize].place = place;
        }
        self.vacant.push(number);
        host.free(task, pages);
    }
}
