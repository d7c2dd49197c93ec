//! Partial files, which a fatal signal must remove.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Incomplete files and folders of this process.
static LITTER: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Begins something unfinished at `path` by `make`. If SIGINT, SIGTERM or SIGHUP ends this process, it is removed first;
/// no signal comes in between.
pub(super) fn begin<T>(path: &Path, make: impl FnOnce() -> io::Result<Option<T>>) -> io::Result<Option<T>> {
    static WATCH: Once = Once::new();
    WATCH.call_once(watch);
    let mut litter = litter();
    let made = make()?;
    if made.is_some() {
        litter.push(path.to_owned());
    }
    Ok(made)
}

/// Makes a file that is larger than the process may write an error of the write, and not the end.
pub(super) fn survive_file_limit() {
    static HEEDED: Once = Once::new();
    HEEDED.call_once(|| {
        // Without the handler it ends the process.
        let _ = flag::register(SIGXFSZ, Arc::default());
    });
}

/// Does what gives `path` another name, or removes it; no signal's removal comes in between.
pub(super) fn settle(path: &Path, done: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mut litter = litter();
    let done = done();
    if done.is_ok() {
        litter.retain(|it| it != path);
    }
    done
}

/// Removes what is not complete, without waiting for anything: what is being renamed stays.
pub(crate) fn remove_litter() {
    if let Ok(litter) = LITTER.try_lock() {
        remove(&litter);
    }
}

fn remove(litter: &[PathBuf]) {
    for path in litter {
        // Another process may have taken it away.
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    }
}

fn litter() -> MutexGuard<'static, Vec<PathBuf>> {
    LITTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread that waits for signals, and returns when it does.
fn watch() {
    let (send, answer) = channel();
    // Without the thread, signals have their usual effect.
    if thread::Builder::new().name("signals".to_owned()).spawn(move || wait(&send)).is_ok() {
        let _ = answer.recv();
    }
}

fn wait(send: &Sender<()>) {
    let ignored = ignored_signals();
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_in(ignored, signal));
    let Ok(mut signals) = Signals::new(heeded) else { return };
    let _ = send.send(());
    for signal in signals.forever() {
        // Locked until the process has ended: nothing is begun or put in place any more.
        let litter = litter();
        remove(&litter);
        let _ = emulate_default_handler(signal);
    }
}

/// Returns the signals that this process was started to ignore, as nohup(1) does; a bit for each.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn is_in(signals: u64, signal: i32) -> bool {
    signals >> (signal - 1) & 1 == 1
}
