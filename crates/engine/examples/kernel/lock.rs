//! The kernel's locks, as the documentation of `freehold::Platform` asks for them.
#![expect(unsafe_code, reason = "the implementation of RawMutex")]

use core::arch::asm;
use core::hint;
use core::sync::atomic::{AtomicBool, Ordering};

use lock_api::{GuardNoSend, RawMutex};

/// The engine's locks: zones' turn interrupts off, those of CPUs' lists leave them on.
pub(crate) type Platform = (InterruptLock, SpinLock);

/// A lock that spins. An interrupt may only try it.
pub(crate) struct SpinLock(AtomicBool);

/// A lock that turns interrupts off while it is held, and then has them as they were.
pub(crate) struct InterruptLock {
    lock: SpinLock,
    /// True if interrupts were on before. Only the holder reads and writes it.
    were_on: AtomicBool,
}

// SAFETY: the swap from false to true succeeds for one caller until `unlock`, whose Release it pairs with.
unsafe impl RawMutex for SpinLock {
    const INIT: Self = Self(AtomicBool::new(false));

    type GuardMarker = GuardNoSend;

    fn lock(&self) {
        while !self.try_lock() {
            hint::spin_loop();
        }
    }

    fn try_lock(&self) -> bool {
        !self.0.load(Ordering::Relaxed) && !self.0.swap(true, Ordering::Acquire)
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

// SAFETY: as the spin lock in it.
unsafe impl RawMutex for InterruptLock {
    const INIT: Self = Self { lock: SpinLock::INIT, were_on: AtomicBool::new(false) };

    type GuardMarker = GuardNoSend;

    fn lock(&self) {
        while !self.try_lock() {
            hint::spin_loop();
        }
    }

    fn try_lock(&self) -> bool {
        let were_on = are_interrupts_on();
        turn_interrupts_off();
        let taken = self.lock.try_lock();
        if taken {
            self.were_on.store(were_on, Ordering::Relaxed);
        } else if were_on {
            turn_interrupts_on();
        }
        taken
    }

    unsafe fn unlock(&self) {
        let were_on = self.were_on.load(Ordering::Relaxed);
        // SAFETY: by the caller, who holds the lock.
        unsafe { self.lock.unlock() }
        if were_on {
            turn_interrupts_on();
        }
    }
}

fn are_interrupts_on() -> bool {
    let flags: u64;
    // SAFETY: reads the flags by way of the stack.
    unsafe { asm!("pushfq", "pop {}", out(reg) flags, options(preserves_flags)) }
    flags & 1 << 9 != 0
}

/// Keeps interrupts from this CPU. What is before in the program stays before, as with a lock.
pub(crate) fn turn_interrupts_off() {
    // SAFETY: the kernel runs in ring 0.
    unsafe { asm!("cli", options(nostack)) }
}

pub(crate) fn turn_interrupts_on() {
    // SAFETY: the interrupt table is loaded before the first caller, and every lock is free of interrupts.
    unsafe { asm!("sti", options(nostack)) }
}

/// Stops this CPU for good.
pub(crate) fn stop() -> ! {
    turn_interrupts_off();
    loop {
        // SAFETY: halts until an interrupt, and none comes.
        unsafe { asm!("hlt", options(nomem, nostack, preserves_flags)) }
    }
}
