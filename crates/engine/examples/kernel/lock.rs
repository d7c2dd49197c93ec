//! The kernel's locks, which keep the contract of `freehold::Platform`.
#![expect(unsafe_code, reason = "the implementation of RawMutex")]

use core::arch::asm;
use core::hint;
use core::sync::atomic::{AtomicBool, Ordering};

use lock_api::{GuardNoSend, RawMutex};

/// The engine's platform: zone locks turn interrupts off, locks of CPUs' lists leave them on.
#[derive(Debug)]
pub(crate) struct Host;

impl freehold::Platform for Host {
    type ZoneLock = InterruptLock;
    type PerCpuLock = SpinLock;
    type Tracepoints = ();
    type Rule = ();
}

/// A lock that spins. An interrupt may only try it.
pub(crate) struct SpinLock(AtomicBool);

/// A lock that turns interrupts off while it is held, and restores their former state on release.
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

// SAFETY: as for the spin lock inside.
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
    // SAFETY: reads the flags through the stack.
    unsafe { asm!("pushfq", "pop {}", out(reg) flags, options(preserves_flags)) }
    flags & 1 << 9 != 0
}

/// Turns interrupts off on this CPU. The compiler does not move memory accesses across it, as with a lock.
pub(crate) fn turn_interrupts_off() {
    // SAFETY: the kernel runs in ring 0.
    unsafe { asm!("cli", options(nostack)) }
}

pub(crate) fn turn_interrupts_on() {
    // SAFETY: the interrupt table is loaded before the first caller, and no lock that an interrupt takes is held.
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
