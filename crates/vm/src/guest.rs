//! A running guest: a machine comes in; its console and its end go out.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::console::Console;
use crate::error::{VmError, VmResult};
use crate::machine::{Disk, FIRMWARE, MESSAGE, Machine, STATE, overlay};
use crate::monitor::Monitor;
use crate::program::command;

/// The exit codes of `timeout` when the limit is reached.
const TIMED_OUT: [i32; 2] = [124, 137];

/// The size of the file for a message.
const MESSAGE_BYTES: usize = 4096;

/// A running guest. Dropping it ends QEMU.
#[derive(Debug)]
pub struct Guest {
    pub(crate) machine: Machine,
    /// The folder with the overlays, the state and the message. QEMU runs in this folder.
    room: TempDir,
    emulator: Child,
    console: Console,
    monitor: Option<Monitor>,
    start: Instant,
}

/// The end of a guest.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The complete text of the guest's console.
    pub console: String,
    /// QEMU's standard error.
    pub complaint: String,
    /// QEMU's exit status.
    pub status: ExitStatus,
    /// True if QEMU was killed at [`Machine::limit`].
    pub is_late: bool,
    /// The time since the start.
    pub took: Duration,
}

impl Guest {
    /// Starts a machine.
    ///
    /// # Errors
    /// If QEMU, its firmware or a file of the machine is missing, or QEMU does not start.
    pub fn boot(machine: &Machine) -> VmResult<Self> {
        let room = room()?;
        if machine.is_savable {
            image(&room.path().join(STATE), &["1M"])?;
            write_message(room.path(), "")?;
        }
        for (number, disk) in machine.disks.iter().enumerate() {
            if let Disk::Virtio { image: base } = disk {
                let base = std::path::absolute(base).map_err(VmError::file(base))?;
                image(&room.path().join(overlay(number)), &["-F", "raw", "-b", &base.to_string_lossy()])?;
            }
        }
        Self::start(machine, room, false)
    }

    /// Starts QEMU in a folder that has the files of the machine. With `is_paused` the guest executes nothing until the
    /// monitor continues it.
    pub(crate) fn start(machine: &Machine, room: TempDir, is_paused: bool) -> VmResult<Self> {
        for file in [Some(&machine.kernel), machine.initramfs.as_ref()].into_iter().flatten() {
            File::open(file).map_err(VmError::file(file))?;
        }
        if machine.needs_firmware() && !Path::new(FIRMWARE.0).is_file() {
            return Err(VmError::NoProgram { program: FIRMWARE.0.to_owned(), package: FIRMWARE.1 });
        }
        machine.arch.check()?;
        // `timeout` takes 0 as no limit.
        let seconds = machine.limit.as_secs_f64().max(0.001);
        // `timeout` ends QEMU in time even if this process is killed. QEMU still gets signals from a terminal.
        let mut timeout = command("timeout", "coreutils")?;
        timeout.args(["--foreground", "--kill-after=5", &seconds.to_string()]);
        timeout.arg(machine.arch.emulator().0).args(machine.arguments()?).args(is_paused.then_some("-S"));
        Self::run(machine, room, timeout)
    }

    /// Runs a command whose standard input is the console and whose standard output is the monitor.
    fn run(machine: &Machine, room: TempDir, mut emulator: Command) -> VmResult<Self> {
        let io = || VmError::file(Path::new("QEMU"));
        let complaints = room.path().join("complaints");
        let (console, console_end) = UnixStream::pair().map_err(io())?;
        let (monitor, monitor_end) = UnixStream::pair().map_err(io())?;
        emulator.current_dir(room.path()).stdin(OwnedFd::from(console_end));
        emulator.stdout(if machine.is_savable { OwnedFd::from(monitor_end).into() } else { Stdio::null() });
        emulator.stderr(File::create(&complaints).map_err(VmError::file(&complaints))?);
        let start = Instant::now();
        let child = emulator.spawn().map_err(io())?;
        // `emulator` has QEMU's ends of the sockets. While it exists, the console would not end with QEMU.
        drop(emulator);
        let console = Console::new(console, complaints);
        let mut guest =
            Self { machine: machine.clone(), room, emulator: child, console, monitor: None, start };
        if machine.is_savable {
            guest.monitor = Some(Monitor::new(monitor).map_err(|_| guest.console.ended())?);
        }
        Ok(guest)
    }

    /// Returns the console.
    pub fn console(&mut self) -> &mut Console {
        &mut self.console
    }

    /// Returns the monitor of a machine that can be saved.
    pub(crate) fn monitor(&mut self) -> VmResult<&mut Monitor> {
        let reason = self.machine.obstacle();
        match (&mut self.monitor, reason) {
            (Some(monitor), None) => Ok(monitor),
            (_, reason) => Err(VmError::Unsavable { reason: reason.unwrap_or("it has no monitor") }),
        }
    }

    /// Waits for QEMU to end after the command `quit`. Returns the machine and the folder of its files.
    pub(crate) fn leave(mut self) -> VmResult<(Machine, TempDir)> {
        self.emulator.wait().map_err(VmError::file(Path::new("QEMU")))?;
        let room = std::mem::replace(&mut self.room, room()?);
        Ok((self.machine.clone(), room))
    }

    /// Reads the console to its end, and waits for QEMU, which ends at [`Machine::limit`] at the latest.
    ///
    /// # Errors
    /// If the console cannot be read, or QEMU does not end.
    pub fn finish(mut self) -> VmResult<Ended> {
        let patience = self.machine.limit.saturating_add(Duration::from_secs(30));
        while self.console.line(patience)?.is_some() {}
        let status = self.emulator.wait().map_err(VmError::file(Path::new("QEMU")))?;
        Ok(Ended {
            console: self.console.text().to_owned(),
            complaint: self.console.complaint(),
            status,
            is_late: status.code().is_some_and(|code| TIMED_OUT.contains(&code)),
            took: self.start.elapsed(),
        })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // `timeout` passes the signal on, and kills QEMU if that does not help.
        if matches!(self.emulator.try_wait(), Ok(None)) {
            let _ = kill_process(Pid::from_child(&self.emulator), Signal::TERM);
            let _ = self.emulator.wait();
        }
    }
}

/// Returns an empty folder for a guest.
pub(crate) fn room() -> VmResult<TempDir> {
    TempDir::with_prefix("freehold-vm-").map_err(VmError::file(&std::env::temp_dir()))
}

/// Writes the message that a guest finds in the firmware configuration, padded with line ends to a fixed size.
pub(crate) fn write_message(room: &Path, message: &str) -> VmResult<()> {
    if message.len() > MESSAGE_BYTES {
        let said = format!("it has {} bytes, and {MESSAGE_BYTES} are the most", message.len());
        return Err(VmError::Refused { command: "the message".to_owned(), said });
    }
    let path = room.join(MESSAGE);
    let mut bytes = message.as_bytes().to_vec();
    bytes.resize(MESSAGE_BYTES, b'\n');
    fs::write(&path, bytes).map_err(VmError::file(&path))
}

/// Makes a qcow2 image.
fn image(path: &Path, options: &[&str]) -> VmResult<()> {
    let mut create = command("qemu-img", "qemu-utils")?;
    create.args(["create", "-q", "-f", "qcow2"]);
    match options {
        [size] => create.arg(path).arg(size),
        options => create.args(options).arg(path),
    };
    let output = create.stdin(Stdio::null()).output().map_err(VmError::file(path))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(VmError::Refused { command: "qemu-img create".to_owned(), said })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Arch;

    /// Runs a shell script instead of QEMU. The standard input of the script is the console.
    fn run(script: &str, is_savable: bool) -> VmResult<Guest> {
        let mut machine = Machine::new(Arch::X86_64, Path::new("vmlinuz"));
        machine.is_savable = is_savable;
        let mut shell = Command::new("timeout");
        shell.args(["--foreground", "2", "sh", "-c", script]);
        Guest::run(&machine, room()?, shell)
    }

    #[test]
    fn silent_console_is_an_error_with_its_last_lines() {
        let mut guest = run("echo 'Linux version' >&0; exec sleep 60", false).unwrap();
        let error = guest.console().until("READY", Duration::from_millis(300)).unwrap_err().to_string();
        assert!(error.contains("\"READY\" within 0.3 s") && error.ends_with("    Linux version"), "{error}");
        let start = Instant::now();
        drop(guest);
        assert!(start.elapsed() < Duration::from_secs(1), "it was ended");
    }

    #[test]
    fn end_has_console_complaint_and_status() {
        let ended = run("read line; echo \"it $line\" >&0; echo ouch >&2; exit 33", false);
        let mut guest = ended.unwrap();
        guest.console().send("boots").unwrap();
        let ended = guest.finish().unwrap();
        assert_eq!((ended.console.as_str(), ended.complaint.as_str()), ("it boots\n", "ouch\n"));
        assert_eq!((ended.status.code(), ended.is_late), (Some(33), false));
    }

    #[test]
    fn a_guest_that_hangs_is_ended_at_the_limit() {
        let ended = run("exec sleep 60", false).unwrap().finish().unwrap();
        assert!(ended.is_late && ended.took < Duration::from_secs(30), "{ended:?}");
    }

    #[test]
    fn failed_start_reports_the_reason() {
        let error = run("echo 'no such machine' >&2; exit 1", true).unwrap_err().to_string();
        assert!(error.ends_with("QEMU said\n    no such machine"), "{error}");
    }

    #[test]
    fn a_missing_kernel_is_named() {
        let error = Guest::boot(&Machine::new(Arch::X86_64, Path::new("/no/vmlinuz"))).unwrap_err();
        assert!(error.to_string().starts_with("/no/vmlinuz: "), "{error}");
    }

    #[test]
    fn a_message_has_a_fixed_size() {
        let room = room().unwrap();
        write_message(room.path(), "free /tmp").unwrap();
        let bytes = fs::read(room.path().join(MESSAGE)).unwrap();
        assert!(bytes.starts_with(b"free /tmp\n") && bytes.len() == MESSAGE_BYTES);
        assert!(write_message(room.path(), &"x".repeat(MESSAGE_BYTES + 1)).is_err());
    }
}
