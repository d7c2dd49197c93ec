//! The processor's ports, and the two devices that are one port each.
#![expect(unsafe_code, reason = "port input and output")]

use core::arch::asm;

/// QEMU's `isa-debug-exit`.
const EXIT: u16 = 0xf4;

/// A port without a device. A write takes about a microsecond.
const DELAY: u16 = 0x80;

pub(crate) fn write(port: u16, value: u8) {
    // SAFETY: no device that the kernel writes to touches its memory.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack, preserves_flags)) }
}

pub(crate) fn read(port: u16) -> u8 {
    let value;
    // SAFETY: as for `write`.
    unsafe { asm!("in al, dx", in("dx") port, out("al") value, options(nomem, nostack, preserves_flags)) }
    value
}

/// Waits for about `us` microseconds.
pub(crate) fn delay(us: u32) {
    (0..us).for_each(|_| write(DELAY, 0));
}

/// Ends QEMU: with status 33 after success, with 35 after failure.
pub(crate) fn exit(success: bool) -> ! {
    write(EXIT, if success { 0x10 } else { 0x11 });
    loop {
        core::hint::spin_loop();
    }
}
