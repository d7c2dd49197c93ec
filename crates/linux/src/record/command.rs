//! The command that is recorded.

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
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use rustix::time::Timespec;

use super::cost::RunCost;
use super::rusage;
use crate::error::Error;

/// How long a command may take to end after it was told to.
const GRACE: Duration = Duration::from_secs(5);

/// Finds out before anything is recorded that a command cannot be started.
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

/// A running command; told to end when dropped.
pub(super) struct RecordedCommand {
    child: Child,
    pid: Option<Pid>,
    /// Becomes readable when the command ends. Kernels before 5.3 have none.
    pidfd: Option<OwnedFd>,
    ended: bool,
    began: Instant,
    /// CPU time of children that had ended before it began.
    cpu_before_ns: u64,
    /// When it ended, where a thread watches for that.
    ended_at: Arc<OnceLock<Instant>>,
    /// The next step towards its end, and when to take it.
    next_step: Option<(Signal, Instant)>,
}

impl RecordedCommand {
    /// Starts the command, if there is one.
    pub(super) fn start(command: &[String]) -> Result<Option<Self>, Error> {
        let Some((program, arguments)) = command.split_first() else { return Ok(None) };
        let (began, cpu_before_ns) = (Instant::now(), rusage::children_cpu_ns());
        let child = Command::new(program)
            .args(arguments)
            .spawn()
            .map_err(|source| Error::Command { command: program.clone(), source })?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pidfd = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let ended_at = Arc::new(OnceLock::new());
        let (ended, next_step) = (false, None);
        Ok(Some(Self { child, pid, pidfd, ended, began, cpu_before_ns, ended_at, next_step }))
    }

    /// Has a thread note when it ends, for whoever does other things than wait for it.
    pub(super) fn watch_the_clock(&self) {
        let Some(pidfd) = self.pidfd.as_ref().and_then(|pidfd| pidfd.try_clone().ok()) else { return };
        let ended_at = Arc::clone(&self.ended_at);
        thread::spawn(move || {
            while poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None) == Err(Errno::INTR) {}
            let _ = ended_at.set(Instant::now());
        });
    }

    /// What it took, once it has ended.
    pub(super) fn cost(&self) -> RunCost {
        let ended = self.ended_at.get().copied().unwrap_or_else(Instant::now);
        RunCost {
            wall_ns: ended.duration_since(self.began).as_nanos() as u64,
            cpu_ns: rusage::children_cpu_ns().saturating_sub(self.cpu_before_ns),
        }
    }

    /// Has it end, and returns its exit code.
    pub(super) fn end(&mut self) -> Result<i32, Error> {
        loop {
            self.hurry(false);
            if let Some(exit) = self.wait(Duration::from_millis(100))? {
                return Ok(exit);
            }
        }
    }

    /// Waits for at most `timeout` and returns the exit code (128 + the signal that killed
    /// it) once the command has ended.
    pub(super) fn wait(&mut self, timeout: Duration) -> Result<Option<i32>, Error> {
        match &self.pidfd {
            Some(pidfd) => {
                let limit = Timespec { tv_sec: 0, tv_nsec: timeout.subsec_nanos().into() };
                // An interrupted wait is a short one.
                let _ = poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&limit));
            }
            None => thread::sleep(timeout),
        }
        let status = self.child.try_wait().map_err(|e| Error::io("wait for", Path::new("the command"), e))?;
        self.ended = status.is_some();
        Ok(status.map(|s| s.code().or_else(|| s.signal().map(|n| 128 + n)).unwrap_or(-1)))
    }

    /// Takes the next due step towards the command's end: SIGTERM, then SIGKILL.
    ///
    /// `knows`: it got Ctrl-C from the terminal and may end by itself.
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
