//! A memory behind a pointer: its set-up, and frames that come into service.
#![expect(unsafe_code, reason = "a memory in bytes of the caller, and functions with names for C")]

use core::ffi::c_void;
use core::mem::{MaybeUninit, align_of, size_of};
use core::ptr;
use core::slice;

use freehold::{Memory, Order, Pfn, SetupError, Zone, required_bytes};

use crate::config::{FreeholdConfig, with_config};
use crate::locks::{self, CPlatform};
use crate::status::{FreeholdStatus, status};

/// The page allocator: all nodes and zones of a machine.
#[derive(Debug)]
pub struct FreeholdMemory(Memory<'static, CPlatform>);

impl FreeholdMemory {
    pub(crate) fn engine(&self) -> &Memory<'static, CPlatform> {
        &self.0
    }

    /// Returns the zone of a frame.
    pub(crate) fn zone_of(&self, pfn: u64) -> Result<&Zone<'static, CPlatform>, FreeholdStatus> {
        self.0.zone_of(Pfn(pfn)).ok_or(FreeholdStatus::OutsideZones)
    }
}

/// Returns the number of bytes before the engine's metadata: for the memory itself, and for alignment.
const fn head_bytes() -> usize {
    size_of::<FreeholdMemory>() + align_of::<FreeholdMemory>()
}

/// Returns the number of bytes that `freehold_new` needs; 0 if the configuration is not valid.
///
/// # Safety
/// `config` is null, or each of its lists is null or has as many entries as its count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_required_bytes(config: *const FreeholdConfig) -> usize {
    // SAFETY: by the caller.
    let bytes = unsafe { with_config(config, |config| Ok(required_bytes::<CPlatform>(config))) };
    bytes.map_or(0, |bytes| bytes.saturating_add(head_bytes()))
}

/// Makes a memory whose frames are all absent, in `bytes` bytes at `metadata`, and writes its address to `memory`. The
/// address is valid as long as the bytes are. A memory need not be closed.
///
/// # Safety
/// `config` as for `freehold_required_bytes`. No other code uses the bytes as long as the memory is used. `memory` can
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
    // SAFETY: the bytes behind the place belong to the caller, who hands them over.
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
/// `memory` is null, or comes from `freehold_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_add_free(
    memory: *const FreeholdMemory,
    start: u64,
    pages: u64,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe { with(memory, |memory| adds(memory, start, |zone| zone.add_free(Pfn(start), pages))) }
}

/// Brings absent frames into service as reserved pages, which are never freed.
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
    add: impl FnOnce(&Zone<'static, CPlatform>) -> Result<(), SetupError>,
) -> FreeholdStatus {
    memory.zone_of(start).map_or_else(|error| error, |zone| status(add(zone)))
}

/// Calls `act` with a memory.
///
/// # Safety
/// `memory` is null, or comes from `freehold_new`.
pub(crate) unsafe fn with(
    memory: *const FreeholdMemory,
    act: impl FnOnce(&FreeholdMemory) -> FreeholdStatus,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    unsafe { memory.as_ref() }.map_or(FreeholdStatus::NullPointer, act)
}

/// Returns the order with this number.
pub(crate) fn order(value: u8) -> Result<Order, FreeholdStatus> {
    Order::new(value).ok_or(FreeholdStatus::OrderTooLarge)
}
