//! A memory behind a pointer: set-up, and frames into service.
#![expect(unsafe_code, reason = "a memory in bytes of the caller's, and functions with names for C")]

use core::ffi::c_void;
use core::mem::{MaybeUninit, align_of, size_of};
use core::ptr;
use core::slice;

use freehold::{Memory, Order, Pfn, SetupError, Zone, required_bytes};

use crate::config::{FreeholdConfig, with_config};
use crate::locks::{self, Platform};
use crate::status::{FreeholdStatus, status};

/// All of a machine's memory: the whole allocator.
#[derive(Debug)]
pub struct FreeholdMemory(Memory<'static, Platform>);

impl FreeholdMemory {
    pub(crate) fn engine(&self) -> &Memory<'static, Platform> {
        &self.0
    }

    /// Returns the zone of a frame.
    pub(crate) fn zone_of(&self, pfn: u64) -> Result<&Zone<'static, Platform>, FreeholdStatus> {
        self.0.zone_of(Pfn(pfn)).ok_or(FreeholdStatus::OutsideZones)
    }
}

/// Returns the bytes before the engine's metadata: the memory itself, and what may be lost to alignment.
const fn head_bytes() -> usize {
    size_of::<FreeholdMemory>() + align_of::<FreeholdMemory>()
}

/// Returns the bytes that `freehold_new` needs; 0 if the configuration is not a valid one.
///
/// # Safety
/// `config` is null, or each of its lists is null or has as many entries as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_required_bytes(config: *const FreeholdConfig) -> usize {
    // SAFETY: by the caller.
    let bytes = unsafe { with_config(config, |config| Ok(required_bytes::<Platform>(config))) };
    bytes.map_or(0, |bytes| bytes.saturating_add(head_bytes()))
}

/// Makes a memory of which all frames are absent, in `bytes` bytes at `metadata`, and writes its address to `memory`.
/// The address is good as long as the bytes are: there is nothing to be closed.
///
/// # Safety
/// `config` as for `freehold_required_bytes`. The bytes are nobody else's for as long as the memory is used; `memory` can
/// be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_new(
    config: *const FreeholdConfig,
    metadata: *mut c_void,
    bytes: usize,
    memory: *mut *mut FreeholdMemory,
) -> FreeholdStatus {
    if metadata.is_null() || memory.is_null() {
        return FreeholdStatus::NullPointer;
    }
    let before = metadata.align_offset(align_of::<FreeholdMemory>());
    let Some(rest) = before.checked_add(size_of::<FreeholdMemory>()).and_then(|head| bytes.checked_sub(head))
    else {
        return FreeholdStatus::MetadataTooSmall;
    };
    let place = metadata.wrapping_byte_add(before).cast::<FreeholdMemory>();
    // SAFETY: the bytes behind the place are the caller's, who gives them away.
    let tables = unsafe { slice::from_raw_parts_mut(place.wrapping_add(1).cast::<MaybeUninit<u8>>(), rest) };
    // SAFETY: by the caller.
    let made =
        unsafe { with_config(config, |config| Memory::new(config, tables).map_err(FreeholdStatus::from)) };
    match made {
        Ok(engine) => {
            locks::settle();
            // SAFETY: the place is aligned and inside the bytes, and `memory` can be written.
            unsafe {
                ptr::write(place, FreeholdMemory(engine));
                ptr::write(memory, place);
            }
            FreeholdStatus::Ok
        }
        Err(error) => error,
    }
}

/// Brings absent frames into service as free pages.
///
/// # Safety
/// `memory` is null or one of `freehold_new`'s.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_add_free(
    memory: *const FreeholdMemory,
    start: u64,
    pages: u64,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe { with(memory, |memory| adds(memory, start, |zone| zone.add_free(Pfn(start), pages))) }
}

/// Brings absent frames into service as pages in use that are never freed.
///
/// # Safety
/// As for `freehold_add_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_add_reserved(
    memory: *const FreeholdMemory,
    start: u64,
    pages: u64,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe { with(memory, |memory| adds(memory, start, |zone| zone.add_reserved(Pfn(start), pages))) }
}

fn adds(
    memory: &FreeholdMemory,
    start: u64,
    add: impl FnOnce(&Zone<'static, Platform>) -> Result<(), SetupError>,
) -> FreeholdStatus {
    memory.zone_of(start).map_or_else(|error| error, |zone| status(add(zone)))
}

/// Calls `act` with a memory.
///
/// # Safety
/// `memory` is null or one of `freehold_new`'s.
pub(crate) unsafe fn with(
    memory: *const FreeholdMemory,
    act: impl FnOnce(&FreeholdMemory) -> FreeholdStatus,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe { memory.as_ref() }.map_or(FreeholdStatus::NullPointer, act)
}

/// Returns an order.
pub(crate) fn order(value: u8) -> Result<Order, FreeholdStatus> {
    Order::new(value).ok_or(FreeholdStatus::OrderTooLarge)
}
