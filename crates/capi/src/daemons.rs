//! The work of Linux's daemons and timers, as functions: `docs/guide/embed.md` says when to call them.
#![expect(unsafe_code, reason = "pointers of the caller, and functions with names for C")]

use crate::embedder::{FreeholdEmbedder, Functions};
use crate::memory::FreeholdMemory;

/// Shortens a CPU's lists, as Linux does once a second. Returns true if there was work, or a later call will have work.
///
/// # Safety
/// `memory` is null, or comes from `freehold_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_refresh(memory: *const FreeholdMemory, cpu: u16) -> bool {
    // SAFETY: by the caller.
    unsafe { memory.as_ref() }.is_some_and(|memory| memory.engine().refresh(cpu))
}

/// Drains the lists of every CPU.
///
/// # Safety
/// As for `freehold_refresh`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_drain(memory: *const FreeholdMemory) {
    // SAFETY: by the caller.
    if let Some(memory) = unsafe { memory.as_ref() } {
        memory.engine().drain_all();
    }
}

/// Returns true if a node's kswapd should run.
///
/// # Safety
/// As for `freehold_refresh`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_is_kswapd_wanted(memory: *const FreeholdMemory, node: u16) -> bool {
    // SAFETY: by the caller.
    unsafe { memory.as_ref() }.is_some_and(|memory| memory.engine().is_kswapd_wanted(node))
}

/// Runs a node's kswapd once. Returns true if the node is balanced afterwards.
///
/// # Safety
/// As for `freehold_refresh`; the embedder's functions may be called with its context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_kswapd(
    memory: *const FreeholdMemory,
    node: u16,
    cpu: u16,
    embedder: *const FreeholdEmbedder,
) -> bool {
    // SAFETY: by the caller.
    let (memory, mut functions) = unsafe { (memory.as_ref(), Functions::of(embedder)) };
    memory.is_some_and(|memory| memory.engine().kswapd(node, cpu, &mut functions))
}

/// Returns true if a node's kcompactd should run.
///
/// # Safety
/// As for `freehold_refresh`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_is_kcompactd_wanted(memory: *const FreeholdMemory, node: u16) -> bool {
    // SAFETY: by the caller.
    unsafe { memory.as_ref() }.is_some_and(|memory| memory.engine().is_kcompactd_wanted(node))
}

/// Runs a node's kcompactd once. Returns true if a block of the requested order is free afterwards.
///
/// # Safety
/// As for `freehold_kswapd`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_kcompactd(
    memory: *const FreeholdMemory,
    node: u16,
    cpu: u16,
    embedder: *const FreeholdEmbedder,
) -> bool {
    // SAFETY: by the caller.
    let (memory, mut functions) = unsafe { (memory.as_ref(), Functions::of(embedder)) };
    memory.is_some_and(|memory| memory.engine().kcompactd(node, cpu, &mut functions))
}

/// Compacts a node proactively if it is fragmented. Returns true if the node is less fragmented afterwards.
///
/// # Safety
/// As for `freehold_kswapd`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_compact_proactively(
    memory: *const FreeholdMemory,
    node: u16,
    cpu: u16,
    embedder: *const FreeholdEmbedder,
) -> bool {
    // SAFETY: by the caller.
    let (memory, mut functions) = unsafe { (memory.as_ref(), Functions::of(embedder)) };
    memory.is_some_and(|memory| {
        let engine = memory.engine();
        engine.should_compact_proactively(node) && engine.compact_proactively(node, cpu, &mut functions)
    })
}
