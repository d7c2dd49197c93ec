//! Peers that keep their metadata in the memory that they allocate from.
//!
//! Unsafe island: these peers take an arena by its address.
#![expect(unsafe_code, reason = "these peers take their memory by address")]

use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::Arc;

use buddy_slab_allocator::BuddyAllocator;
use frame_alloc::{
    CpuId, DepotAllocator, PageSize, PhysicalAllocator, Provenance, RegionInit, SummaryBuddyAllocator,
};
use freehold::{Order, Pfn};

use super::peer::Peer;
use crate::error::BenchError;
use crate::harness::{Pages, wrong};

const PAGE: usize = 4096;

/// The alignment of an arena, that of a block of the largest order.
const ALIGN: usize = PAGE << 10;

/// Returns these peers.
pub(super) fn peers() -> Vec<Peer> {
    vec![
        Peer::new("buddy-slab-allocator", Some(12.0), 10, |pages| Ok(vec![slab(pages)?])),
        Peer::new("buddy-slab-allocator, spin lock", Some(12.0), 10, |pages| {
            let buddy = Arc::new(spin::Mutex::new(slab(pages)?));
            Ok(vec![LockedSlab(Arc::clone(&buddy)), LockedSlab(buddy)])
        }),
        Peer::new("frame-alloc depot", Some(0.27), 10, |pages| {
            let depot = Arc::new(Depot::new(BASE, SummaryBuddyAllocator::new(BASE)));
            let arena = arena(pages);
            let (start, bytes) = (arena.as_mut_ptr().expose_provenance(), arena.len());
            // SAFETY: the arena is this allocator's alone, is never freed, and its provenance
            // is exposed.
            unsafe { depot.try_init_region(start, bytes) }.map_err(|_| wrong("takes no arena"))?;
            Ok(vec![DepotHandle { depot: Arc::clone(&depot), cpu: 0 }, DepotHandle { depot, cpu: 1 }])
        }),
    ]
}

/// Returns memory for the pages and their metadata, which is never freed. The system provides a page only
/// when it is touched, and the peers touch only their metadata.
fn arena(pages: u64) -> &'static mut [u8] {
    let bytes = (pages as usize * PAGE).next_multiple_of(ALIGN) + 9 * ALIGN;
    let arena = vec![0_u8; bytes + ALIGN].leak();
    let skipped = arena.as_ptr().align_offset(ALIGN);
    &mut arena[skipped..skipped + bytes]
}

/// The allocator, which needs a lock around it.
struct Slab(BuddyAllocator<PAGE>);

fn slab(pages: u64) -> Result<Slab, BenchError> {
    let mut buddy = BuddyAllocator::new();
    // SAFETY: the arena is this allocator's alone and is never freed.
    unsafe { buddy.init(arena(pages)) }.map_err(|_| wrong("takes no arena"))?;
    Ok(Slab(buddy))
}

impl Pages for Slab {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        self.0.alloc_pages(1 << order.get(), PAGE).ok().map(|address| Pfn((address / PAGE) as u64))
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        self.0.dealloc_pages(pfn.0 as usize * PAGE, 1 << order.get());
        true
    }
}

struct LockedSlab(Arc<spin::Mutex<Slab>>);

impl Pages for LockedSlab {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        self.0.lock().alloc(order)
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        self.0.lock().free(pfn, order)
    }
}

const BASE: PageSize = PageSize::from_log2(12);

type Depot = DepotAllocator<SummaryBuddyAllocator<11, Exposed>, ThisCpu, 2>;

/// Pointers into an arena whose provenance is exposed.
struct Exposed;

// SAFETY: the arena is one live allocation with exposed provenance, so a recovered pointer
// covers all of it; nothing begins or ends in between.
unsafe impl Provenance for Exposed {
    unsafe fn create(phys: usize) -> NonNull<u8> {
        let pointer = std::ptr::with_exposed_provenance_mut(phys);
        // SAFETY: the allocator asks for addresses inside its arena only, which are not 0.
        unsafe { NonNull::new_unchecked(pointer) }
    }

    unsafe fn destroy<T>(pointer: NonNull<T>) -> usize {
        pointer.as_ptr().expose_provenance()
    }
}

thread_local! {
    static CPU: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The CPU of the current handle.
struct ThisCpu;

impl CpuId for ThisCpu {
    fn current_cpu() -> usize {
        CPU.get()
    }
}

struct DepotHandle {
    depot: Arc<Depot>,
    cpu: usize,
}

impl Pages for DepotHandle {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        CPU.set(self.cpu);
        let pages = NonZeroUsize::MIN.saturating_mul(NonZeroUsize::new(1 << order.get())?);
        self.depot.allocate_physical(BASE, pages).ok().map(|address| Pfn((address / PAGE) as u64))
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        CPU.set(self.cpu);
        let Some(pages) = NonZeroUsize::new(1 << order.get()) else { return false };
        // SAFETY: the harness frees each block once, with the order that it was allocated with.
        unsafe { self.depot.deallocate_physical(BASE, pages, pfn.0 as usize * PAGE) };
        true
    }
}
