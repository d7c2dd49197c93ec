//! Peers that allocate page numbers and touch no page.

use std::sync::Arc;

use bitmap_allocator::{BitAlloc, BitAlloc1M};
use buddy_system_allocator::LockedFrameAllocator;
use freehold::{Order, Pfn};

use super::peer::Peer;
use crate::harness::Pages;

/// The most pages of the bitmap.
const BITMAP_PAGES: u64 = 1 << 20;

/// Returns these peers.
pub(super) fn peers() -> Vec<Peer> {
    vec![
        // The size of its sets depends on the number of free blocks.
        Peer::new("buddy_system_allocator, spin lock", None, 10, |pages| {
            let frames = Arc::new(LockedFrameAllocator::<33>::new());
            frames.lock().add_frame(0, pages as usize);
            Ok(vec![Sets(Arc::clone(&frames)), Sets(frames)])
        }),
        Peer::new(
            "bitmap-allocator, spin lock",
            Some(size_of::<BitAlloc1M>() as f64 / BITMAP_PAGES as f64),
            10,
            |pages| {
                let mut bits = Box::new(BitAlloc1M::DEFAULT);
                bits.insert(0..pages as usize);
                let bits = Arc::new(spin::Mutex::new(bits));
                Ok(vec![Bits(Arc::clone(&bits)), Bits(bits)])
            },
        ),
    ]
}

struct Sets(Arc<LockedFrameAllocator<33>>);

impl Pages for Sets {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        self.0.lock().alloc(1 << order.get()).map(|page| Pfn(page as u64))
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        self.0.lock().dealloc(pfn.0 as usize, 1 << order.get());
        true
    }
}

struct Bits(Arc<spin::Mutex<Box<BitAlloc1M>>>);

impl Pages for Bits {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        let mut bits = self.0.lock();
        let page = if order == Order::ZERO {
            bits.alloc()
        } else {
            bits.alloc_contiguous(None, 1 << order.get(), usize::from(order.get()))
        };
        page.map(|page| Pfn(page as u64))
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        self.0.lock().dealloc_contiguous(pfn.0 as usize, 1 << order.get())
    }
}
