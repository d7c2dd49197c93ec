//! The state of a memory: numbers, Linux's text formats, and the check of every invariant.
#![expect(unsafe_code, reason = "buffers of the caller, and functions with names for C")]

use core::ffi::c_char;
use core::fmt::{self, Write};
use core::ptr;

use freehold::{Order, PageTypeRows};

use crate::memory::{FreeholdMemory, order, with};
use crate::status::FreeholdStatus;

/// The current state of one zone.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FreeholdZoneInfo {
    /// The first frame.
    pub start: u64,
    /// The frame behind the last.
    pub end: u64,
    /// The number of frames in service.
    pub present: u64,
    /// The number of pages that the allocator manages.
    pub managed: u64,
    /// The number of free pages, without isolated pages and pages on CPUs' lists.
    pub free: u64,
    /// The number of pages on the lists of all CPUs.
    pub percpu: u64,
    /// The number of the node.
    pub node: u16,
    /// The type of the zone: one of `FREEHOLD_ZONE_DMA` to `FREEHOLD_ZONE_MOVABLE`.
    pub kind: u8,
}

/// Returns the number of zones. Zones are numbered from 0: by ascending node, and within a node from low to high
/// addresses.
///
/// # Safety
/// `memory` is null, or comes from `freehold_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_zones(memory: *const FreeholdMemory) -> usize {
    // SAFETY: by the caller.
    unsafe { memory.as_ref() }.map_or(0, |memory| memory.engine().zones().len())
}

/// Writes the current state of a zone to `info`.
///
/// # Safety
/// As for `freehold_zones`; `info` is null, or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_zone_info(
    memory: *const FreeholdMemory,
    zone: usize,
    info: *mut FreeholdZoneInfo,
) -> FreeholdStatus {
    if info.is_null() {
        return FreeholdStatus::NullPointer;
    }
    let look = |memory: &FreeholdMemory| {
        let engine = memory.engine();
        let Some(zone) = engine.zones().get(zone) else { return FreeholdStatus::NoSuchNumber };
        let seen = FreeholdZoneInfo {
            start: zone.start().0,
            end: zone.end().0,
            present: zone.present_pages(),
            managed: zone.managed_pages(),
            free: zone.free_pages(),
            percpu: (0..engine.cpus()).map(|cpu| u64::from(zone.percpu_pages(cpu))).sum(),
            node: zone.node(),
            kind: zone.kind() as u8,
        };
        // SAFETY: it is not null, and can be written then.
        unsafe { ptr::write(info, seen) };
        FreeholdStatus::Ok
    };
    // SAFETY: by the caller.
    unsafe { with(memory, look) }
}

/// Returns the number of free blocks of exactly this order in all zones.
///
/// # Safety
/// As for `freehold_zones`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_free_blocks(memory: *const FreeholdMemory, block_order: u8) -> u64 {
    // SAFETY: by the caller.
    let (memory, order) = (unsafe { memory.as_ref() }, order(block_order));
    let count = |order: Order| {
        let zones = memory.map_or(&[][..], |memory| memory.engine().zones());
        zones.iter().map(|zone| zone.counts_relaxed().total[order.index()]).sum()
    };
    order.map_or(0, count)
}

/// Writes the contents of `/proc/buddyinfo` to `text`, followed by a 0 byte. Text that does not fit into `room` bytes
/// is cut off. Returns the number of bytes of the complete text, without the 0 byte.
///
/// # Safety
/// As for `freehold_zones`; `text` is null, or `room` bytes can be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_buddyinfo(
    memory: *const FreeholdMemory,
    text: *mut c_char,
    room: usize,
) -> usize {
    // SAFETY: by the caller.
    let (memory, mut out) = unsafe { (memory.as_ref(), Text::new(text, room)) };
    // This writer never fails: it counts the bytes that do not fit.
    memory.map(|memory| memory.engine().write_buddyinfo(&mut out));
    out.end()
}

/// Writes the contents of `/proc/pagetypeinfo` as `freehold_buddyinfo` does.
///
/// # Safety
/// As for `freehold_buddyinfo`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_pagetypeinfo(
    memory: *const FreeholdMemory,
    text: *mut c_char,
    room: usize,
) -> usize {
    // SAFETY: by the caller.
    let (memory, mut out) = unsafe { (memory.as_ref(), Text::new(text, room)) };
    // This writer never fails: it counts the bytes that do not fit.
    memory.map(|memory| memory.engine().write_pagetypeinfo(&mut out, PageTypeRows::default()));
    out.end()
}

/// Verifies every invariant. No other thread may use the memory meanwhile. Returns OK or BROKEN. Writes a sentence
/// about the first violated invariant to `text`, followed by a 0 byte. The sentence is empty if there is none.
///
/// # Safety
/// As for `freehold_buddyinfo`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_check(
    memory: *const FreeholdMemory,
    text: *mut c_char,
    room: usize,
) -> FreeholdStatus {
    // SAFETY: by the caller.
    let mut out = unsafe { Text::new(text, room) };
    // SAFETY: by the caller.
    let checked = unsafe {
        with(memory, |memory| match memory.engine().check() {
            Ok(()) => FreeholdStatus::Ok,
            Err(broken) => {
                // This writer never fails.
                let _ = write!(out, "{broken}");
                FreeholdStatus::Broken
            }
        })
    };
    out.end();
    checked
}

/// A text in a caller's buffer. Bytes that do not fit are counted.
struct Text {
    to: *mut c_char,
    /// The number of bytes that can be written, without the 0 byte.
    room: usize,
    length: usize,
    has_end: bool,
}

impl Text {
    /// Returns an empty text.
    ///
    /// # Safety
    /// `to` is null, or `room` bytes can be written there while the text lives.
    unsafe fn new(to: *mut c_char, room: usize) -> Self {
        let has_end = !to.is_null() && room > 0;
        Self { to, room: if has_end { room - 1 } else { 0 }, length: 0, has_end }
    }

    /// Writes the 0 byte. Returns the number of bytes of the complete text.
    fn end(self) -> usize {
        if self.has_end {
            // SAFETY: the index is at most that of the last byte that can be written.
            unsafe { ptr::write(self.to.add(self.length.min(self.room)), 0) };
        }
        self.length
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fitting = text.len().min(self.room.saturating_sub(self.length));
        if fitting > 0 {
            // SAFETY: `fitting` bytes can be written there, and the text does not overlap the buffer.
            unsafe { ptr::copy_nonoverlapping(text.as_ptr().cast(), self.to.add(self.length), fitting) };
        }
        self.length += text.len();
        Ok(())
    }
}
