//! The adapters for traits of other crates.
#![expect(unsafe_code, reason = "the traits of the crate x86_64 and of heaps are unsafe to call")]

use core::alloc::{GlobalAlloc, Layout};
use core::mem::MaybeUninit;
use std::ptr;
use std::thread;

use crate::common::{self, Host, all_free, geometry, metadata, plain_zone, request};
use freehold::{
    DirectMap, Era, FrameSource, FreeError, GfpFlags, MemoryBuilder, Order, PageHeap, Pfn, StaticMemory,
};
use x86_64::structures::paging::{FrameAllocator, FrameDeallocator, PhysFrame, Size1GiB, Size2MiB, Size4KiB};

#[test]
fn frames_of_all_sizes_are_taken_and_freed() {
    let pages = 3 << 18;
    let zones = [plain_zone(1 << 18, pages)];
    let config = geometry(&zones, Era::Freehold.switches(), 9, 18);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let zone = &memory.zones()[0];
    let mut source = FrameSource::new(&memory, request(GfpFlags::KERNEL, 7));
    let giant: PhysFrame<Size1GiB> = source.allocate_frame().expect("a gibibyte");
    let large: PhysFrame<Size2MiB> = source.allocate_frame().expect("two mebibytes");
    let small: PhysFrame<Size4KiB> = source.allocate_frame().expect("a page");
    for (address, order) in
        [(giant.start_address(), 18), (large.start_address(), 9), (small.start_address(), 0)]
    {
        let (found, _) = memory.allocated_block(Pfn(address.as_u64() / 4096)).expect("a block");
        assert_eq!(found, common::order(order));
    }
    // SAFETY: the frames are not in use.
    unsafe {
        source.deallocate_frame(giant);
        source.deallocate_frame(large);
        source.deallocate_frame(small);
    }
    assert_eq!(source.refused(), 0);
    memory.drain_all();
    assert_eq!(zone.free_pages(), pages);
    // SAFETY: the frame is not in use.
    unsafe { source.deallocate_frame(small) };
    assert_eq!(source.refused(), 1, "a second free is refused");
    assert_eq!(
        memory.free(0, Pfn(small.start_address().as_u64() / 4096), Order::ZERO),
        Err(FreeError::AlreadyFree)
    );
    memory.check().expect("every invariant holds");
}

#[test]
fn a_memory_without_the_order_has_no_frame_of_that_size() {
    let zones = [plain_zone(0x400, 0x800)];
    let config = geometry(&zones, Era::Freehold.switches(), 4, 5);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let mut source = FrameSource::new(&memory, request(GfpFlags::KERNEL, 0));
    assert!(FrameAllocator::<Size4KiB>::allocate_frame(&mut source).is_some());
    assert!(FrameAllocator::<Size2MiB>::allocate_frame(&mut source).is_none());
    assert!(FrameAllocator::<Size1GiB>::allocate_frame(&mut source).is_none());
}

const PAGE: usize = 4096;
const PAGES: usize = 1024;

/// A map in which a frame's number is its address divided by the page size.
const MAP: DirectMap = DirectMap {
    address_of: |pfn| ptr::with_exposed_provenance_mut(pfn.0 as usize * PAGE),
    frame_at: |address| Pfn((address.expose_provenance() / PAGE) as u64),
    this_cpu: || 1,
};

/// Sets up the memory of a heap with newly allocated pages.
fn fill(memory: &StaticMemory<Host>) {
    let layout = Layout::from_size_align(PAGES * PAGE, PAGE << 10).expect("a layout");
    // SAFETY: the layout is not empty.
    let arena = unsafe { std::alloc::alloc(layout) };
    assert!(!arena.is_null());
    let first = (arena.expose_provenance() / PAGE) as u64;
    let ranges = [Pfn(first)..Pfn(first + PAGES as u64)];
    let builder = MemoryBuilder::new(&ranges, 2);
    let metadata: Vec<MaybeUninit<u8>> = vec![MaybeUninit::uninit(); builder.required_bytes::<Host>()];
    builder.build_static(memory, Box::leak(metadata.into())).expect("not set up before");
}

#[test]
fn a_heap_hands_out_whole_blocks() {
    // SAFETY: the map derives frame numbers from the addresses themselves.
    static HEAP: PageHeap<Host> = unsafe { PageHeap::new(PAGE, MAP) };
    let layout = |size, align| Layout::from_size_align(size, align).expect("a layout");
    // SAFETY: no layout is empty, and each address is freed once, with its layout.
    unsafe {
        assert!(HEAP.alloc(layout(1, 1)).is_null(), "nothing is set up");
        fill(HEAP.memory());
        let memory = HEAP.memory().get().expect("set up");
        for (size, align, order) in
            [(1, 1, 0), (PAGE, 8, 0), (PAGE + 1, 8, 1), (5 * PAGE, 1, 3), (16, 8 * PAGE, 3)]
        {
            let address = HEAP.alloc(layout(size, align));
            assert!(!address.is_null() && address.addr().is_multiple_of(align));
            ptr::write_bytes(address, 0xa5, size);
            let (found, _) = memory.allocated_block((MAP.frame_at)(address)).expect("a block");
            assert_eq!(found.get(), order, "{size} bytes aligned to {align}");
            HEAP.dealloc(address, layout(size, align));
        }
        assert!(HEAP.alloc(layout(PAGE << 11, 1)).is_null(), "no block is so large");
        assert_eq!(HEAP.refused(), 0);
        let address = HEAP.alloc(layout(10, 1));
        address.copy_from_nonoverlapping(b"0123456789".as_ptr(), 10);
        assert_eq!(HEAP.realloc(address, layout(10, 1), PAGE), address, "there is room");
        let moved = HEAP.realloc(address, layout(PAGE, 1), 3 * PAGE);
        assert_eq!(std::slice::from_raw_parts(moved, 10), b"0123456789");
        HEAP.dealloc(moved, layout(3 * PAGE, 1));
        HEAP.dealloc(moved, layout(3 * PAGE, 1));
        assert_eq!(HEAP.refused(), 1, "a second free is refused");
        memory.drain_all();
        assert_eq!(memory.zones()[0].free_pages(), PAGES as u64);
        memory.check().expect("every invariant holds");
    }
}

#[test]
fn threads_share_a_heap() {
    // SAFETY: the map derives frame numbers from the addresses themselves.
    static HEAP: PageHeap<Host> = unsafe { PageHeap::new(PAGE, MAP) };
    fill(HEAP.memory());
    thread::scope(|scope| {
        for thread in 1..=3_u8 {
            scope.spawn(move || {
                for round in 0..500 {
                    let size = PAGE * (1 + round % 5);
                    let layout = Layout::from_size_align(size, 1).expect("a layout");
                    // SAFETY: the layout is not empty, and the block is freed once.
                    unsafe {
                        let address = HEAP.alloc(layout);
                        assert!(!address.is_null());
                        ptr::write_bytes(address, thread, size);
                        let in_use = std::slice::from_raw_parts(address, size);
                        assert!(in_use.iter().all(|&byte| byte == thread), "another thread has the block");
                        HEAP.dealloc(address, layout);
                    }
                }
            });
        }
    });
    let memory = HEAP.memory().get().expect("set up");
    memory.drain_all();
    assert_eq!((memory.zones()[0].free_pages(), HEAP.refused()), (PAGES as u64, 0));
    memory.check().expect("every invariant holds");
}
