//! The start info from the loader of a PVH guest: the memory map and the command line.
#![expect(unsafe_code, reason = "tables at physical addresses")]

use core::ffi::{CStr, c_char};
use core::ops::Range;
use core::ptr;
use core::slice;

use crate::boot::MAPPED_FRAMES;

/// The page size. Units: bytes.
pub(crate) const PAGE_BYTES: u64 = 4096;

const MAGIC: u32 = 0x336e_c578;
const RAM: u32 = 1;
pub(crate) const MOST_RANGES: usize = 32;

/// `struct hvm_start_info`.
#[repr(C)]
pub(crate) struct StartInfo {
    magic: u32,
    version: u32,
    flags: u32,
    modules: u32,
    modules_address: u64,
    command_line_address: u64,
    rsdp_address: u64,
    map_address: u64,
    map_entries: u32,
    reserved: u32,
}

/// `struct hvm_memmap_table_entry`.
#[repr(C)]
struct MapEntry {
    address: u64,
    bytes: u64,
    kind: u32,
    reserved: u32,
}

/// A copy of the parts of the start info that the kernel needs. The memory of the start info is free afterwards.
pub(crate) struct Machine {
    ranges: [Range<u64>; MOST_RANGES],
    len: usize,
    /// The error that the command line requests.
    pub(crate) planted: Option<Planted>,
}

/// An error that the demo makes on request, and must find.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Planted {
    /// A page is never freed.
    Leak,
    /// A page is freed twice.
    DoubleFree,
    /// A page is written to after it was freed.
    UseAfterFree,
}

impl Machine {
    /// Reads the start info.
    ///
    /// # Safety
    /// `info` is the pointer from the loader, and the memory behind it has not changed since.
    pub(crate) unsafe fn read(info: *const StartInfo) -> Self {
        // SAFETY: by the caller, it points to a complete start info.
        let info = unsafe { &*info };
        assert_eq!(info.magic, MAGIC, "not booted as a PVH guest");
        let entries = ptr::with_exposed_provenance::<MapEntry>(info.map_address as usize);
        // SAFETY: the start info gives the map's address and length.
        let map = unsafe { slice::from_raw_parts(entries, info.map_entries as usize) };
        let mut machine = Self { ranges: [const { 0..0 }; MOST_RANGES], len: 0, planted: None };
        for entry in map.iter().filter(|entry| entry.kind == RAM) {
            let end = ((entry.address + entry.bytes) / PAGE_BYTES).min(MAPPED_FRAMES);
            machine.ranges[machine.len] = entry.address.div_ceil(PAGE_BYTES)..end;
            machine.len += usize::from(!machine.ranges[machine.len].is_empty());
        }
        if info.command_line_address != 0 {
            let text = ptr::with_exposed_provenance::<c_char>(info.command_line_address as usize);
            // SAFETY: the command line ends with a zero.
            machine.planted = Planted::among(unsafe { CStr::from_ptr(text) }.to_bytes());
        }
        machine
    }

    /// Returns the ranges of frames with memory.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<u64>> + Clone {
        self.ranges[..self.len].iter().cloned()
    }
}

impl Planted {
    fn among(command_line: &[u8]) -> Option<Self> {
        command_line.split(|&byte| byte == b' ').find_map(|word| match word {
            b"leak" => Some(Self::Leak),
            b"double-free" => Some(Self::DoubleFree),
            b"use-after-free" => Some(Self::UseAfterFree),
            _ => None,
        })
    }
}
