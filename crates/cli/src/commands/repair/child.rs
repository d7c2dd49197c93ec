//! A process that writes to one of the kernel's files, so that the kernel's work ends when it is killed.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, getpriority_process, set_parent_process_death_signal, setpriority_process,
};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::args::KernelWrite;

/// The messages of the child when it is ready, and to the child to begin.
const READY: u8 = b'.';

/// How long a killed child is waited for: the kernel may be in the middle of something that it ends first.
const LATENESS: Duration = Duration::from_secs(5);

/// The nice value of what is to have a CPU before all other work that is not of real time.
const FIRST: i32 = -20;

/// How long before its end the child comes first: one that waits for a CPU when it is killed ends late, by two ticks or more.
const LEAD: Duration = Duration::from_millis(10);

/// How a write ended.
#[derive(Debug)]
pub(super) enum End {
    /// The kernel has done the request.
    Done,
    /// The child was killed.
    Stopped,
    /// The kernel refused.
    Refused(io::Error),
}

/// A write to one of the kernel's files.
pub(super) struct KernelJob<'a> {
    /// The file; without a text everything dirty is written back instead.
    pub(super) file: &'a Path,
    /// The text to write.
    pub(super) text: Option<&'a str>,
    /// The CPU on which the kernel works.
    pub(super) cpu: Option<u32>,
    /// After how long the child is killed.
    pub(super) most: Option<Duration>,
}

impl KernelJob<'_> {
    /// Has a child write, and returns how that ended and how long it took.
    ///
    /// `wait` is called with the time that is left. It returns how long to wait before the next call, or
    /// `None` if the child is to be killed.
    ///
    /// # Errors
    /// If the child cannot be started.
    pub(super) fn run(
        &self,
        mut wait: impl FnMut(Duration) -> Option<Duration>,
    ) -> io::Result<(End, Duration)> {
        let mut child = self.spawn()?;
        let mut said = child.stdout.take().ok_or_else(|| io::Error::other("the child has no output"))?;
        let mut first = [0];
        if said.read(&mut first)? == 0 || first[0] != READY {
            let mut code = String::from_utf8_lossy(&first).into_owned();
            said.read_to_string(&mut code)?;
            let status = child.wait()?;
            let refused = code.trim().parse().map(io::Error::from_raw_os_error);
            let early = || io::Error::other(format!("the process that writes ended early: {status}"));
            return Err(refused.unwrap_or_else(|_| early()));
        }
        let _urgent = self.most.map(|_| Urgent::new());
        let started = Instant::now();
        let mut begin = child.stdin.take().ok_or_else(|| io::Error::other("the child has no input"))?;
        begin.write_all(&[READY])?;
        let left = || self.most.map_or(Duration::MAX, |most| most.saturating_sub(started.elapsed()));
        let mut pressed = false;
        let ended = loop {
            if !pressed && left() <= LEAD {
                let _ = setpriority_process(Some(Pid::from_child(&child)), FIRST);
                pressed = true;
            }
            let Some(next) = Some(left()).filter(|left| !left.is_zero()).and_then(&mut wait) else {
                break false;
            };
            let until = if pressed { left() } else { left().saturating_sub(LEAD) };
            if has_ended(&said, next.min(until))? {
                break true;
            }
        };
        if !ended {
            child.kill()?;
            if !has_ended(&said, LATENESS)? {
                return Ok((End::Stopped, started.elapsed()));
            }
        }
        let took = started.elapsed();
        let mut code = String::new();
        said.read_to_string(&mut code)?;
        let status = child.wait()?;
        let end = match (status.success(), code.trim().parse()) {
            (true, _) => End::Done,
            (false, Ok(errno)) => End::Refused(io::Error::from_raw_os_error(errno)),
            (false, Err(_)) if status.signal() == Some(Signal::KILL.as_raw()) => End::Stopped,
            (false, Err(_)) => {
                return Err(io::Error::other(format!("the process that writes ended: {status}")));
            }
        };
        Ok((end, took))
    }

    fn spawn(&self) -> io::Result<Child> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("kernel-write");
        if let Some(cpu) = self.cpu {
            command.args(["--cpu", &cpu.to_string()]);
        }
        command.arg(self.file).args(self.text);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Ctrl-C goes to the whole group of the terminal's foreground.
        command.process_group(0).spawn()
    }
}

/// While this lives, its thread has a CPU as soon as it wants one.
struct Urgent {
    /// The nice value before.
    before: Option<i32>,
}

impl Urgent {
    fn new() -> Self {
        let before = getpriority_process(None).ok();
        // Without the right to it, a part of the work may last longer, which its time then shows.
        let _ = setpriority_process(None, FIRST);
        Self { before }
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = setpriority_process(None, before);
        }
    }
}

/// Waits until the child's output ends. Returns true if it has.
fn has_ended(said: &ChildStdout, most: Duration) -> io::Result<bool> {
    let timeout = Timespec { tv_sec: most.as_secs() as i64, tv_nsec: most.subsec_nanos().into() };
    let mut fds = [PollFd::new(said, PollFlags::IN)];
    match poll(&mut fds, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        // A signal to this process, which the caller handles.
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Writes as the arguments say, as soon as the parent says so; ends when the parent does.
pub(crate) fn kernel_write(args: &KernelWrite) -> ExitCode {
    match write(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = write!(io::stdout(), "{}", error.raw_os_error().unwrap_or(0));
            ExitCode::from(3)
        }
    }
}

fn write(args: &KernelWrite) -> io::Result<()> {
    // A parent that ended before this leaves an input that has ended.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if let Some(cpu) = args.cpu.map(|cpu| cpu as usize).filter(|&cpu| cpu < CpuSet::MAX_CPU) {
        let mut only = CpuSet::new();
        only.set(cpu);
        // On another CPU the forecast may be too high, which the comparison then shows.
        let _ = sched_setaffinity(None, &only);
    }
    let file = match args.text {
        Some(_) => Some(OpenOptions::new().write(true).open(&args.file)?),
        None => None,
    };
    io::stdout().write_all(&[READY])?;
    io::stdout().flush()?;
    let mut begin = [0];
    if io::stdin().read(&mut begin)? == 0 {
        return Ok(());
    }
    if let (Some(mut file), Some(text)) = (file, &args.text) {
        return file.write_all(text.as_bytes());
    }
    rustix::fs::sync();
    Ok(())
}
