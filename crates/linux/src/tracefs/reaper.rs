//! A helper process that removes an instance when the recorder has ended, even by SIGKILL.
//!
//! Unsafe island: `fork`, and the calls that are allowed in a forked child. The child runs no other code
//! of the recorder, allocates nothing and ends by `_exit`.
#![expect(unsafe_code, reason = "fork has no safe form")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, setsid, waitpid};
use rustix::thread::nanosleep;
use rustix::time::Timespec;

/// How long the helper tries to remove an instance that is in use.
const PATIENCE: Duration = Duration::from_mins(1);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// The helper process of one instance.
///
/// It waits for the end of a pipe that only the recorder holds open. The kernel closes the pipe when the
/// recorder ends, also by SIGKILL.
#[derive(Debug)]
pub(super) struct Reaper {
    pid: Pid,
    /// Closing it starts the removal.
    pipe: Option<OwnedFd>,
}

impl Reaper {
    /// Starts the helper for instance `name` in the folder `instances`.
    pub(super) fn start(instances: &OwnedFd, name: &str) -> io::Result<Self> {
        let name = CString::new(name)?;
        // The path of the instance's `tracing_on`, which the child cannot allocate.
        let switch = CString::new(format!("{}/tracing_on", name.to_string_lossy()))?;
        let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC)?;
        // SAFETY: the child calls `watch` only, which makes system calls on memory that was
        // set up before the fork, takes no lock, allocates nothing and never returns.
        let child = unsafe { libc::fork() };
        match child {
            -1 => Err(io::Error::last_os_error()),
            0 => watch(&read_end, instances, &name, &switch),
            child => {
                let pid = Pid::from_raw(child).ok_or_else(|| io::Error::other("fork answered no process"))?;
                Ok(Self { pid, pipe: Some(write_end) })
            }
        }
    }

    /// Returns the pid of the helper.
    pub(super) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        drop(self.pipe.take());
        while waitpid(Some(self.pid), WaitOptions::empty()).is_err_and(|e| e == Errno::INTR) {}
    }
}

/// Runs the child: waits for the recorder's end, then removes the instance.
fn watch(pipe: &OwnedFd, instances: &OwnedFd, name: &CStr, switch: &CStr) -> ! {
    leave_the_recorder(pipe.as_raw_fd(), instances.as_raw_fd());
    let mut byte = [0_u8];
    loop {
        match rustix::io::read(pipe, &mut byte) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    if let Ok(switch) = openat(instances, switch, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::io::write(&switch, b"0");
    }
    let pause = Timespec { tv_sec: 0, tv_nsec: PAUSE.subsec_nanos().into() };
    for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
        if unlinkat(instances, name, AtFlags::REMOVEDIR) != Err(Errno::BUSY) {
            break;
        }
        let _ = nanosleep(&pause);
    }
    // SAFETY: `_exit` runs no destructors or handlers, which are the recorder's.
    unsafe { libc::_exit(0) }
}

/// Leaves the recorder's session, blocks every signal and closes its files, except for two.
fn leave_the_recorder(pipe: RawFd, instances: RawFd) {
    let _ = setsid();
    let _ = rustix::process::chdir(c"/");
    // SAFETY: `set` is filled before it is read; a null old set is allowed.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigfillset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        libc::prctl(libc::PR_SET_NAME, c"freehold-reaper".as_ptr());
    }
    let (low, high) = (pipe.min(instances), pipe.max(instances));
    for (first, last) in [(0, low - 1), (low + 1, high - 1), (high + 1, RawFd::MAX)] {
        if first > last {
            continue;
        }
        // SAFETY: the descriptors belong to this process, which uses none of them any more;
        // the recorder's are copies that stay open.
        unsafe {
            if libc::syscall(libc::SYS_close_range, first, last, 0) != 0 {
                for fd in first..=last.min(4096) {
                    libc::close(fd);
                }
            }
        }
    }
}
