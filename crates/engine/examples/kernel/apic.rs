//! The local APIC: the number of this CPU, the start of the other, and the timer.
#![expect(unsafe_code, reason = "memory-mapped registers")]

use core::ptr;

use crate::boot::{TRAMPOLINE_FRAME, place_trampoline};
use crate::port;

const BASE: usize = 0xfee0_0000;

const ID: usize = 0x20;
const END_OF_INTERRUPT: usize = 0xb0;
const SPURIOUS: usize = 0xf0;
const COMMAND_LOW: usize = 0x300;
const COMMAND_HIGH: usize = 0x310;
const TIMER: usize = 0x320;
const TIMER_COUNT: usize = 0x380;
const TIMER_DIVISOR: usize = 0x3e0;

const INIT: u32 = 0x4500;
const STARTUP: u32 = 0x4600;
const PERIODIC: u32 = 1 << 17;
const MASKED: u32 = 1 << 16;
const BY_16: u32 = 3;

/// The vectors of the timer and of spurious interrupts.
pub(crate) const TIMER_VECTOR: u8 = 0x40;
pub(crate) const SPURIOUS_VECTOR: u8 = 0xff;

/// The timer's period: half a millisecond at QEMU's bus clock of 1 GHz.
const TICK: u32 = 500_000 / 16;

fn register(offset: usize) -> *mut u32 {
    ptr::with_exposed_provenance_mut(BASE + offset)
}

fn read(offset: usize) -> u32 {
    // SAFETY: each CPU sees its own registers there, and nothing else is there.
    unsafe { register(offset).read_volatile() }
}

fn write(offset: usize, value: u32) {
    // SAFETY: as for `read`.
    unsafe { register(offset).write_volatile(value) }
}

/// Returns the number of this CPU: QEMU numbers local APICs from 0.
pub(crate) fn cpu() -> u16 {
    (read(ID) >> 24) as u16
}

/// Turns on this CPU's APIC and its timer. The old interrupt controllers stay silent.
pub(crate) fn start_timer() {
    port::write(0x21, 0xff);
    port::write(0xa1, 0xff);
    write(SPURIOUS, 1 << 8 | u32::from(SPURIOUS_VECTOR));
    write(TIMER_DIVISOR, BY_16);
    write(TIMER, PERIODIC | u32::from(TIMER_VECTOR));
    write(TIMER_COUNT, TICK);
}

pub(crate) fn stop_timer() {
    write(TIMER, MASKED);
}

pub(crate) fn end_interrupt() {
    write(END_OF_INTERRUPT, 0);
}

/// Starts CPU 1 by INIT and two startup messages, with the delays that processors need.
pub(crate) fn start_second_cpu() {
    place_trampoline();
    for (command, wait_us) in [(INIT, 10_000), (STARTUP, 200), (STARTUP, 200)] {
        let vector = if command == STARTUP { TRAMPOLINE_FRAME as u32 } else { 0 };
        write(COMMAND_HIGH, 1 << 24);
        write(COMMAND_LOW, command | vector);
        port::delay(wait_us);
    }
}
