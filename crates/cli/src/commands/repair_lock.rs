//! What a repair or a trial needs before it changes memory: to be root, the lock that only one process holds, and to hear of
//! signals.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use rustix::fs::OFlags;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::exit::{Cause, Failure};

/// Folders for a machine's own files until it reboots; the second is Android's.
const FOLDERS: [&str; 2] = ["/run", "/data/local/tmp"];

/// The name of the locked file. It stays, and holds the number of the last process that had it.
const NAME: &str = "freehold-repair.lock";

/// After what time a lock that another process has is tried again.
const AGAIN: Duration = Duration::from_millis(50);

/// Locked while a repair or a verification changes memory; the kernel lets go of it when the process ends.
pub(super) struct RepairLock {
    _file: File,
}

impl RepairLock {
    /// Takes the lock, for which it waits for `most`.
    ///
    /// # Errors
    /// If another process keeps it, which the message names, or nothing can be locked.
    pub(super) fn take(most: Duration) -> Result<Self, Failure> {
        let started = Instant::now();
        loop {
            match Self::try_take()? {
                Ok(lock) => return Ok(lock),
                Err(busy) if started.elapsed() >= most => return Err(busy),
                Err(_) => thread::sleep(AGAIN),
            }
        }
    }

    /// Returns the lock, or who has it.
    fn try_take() -> Result<Result<Self, Failure>, Failure> {
        let folder = FOLDERS.iter().map(Path::new).find(|folder| folder.is_dir());
        let folder = folder.ok_or_else(|| {
            machine(anyhow!("there is neither {} nor {} for a lock", FOLDERS[0], FOLDERS[1]))
        })?;
        let path = folder.join(NAME);
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(flags)
            .open(&path);
        let cannot =
            || format!("{} cannot be locked; free it, so that one repair at a time runs", path.display());
        let mut file = open.with_context(cannot).map_err(machine)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = (&file).take(20).read_to_string(&mut holder);
                let holder = holder.trim().parse::<u32>().map_or_else(
                    |_| "another process".to_owned(),
                    |pid| format!("process {pid}{}", name_of(pid)),
                );
                return Ok(Err(machine(anyhow!(
                    "{holder} repairs this machine's memory, or verifies a forecast. Wait until it has \
                     ended ({})",
                    path.display()
                ))));
            }
            Err(TryLockError::Error(error)) => {
                return Err(machine(anyhow::Error::new(error).context(cannot())));
            }
        }
        // Without the number a second repair is refused all the same.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Ok(Self { _file: file }))
    }
}

fn name_of(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm"));
    name.map_or_else(|_| String::new(), |name| format!(" ({})", name.trim()))
}

fn machine(error: anyhow::Error) -> Failure {
    Failure::new(Cause::Machine, error)
}

/// Fails if this process is not root's, which alone may `do_it`. `or` is what else the user can do.
pub(super) fn must_be_root(do_it: &str, or: &str) -> Result<(), Failure> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let error = anyhow!("only root may {do_it}. Run the same command as root, or {or}");
    Err(Failure::new(Cause::Machine, error))
}

/// Returns a flag that is set when a signal asks this process to end, which it then does by itself.
pub(super) fn ended_by_signal() -> Arc<AtomicBool> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        // Registration fails only for signals that cannot be handled, and these can.
        let _ = signal_hook::flag::register(signal, Arc::clone(&ended));
    }
    ended
}
