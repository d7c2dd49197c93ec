//! The way from the boot loader to `kernel_main`, and the memory that it uses.
#![expect(unsafe_code, reason = "the processor's entries and the linker's symbols")]

use core::arch::global_asm;
use core::ops::Range;
use core::ptr;

use crate::start_info::PAGE_BYTES;

global_asm!(include_str!("boot.s"), options(att_syntax));

/// The page at which the second CPU starts.
pub(crate) const TRAMPOLINE_FRAME: u64 = 8;

/// The number of mapped frames. Frames from this number on have no virtual address.
pub(crate) const MAPPED_FRAMES: u64 = 8 << 18;

unsafe extern "C" {
    static __executable_start: u8;
    static _end: u8;
    static trampoline: u8;
    static trampoline_end: u8;
}

/// Returns the frames of the kernel itself.
pub(crate) fn image() -> Range<u64> {
    let (start, end) = (&raw const __executable_start, &raw const _end);
    start.addr() as u64 / PAGE_BYTES..(end.addr() as u64).div_ceil(PAGE_BYTES)
}

/// Copies the second CPU's first instructions to where it starts.
pub(crate) fn place_trampoline() {
    let (start, end) = (&raw const trampoline, &raw const trampoline_end);
    let target = ptr::with_exposed_provenance_mut::<u8>((TRAMPOLINE_FRAME * PAGE_BYTES) as usize);
    // SAFETY: the page is memory that set_up keeps from the allocator, and the code fits into it.
    unsafe { ptr::copy_nonoverlapping(start, target, end.addr() - start.addr()) }
}
