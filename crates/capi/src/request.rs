//! Requests and frees.
#![expect(unsafe_code, reason = "pointers of the caller, and functions with names for C")]

use core::ptr;

use freehold::{AllocError, GfpFlags, NoReclaim, Pfn, Request};

use crate::embedder::{FreeholdEmbedder, Functions};
use crate::memory::{FreeholdMemory, order, with};
use crate::status::{FreeholdStatus, status};

/// A request for one block.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FreeholdRequest {
    /// The flags, for example `FREEHOLD_GFP_KERNEL`.
    pub gfp: u32,
    /// The CPU of the caller.
    pub cpu: u16,
    /// The node whose zones are tried first.
    pub node: u16,
    /// The order of the block.
    pub order: u8,
}

impl FreeholdRequest {
    fn to_engine(self) -> Result<Request, FreeholdStatus> {
        let gfp = GfpFlags::from_bits(self.gfp).ok_or(FreeholdStatus::NoSuchNumber)?;
        Ok(Request { cpu: self.cpu, node: self.node, order: order(self.order)?, gfp })
    }
}

/// Allocates a block, and writes its first frame to `pfn`. A request that may wait reclaims and compacts through the
/// embedder before it fails. Without an embedder it drains the per-CPU lists and the reserve for atomic requests.
///
/// # Safety
/// `memory` is null, or comes from `freehold_new`; `pfn` is null, or can be written; `embedder` is null, or its functions
/// may be called with its context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_alloc(
    memory: *const FreeholdMemory,
    request: FreeholdRequest,
    embedder: *const FreeholdEmbedder,
    pfn: *mut u64,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    let mut functions = (!embedder.is_null()).then(|| unsafe { Functions::of(embedder) });
    let alloc = |memory: &FreeholdMemory, request| match &mut functions {
        Some(functions) => memory.engine().alloc(request, functions),
        None => memory.engine().alloc(request, NoReclaim),
    };
    // SAFETY: by the caller.
    unsafe { answer(memory, request, pfn, alloc) }
}

/// # Safety
/// As for `freehold_alloc`.
unsafe fn answer(
    memory: *const FreeholdMemory,
    request: FreeholdRequest,
    pfn: *mut u64,
    ask: impl FnOnce(&FreeholdMemory, Request) -> Result<Pfn, AllocError>,
) -> FreeholdStatus {
    if pfn.is_null() {
        return FreeholdStatus::NullPointer;
    }
    let act = |memory: &FreeholdMemory| match request.to_engine() {
        Ok(request) => status(ask(memory, request).map(|found| {
            // SAFETY: `pfn` is not null, so it can be written.
            unsafe { ptr::write(pfn, found.0) };
        })),
        Err(error) => error,
    };
    // SAFETY: by the caller.
    unsafe { with(memory, act) }
}

/// Allocates exactly the block at a frame, if all of it is free. The block counts as unmovable.
///
/// # Safety
/// `memory` is null, or comes from `freehold_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_alloc_at(
    memory: *const FreeholdMemory,
    pfn: u64,
    block_order: u8,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe {
        with(memory, |memory| match order(block_order) {
            Ok(order) => status(memory.engine().alloc_at(Pfn(pfn), order)),
            Err(error) => error,
        })
    }
}

/// Frees a block on a CPU.
///
/// # Safety
/// As for `freehold_alloc_at`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_free(
    memory: *const FreeholdMemory,
    cpu: u16,
    pfn: u64,
    block_order: u8,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe {
        with(memory, |memory| match order(block_order) {
            Ok(order) => status(memory.engine().free(cpu, Pfn(pfn), order)),
            Err(error) => error,
        })
    }
}

/// Splits an allocated block of order `from` into blocks of order `to`, which are freed one by one.
///
/// # Safety
/// As for `freehold_alloc_at`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_split(
    memory: *const FreeholdMemory,
    pfn: u64,
    from: u8,
    to: u8,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe {
        with(memory, |memory| match (order(from), order(to)) {
            (Ok(from), Ok(to)) => status(memory.engine().split(Pfn(pfn), from, to)),
            (Err(error), _) | (_, Err(error)) => error,
        })
    }
}
