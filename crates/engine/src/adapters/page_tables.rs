//! Frames for the page tables and mappings of the crate `x86_64`.
#![expect(unsafe_code, reason = "the crate's traits promise that a frame has one owner")]

use core::fmt;

use x86_64::PhysAddr;
use x86_64::structures::paging::{
    FrameAllocator, FrameDeallocator, PageSize, PhysFrame, Size1GiB, Size2MiB, Size4KiB,
};

use crate::memory::Memory;
use crate::request::NoReclaim;
use crate::types::{FreeError, Order, Pfn, Platform, Request};

/// The base-2 logarithm of a page's bytes.
const PAGE_SHIFT: u32 = 12;

/// Hands out frames of a memory with pages of 4 KiB to the mappers of the crate `x86_64`.
///
/// Frames of 4 KiB are always available, frames of 2 MiB and 1 GiB if the memory has orders 9 and 18. A mapper does not
/// say what a frame is for. Therefore every frame is allocated by the request passed to [`FrameSource::new`], with the
/// order of the frame's size.
pub struct FrameSource<'a, 'm, P: Platform> {
    memory: &'a Memory<'m, P>,
    request: Request,
    refused: u64,
}

impl<'a, 'm, P: Platform> FrameSource<'a, 'm, P> {
    /// Returns a source that allocates frames by `request`. The order in `request` is ignored.
    pub const fn new(memory: &'a Memory<'m, P>, request: Request) -> Self {
        Self { memory, request, refused: 0 }
    }

    /// Returns the number of frees that were refused: the frame was not allocated, or had another order.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    fn take<S: PageSize>(&self) -> Option<PhysFrame<S>> {
        let pfn = self.memory.alloc(Request { order: order::<S>(), ..self.request }, NoReclaim).ok()?;
        let address = PhysAddr::try_new(pfn.0.checked_shl(PAGE_SHIFT)?).ok()?;
        PhysFrame::from_start_address(address).ok()
    }

    fn give<S: PageSize>(&mut self, frame: PhysFrame<S>) {
        let pfn = Pfn(frame.start_address().as_u64() >> PAGE_SHIFT);
        let freed: Result<(), FreeError> = self.memory.free(self.request.cpu, pfn, order::<S>());
        self.refused += u64::from(freed.is_err());
    }
}

/// Returns the order of a block of the size of a frame.
const fn order<S: PageSize>() -> Order {
    match Order::new((S::SIZE.trailing_zeros() - PAGE_SHIFT) as u8) {
        Some(order) => order,
        None => Order::MAX,
    }
}

impl<P: Platform> fmt::Debug for FrameSource<'_, '_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameSource")
            .field("request", &self.request)
            .field("refused", &self.refused)
            .finish_non_exhaustive()
    }
}

// SAFETY: a block that the memory hands out has one owner until it is freed.
unsafe impl<P: Platform> FrameAllocator<Size4KiB> for FrameSource<'_, '_, P> {
    fn allocate_frame(&mut self) -> Option<PhysFrame<Size4KiB>> {
        self.take()
    }
}

impl<P: Platform> FrameDeallocator<Size4KiB> for FrameSource<'_, '_, P> {
    unsafe fn deallocate_frame(&mut self, frame: PhysFrame<Size4KiB>) {
        self.give(frame);
    }
}

// SAFETY: a block that the memory hands out has one owner until it is freed.
unsafe impl<P: Platform> FrameAllocator<Size2MiB> for FrameSource<'_, '_, P> {
    fn allocate_frame(&mut self) -> Option<PhysFrame<Size2MiB>> {
        self.take()
    }
}

impl<P: Platform> FrameDeallocator<Size2MiB> for FrameSource<'_, '_, P> {
    unsafe fn deallocate_frame(&mut self, frame: PhysFrame<Size2MiB>) {
        self.give(frame);
    }
}

// SAFETY: a block that the memory hands out has one owner until it is freed.
unsafe impl<P: Platform> FrameAllocator<Size1GiB> for FrameSource<'_, '_, P> {
    fn allocate_frame(&mut self) -> Option<PhysFrame<Size1GiB>> {
        self.take()
    }
}

impl<P: Platform> FrameDeallocator<Size1GiB> for FrameSource<'_, '_, P> {
    unsafe fn deallocate_frame(&mut self, frame: PhysFrame<Size1GiB>) {
        self.give(frame);
    }
}
