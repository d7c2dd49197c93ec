//! Signals that end a recording cleanly.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::options::RecordOptions;

/// The process's signal flags. They are registered once, as handlers cannot be removed completely.
#[derive(Debug)]
struct Flags {
    interrupt: Arc<AtomicBool>,
    terminate: Arc<AtomicBool>,
    /// True while nothing is recorded: the signals then have their default effect.
    idle: Arc<AtomicBool>,
}

/// How many recordings watch the signals. Exact.
static WATCHERS: AtomicU32 = AtomicU32::new(0);

fn flags() -> &'static Flags {
    static FLAGS: OnceLock<Flags> = OnceLock::new();
    FLAGS.get_or_init(|| {
        let set = |value| Arc::new(AtomicBool::new(value));
        let flags = Flags { interrupt: set(false), terminate: set(false), idle: set(true) };
        for (signal, target) in
            [(SIGINT, &flags.interrupt), (SIGTERM, &flags.terminate), (SIGHUP, &flags.terminate)]
        {
            // Registration fails only for signals that cannot be handled, and these can.
            let _ = flag::register_conditional_default(signal, Arc::clone(&flags.idle));
            let _ = flag::register(signal, Arc::clone(target));
        }
        flags
    })
}

/// Makes SIGINT, SIGTERM and SIGHUP end recordings, also one that has not begun yet, instead of the process, for as long
/// as this lives.
#[derive(Debug)]
pub struct HeededSignals {
    _watched: Signals,
}

impl HeededSignals {
    /// Heeds the signals from now on.
    pub fn new() -> Self {
        Self { _watched: Signals::watch(&RecordOptions::default()) }
    }
}

impl Default for HeededSignals {
    fn default() -> Self {
        Self::new()
    }
}

/// Watches the signals and the stop flag of one recording.
#[derive(Debug)]
pub(super) struct Signals {
    flags: Option<&'static Flags>,
    stop: Option<Arc<AtomicBool>>,
}

impl Signals {
    pub(super) fn watch(options: &RecordOptions) -> Self {
        let stop = options.stop.clone();
        if !options.handle_signals {
            return Self { flags: None, stop };
        }
        let flags = flags();
        if WATCHERS.fetch_add(1, Ordering::SeqCst) == 0 {
            flags.interrupt.store(false, Ordering::SeqCst);
            flags.terminate.store(false, Ordering::SeqCst);
        }
        flags.idle.store(false, Ordering::SeqCst);
        Self { flags: Some(flags), stop }
    }

    /// Returns true if a signal or the stop flag requested the end.
    pub(super) fn stop_requested(&self) -> bool {
        self.terminated() || self.flags.is_some_and(|f| f.interrupt.load(Ordering::SeqCst))
    }

    /// Returns true if only Ctrl-C requested the end: the terminal has sent it to the command as
    /// well.
    pub(super) fn interrupted_only(&self) -> bool {
        self.stop_requested() && !self.terminated()
    }

    fn terminated(&self) -> bool {
        self.stop.as_ref().is_some_and(|s| s.load(Ordering::SeqCst))
            || self.flags.is_some_and(|f| f.terminate.load(Ordering::SeqCst))
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        if let Some(flags) = self.flags
            && WATCHERS.fetch_sub(1, Ordering::SeqCst) == 1
        {
            flags.idle.store(true, Ordering::SeqCst);
        }
    }
}
