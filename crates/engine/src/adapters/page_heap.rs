//! A heap of whole blocks of pages, for a `#[global_allocator]`.
#![expect(unsafe_code, reason = "the trait promises memory of the layout's size and alignment")]

use core::alloc::{GlobalAlloc, Layout};
use core::fmt;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::memory::StaticMemory;
use crate::request::NoReclaim;
use crate::types::{GfpFlags, Order, Pfn, Platform, Request};

/// Maps frames to addresses and back, and names the current CPU.
///
/// For all frames of the memory, `address_of` and `frame_at` are inverse to each other. The frames of a block are
/// mapped to consecutive addresses, with the alignment of the first frame.
#[derive(Clone, Copy, Debug)]
pub struct DirectMap {
    /// Returns the address at which a frame is mapped. The mapping stays for as long as the memory is used.
    pub address_of: fn(Pfn) -> *mut u8,
    /// Returns the frame at an address.
    pub frame_at: fn(*mut u8) -> Pfn,
    /// Returns the number of the CPU that runs the caller.
    pub this_cpu: fn() -> u16,
}

/// A heap that serves every allocation with one block of pages: the smallest power of two of pages that has room.
///
/// **The granularity is a page**: a `Box<u8>` costs one page, and 5 pages cost 8. The heap suits large buffers, or an
/// allocator of small objects on top. Alone it suits a kernel that allocates little. An allocation fails if its size or
/// alignment exceeds the memory's largest block.
///
/// Requests use [`GfpFlags::NOWAIT`], so an interrupt may allocate and free if the locks of the [`Platform`] allow it.
///
/// ```
/// use freehold::{DirectMap, PageHeap, Pfn};
///
/// struct Host;
///
/// impl freehold::Platform for Host {
///     type ZoneLock = parking_lot::RawMutex;
///     type PerCpuLock = parking_lot::RawMutex;
///     type Tracepoints = ();
///     type Rule = ();
/// }
///
/// // A kernel maps all memory at an address of its own.
/// const OFFSET: u64 = 0xffff_8000_0000_0000;
/// const MAP: DirectMap = DirectMap {
///     address_of: |pfn| core::ptr::with_exposed_provenance_mut((OFFSET + pfn.0 * 4096) as usize),
///     frame_at: |address| Pfn((address.expose_provenance() as u64 - OFFSET) / 4096),
///     this_cpu: || 0,
/// };
/// // SAFETY: frames are mapped there.
/// static HEAP: PageHeap<Host> = unsafe { PageHeap::new(4096, MAP) };
/// // A kernel adds `#[global_allocator]`, and calls `MemoryBuilder::build_static(HEAP.memory(), …)` at boot.
/// assert!(HEAP.memory().get().is_none());
/// ```
pub struct PageHeap<P: Platform + 'static> {
    memory: StaticMemory<P>,
    page_bytes: usize,
    map: DirectMap,
    refused: AtomicUsize,
}

impl<P: Platform + 'static> PageHeap<P> {
    /// Returns a heap whose memory is not set up yet. Allocations fail until it is.
    ///
    /// # Safety
    /// `map` must keep the contract of [`DirectMap`], for pages of `page_bytes` bytes.
    ///
    /// # Panics
    /// If `page_bytes` is not a power of two.
    pub const unsafe fn new(page_bytes: usize, map: DirectMap) -> Self {
        assert!(page_bytes.is_power_of_two(), "a page is aligned to its size");
        Self { memory: StaticMemory::new(), page_bytes, map, refused: AtomicUsize::new(0) }
    }

    /// Returns the memory that the heap takes its blocks from. Other callers may use it as well.
    pub const fn memory(&self) -> &StaticMemory<P> {
        &self.memory
    }

    /// Returns the number of frees that were refused: the block was not from this heap, or already free.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }

    /// Returns the order of the block for a layout, or `None` if no block is large enough.
    fn order_of(&self, layout: Layout) -> Option<Order> {
        let pages = layout.size().max(layout.align()).div_ceil(self.page_bytes);
        Order::new(pages.checked_next_power_of_two()?.trailing_zeros() as u8)
    }
}

// SAFETY: a block has one owner until it is freed, has at least as many bytes as the layout, and is aligned to its own
// size, which is no less than the layout's alignment. The contract of `PageHeap::new` makes the map preserve that.
unsafe impl<P: Platform + 'static> GlobalAlloc for PageHeap<P>
where
    StaticMemory<P>: Sync,
{
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let request = |order| Request { cpu: (self.map.this_cpu)(), node: 0, order, gfp: GfpFlags::NOWAIT };
        let found = self
            .memory
            .get()
            .and_then(|memory| memory.alloc(request(self.order_of(layout)?), NoReclaim).ok());
        found.map_or(ptr::null_mut(), self.map.address_of)
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        let freed =
            self.memory.get().zip(self.order_of(layout)).map(|(memory, order)| {
                memory.free((self.map.this_cpu)(), (self.map.frame_at)(address), order)
            });
        if !matches!(freed, Some(Ok(()))) {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        // SAFETY: by the caller: the size is not 0 and does not overflow with the alignment.
        let new = unsafe { Layout::from_size_align_unchecked(new_bytes, layout.align()) };
        if self.order_of(new) == self.order_of(layout) {
            return address;
        }
        // SAFETY: by the caller, who owns the block of the old layout; the new block is another.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(address, moved, layout.size().min(new_bytes));
                self.dealloc(address, layout);
            }
            moved
        }
    }
}

impl<P: Platform + 'static> fmt::Debug for PageHeap<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageHeap")
            .field("memory", &self.memory)
            .field("page_bytes", &self.page_bytes)
            .field("refused", &self.refused())
            .finish_non_exhaustive()
    }
}
