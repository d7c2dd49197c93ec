//! Frames for the page tables and mappings of the crate `x86_64`.
#![expect(unsafe_code, reason = "the crate's traits promise that a frame has one owner")]

use core::fmt;

use x86_64::PhysAddr;
use x86_64::structures::paging::{
    FrameAllocator, FrameDeallocator, PageSize, PhysFrame, Size1GiB, Size2MiB, Size4KiB,
};

use crate::memory::Memory;
use crate::table::sync::Locks;
use crate::types::{FreeError, Order, Pfn, Request};

/// Bytes of a page, as a power of two.
const PAGE_SHIFT: u32 = 12;

/// Frames of a memory with pages of 4 KiB, for the mappers of the crate `x86_64`: of 4 KiB, and of 2 MiB and 1 GiB if the
/// memory has such orders (9 and 18).
///
/// A mapper asks for frames of page tables without saying why, so all requests are the one that the source was made
/// with, with the order of the frame's size.
pub struct FrameSource<'a, 'm, L: Locks> {
    memory: &'a Memory<'m, L>,
    request: Request,
    refused: u64,
}

impl<'a, 'm, L: Locks> FrameSource<'a, 'm, L> {
    /// Returns a source whose frames are those of a request, whatever its order.
    pub const fn new(memory: &'a Memory<'m, L>, request: Request) -> Self {
        Self { memory, request, refused: 0 }
    }

    /// Returns the number of frames that could not be freed: they were not allocated, or with another order.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    fn take<S: PageSize>(&self) -> Option<PhysFrame<S>> {
        let pfn = self.memory.alloc(Request { order: order::<S>(), ..self.request }).ok()?;
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

impl<L: Locks> fmt::Debug for FrameSource<'_, '_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameSource")
            .field("request", &self.request)
            .field("refused", &self.refused)
            .finish_non_exhaustive()
    }
}

// SAFETY: a block that the memory hands out is nobody else's until it is freed.
unsafe impl<L: Locks> FrameAllocator<Size4KiB> for FrameSource<'_, '_, L> {
    fn allocate_frame(&mut self) -> Option<PhysFrame<Size4KiB>> {
        self.take()
    }
}

impl<L: Locks> FrameDeallocator<Size4KiB> for FrameSource<'_, '_, L> {
    unsafe fn deallocate_frame(&mut self, frame: PhysFrame<Size4KiB>) {
        self.give(frame);
    }
}

// SAFETY: a block that the memory hands out is nobody else's until it is freed.
unsafe impl<L: Locks> FrameAllocator<Size2MiB> for FrameSource<'_, '_, L> {
    fn allocate_frame(&mut self) -> Option<PhysFrame<Size2MiB>> {
        self.take()
    }
}

impl<L: Locks> FrameDeallocator<Size2MiB> for FrameSource<'_, '_, L> {
    unsafe fn deallocate_frame(&mut self, frame: PhysFrame<Size2MiB>) {
        self.give(frame);
    }
}

// SAFETY: a block that the memory hands out is nobody else's until it is freed.
unsafe impl<L: Locks> FrameAllocator<Size1GiB> for FrameSource<'_, '_, L> {
    fn allocate_frame(&mut self) -> Option<PhysFrame<Size1GiB>> {
        self.take()
    }
}

impl<L: Locks> FrameDeallocator<Size1GiB> for FrameSource<'_, '_, L> {
    unsafe fn deallocate_frame(&mut self, frame: PhysFrame<Size1GiB>) {
        self.give(frame);
    }
}
