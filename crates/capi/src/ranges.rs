//! Isolation, hotplug and contiguous ranges.
#![expect(unsafe_code, reason = "pointers of the caller, and functions with names for C")]

use core::ptr;

use freehold::{Migratetype, Pfn};

use crate::embedder::{FreeholdEmbedder, Functions};
use crate::memory::{FreeholdMemory, with};
use crate::status::{FreeholdStatus, status};

/// Isolates the pageblocks that a range touches, and drains all CPUs' lists. No later request gets a page of these
/// pageblocks.
///
/// # Safety
/// `memory` is null, or comes from `freehold_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_isolate(
    memory: *const FreeholdMemory,
    start: u64,
    pages: u64,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe {
        with(memory, |memory| match memory.zone_of(start) {
            Ok(zone) => status(zone.isolate_range(Pfn(start), pages).map(|()| zone.drain_all())),
            Err(error) => error,
        })
    }
}

/// Ends the isolation of the pageblocks that a range touches.
///
/// # Safety
/// As for `freehold_isolate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_unisolate(
    memory: *const FreeholdMemory,
    start: u64,
    pages: u64,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe {
        with(memory, |memory| match memory.zone_of(start) {
            Ok(zone) => {
                zone.undo_isolate_range(Pfn(start), pages, Migratetype::Movable);
                FreeholdStatus::Ok
            }
            Err(error) => error,
        })
    }
}

/// Takes whole pageblocks out of service. The embedder moves their pages in use away. If `isolated` is true, the caller
/// has isolated the pageblocks before, and they stay isolated after a failure. After a failure, pages that have moved
/// do not move back.
///
/// # Safety
/// As for `freehold_isolate`; the embedder's functions may be called with its context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_offline(
    memory: *const FreeholdMemory,
    start: u64,
    pages: u64,
    isolated: bool,
    cpu: u16,
    embedder: *const FreeholdEmbedder,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    let mut functions = unsafe { Functions::of(embedder) };
    let offline = |memory: &FreeholdMemory| {
        let engine = memory.engine();
        status(if isolated {
            engine.offline_isolated(Pfn(start), pages, cpu, &mut functions)
        } else {
            engine.offline_range(Pfn(start), pages, cpu, &mut functions)
        })
    };
    // SAFETY: by the caller.
    unsafe { with(memory, offline) }
}

/// Brings absent frames into service as free pages, and counts them as managed.
///
/// # Safety
/// As for `freehold_isolate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_online(
    memory: *const FreeholdMemory,
    start: u64,
    pages: u64,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe { with(memory, |memory| status(memory.engine().online_range(Pfn(start), pages))) }
}

/// Allocates exactly the frames of a range as single pages. The embedder moves the pages in use there away. After a
/// failure, pages that have moved do not move back.
///
/// # Safety
/// As for `freehold_offline`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_alloc_contig(
    memory: *const FreeholdMemory,
    start: u64,
    pages: u64,
    cpu: u16,
    embedder: *const FreeholdEmbedder,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    let mut functions = unsafe { Functions::of(embedder) };
    let alloc = |memory: &FreeholdMemory| {
        let (start, kind) = (Pfn(start), Migratetype::Movable);
        status(memory.engine().alloc_contig_range(start, pages, kind, cpu, &mut functions))
    };
    // SAFETY: by the caller.
    unsafe { with(memory, alloc) }
}

/// Frees contiguous single pages. After an error the first `*freed` of them are free; `freed` may be null.
///
/// # Safety
/// As for `freehold_isolate`; `freed` is null, or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_free_contig(
    memory: *const FreeholdMemory,
    cpu: u16,
    start: u64,
    pages: u64,
    freed: *mut u64,
) -> FreeholdStatus {
    let free = |memory: &FreeholdMemory| {
        let done = memory.engine().free_contig_range(cpu, Pfn(start), pages);
        if !freed.is_null() {
            // SAFETY: `freed` is not null, so it can be written.
            unsafe { ptr::write(freed, done.map_or_else(|(freed, _)| freed, |()| pages)) };
        }
        status(done.map_err(|(_, error)| error))
    };
    // SAFETY: by the caller.
    unsafe { with(memory, free) }
}

/// Sets whether an allocated block can be moved. At first that depends on the flags of the request.
///
/// # Safety
/// As for `freehold_isolate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_set_movable(
    memory: *const FreeholdMemory,
    pfn: u64,
    movable: bool,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe {
        with(memory, |memory| match memory.zone_of(pfn) {
            Ok(zone) => status(zone.set_movable(Pfn(pfn), movable)),
            Err(error) => error,
        })
    }
}
