//! Signals that ask this process to end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Returns a flag that is set when a signal asks this process to end, which it then does by itself.
pub(super) fn ended_by_signal() -> Arc<AtomicBool> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        // Registration fails only for signals that cannot be handled, and these can.
        let _ = signal_hook::flag::register(signal, Arc::clone(&ended));
    }
    ended
}
