//! The recorded command: starting it, waiting for it, ending it.

use std::env;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::Timespec;

use super::cost::RunCost;
use super::rusage;
use crate::error::Error;

/// How long a command may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);

/// Fails if a command cannot be started, before anything is recorded.
pub(super) fn check(command: &[String]) -> Result<(), Error> {
    let Some(program) = command.first() else { return Ok(()) };
    let runs = |path: PathBuf| {
        let is_file = path.metadata().map(|it| it.is_file())?;
        access(&path, Access::EXEC_OK)?;
        if is_file { Ok(()) } else { Err(io::Error::from(io::ErrorKind::PermissionDenied)) }
    };
    let found = if program.contains('/') {
        runs(PathBuf::from(program))
    } else {
        let path = env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
        let mut tries = env::split_paths(&path).map(|folder| runs(folder.join(program)));
        if tries.any(|found| found.is_ok()) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    found.map_err(|source| Error::Command { command: program.clone(), source })
}

/// Returns a file that becomes readable when the process ends.
#[cfg(not(target_os = "android"))]
fn pidfd_of(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

/// Returns `None`: `rustix` has no such file for Android's libc.
#[cfg(target_os = "android")]
fn pidfd_of(_: Pid) -> Option<OwnedFd> {
    None
}

/// A running command. Dropping it ends it.
pub(super) struct RecordedCommand {
    child: Child,
    pid: Option<Pid>,
    /// Becomes readable when the command ends; `None` on kernels before 5.3, and if built for Android's libc.
    pidfd: Option<OwnedFd>,
    ended: bool,
    began: Instant,
    /// CPU time of children that had ended before the command started.
    cpu_before_ns: u64,
    /// When the command ended, if a thread watches it.
    ended_at: Arc<OnceLock<Instant>>,
    /// The next signal to the command, and when to send it.
    next_step: Option<(Signal, Instant)>,
}

impl RecordedCommand {
    /// Starts the command unless `command` is empty.
    pub(super) fn start(command: &[String]) -> Result<Option<Self>, Error> {
        let Some((program, arguments)) = command.split_first() else { return Ok(None) };
        let (began, cpu_before_ns) = (Instant::now(), rusage::children_cpu_ns());
        let child = Command::new(program)
            .args(arguments)
            .spawn()
            .map_err(|source| Error::Command { command: program.clone(), source })?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pidfd = pid.and_then(pidfd_of);
        let ended_at = Arc::new(OnceLock::new());
        let (ended, next_step) = (false, None);
        Ok(Some(Self { child, pid, pidfd, ended, began, cpu_before_ns, ended_at, next_step }))
    }

    /// Starts a thread that notes when the command ends.
    pub(super) fn watch_the_clock(&self) {
        let Some(pidfd) = self.pidfd.as_ref().and_then(|pidfd| pidfd.try_clone().ok()) else { return };
        let ended_at = Arc::clone(&self.ended_at);
        thread::spawn(move || {
            while poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None) == Err(Errno::INTR) {}
            let _ = ended_at.set(Instant::now());
        });
    }

    /// Returns the times of the command. Valid once it has ended.
    pub(super) fn cost(&self) -> RunCost {
        let ended = self.ended_at.get().copied().unwrap_or_else(Instant::now);
        RunCost {
            wall_ns: ended.duration_since(self.began).as_nanos() as u64,
            cpu_ns: rusage::children_cpu_ns().saturating_sub(self.cpu_before_ns),
        }
    }

    /// Ends the command and returns its exit code.
    pub(super) fn end(&mut self) -> Result<i32, Error> {
        loop {
            self.hurry(false);
            if let Some(exit) = self.wait(Duration::from_millis(100))? {
                return Ok(exit);
            }
        }
    }

    /// Waits for at most `timeout`. Returns the exit code (128 + the signal that killed it) if the
    /// command has ended.
    pub(super) fn wait(&mut self, timeout: Duration) -> Result<Option<i32>, Error> {
        match &self.pidfd {
            Some(pidfd) => {
                let limit = Timespec { tv_sec: 0, tv_nsec: timeout.subsec_nanos().into() };
                // A signal only makes the wait shorter.
                let _ = poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&limit));
            }
            None => thread::sleep(timeout),
        }
        let status = self.child.try_wait().map_err(|e| Error::io("wait for", Path::new("the command"), e))?;
        self.ended = status.is_some();
        Ok(status.map(|s| s.code().or_else(|| s.signal().map(|n| 128 + n)).unwrap_or(-1)))
    }

    /// Sends the next due signal: SIGTERM, then SIGKILL.
    ///
    /// `knows` says that the command got Ctrl-C from the terminal as well, and may end by itself.
    pub(super) fn hurry(&mut self, knows: bool) {
        let now = Instant::now();
        let first = (Signal::TERM, if knows { now + GRACE } else { now });
        let (signal, due) = *self.next_step.get_or_insert(first);
        if now >= due {
            self.send(signal);
            self.next_step = Some((Signal::KILL, now + GRACE));
        }
    }

    fn send(&self, signal: Signal) {
        if let Some(pid) = self.pid {
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for RecordedCommand {
    fn drop(&mut self) {
        if !self.ended {
            self.send(Signal::TERM);
            let _ = self.child.try_wait();
        }
    }
}
