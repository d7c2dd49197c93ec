//! The end of a process that gets no memory.
//!
//! Unsafe island: a handler of SIGABRT, by which the standard library ends a process whose allocation failed.
#![expect(unsafe_code, reason = "a signal handler that does more than set a flag has no safe form")]

use std::io;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGABRT;
use signal_hook::low_level;

/// True once something panicked: an abort is then a bug's.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// True once the handler runs: its own allocations may fail, too.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Makes a process that gets no memory do `before`, say `remedy` on standard error and end with `exit_code`, instead of
/// being aborted. What the standard library says first is the size of the request.
///
/// `before` runs where memory has ended, and must take no lock that it could wait for. A SIGABRT that another process
/// sends has its usual effect.
///
/// # Errors
/// If the signal cannot be handled.
pub fn end_without_memory(exit_code: i32, remedy: &'static str, before: fn()) -> io::Result<()> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        PANICKED.store(true, Ordering::SeqCst);
        hook(info);
    }));
    let end = move |info: &libc::siginfo_t| {
        if PANICKED.load(Ordering::SeqCst) {
            return;
        }
        // `abort` sends the signal to its own thread.
        if info.si_code != libc::SI_TKILL {
            let _ = low_level::emulate_default_handler(SIGABRT);
            return;
        }
        if !ENDING.swap(true, Ordering::SeqCst) {
            // Without standard error the message is lost.
            let _ = rustix::io::write(rustix::stdio::stderr(), remedy.as_bytes());
            before();
        }
        low_level::exit(exit_code);
    };
    // SAFETY: past the check of the sender, SIGABRT comes from `abort`, which the thread calls that got no memory: it holds
    // no lock of the allocator then, unlike a thread that another process's signal interrupts, for which nothing is called
    // but what signal handlers may call. What the handler calls waits for no lock; it may ask for memory, and comes back
    // here if that fails, to leave at once. It returns only into an `abort` that ends the process.
    unsafe { signal_hook_registry::register_sigaction(SIGABRT, end) }.map(drop)
}
