//! Runs other programs.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use super::error::{KernelError, KernelResult, tail};

/// The programs that a kernel's build needs, in addition to the compiler.
const BUILD_PROGRAMS: [&str; 6] = ["gcc", "make", "flex", "bison", "bc", "bash"];

/// The exit codes of `timeout` after the limit.
const TIMED_OUT: [i32; 2] = [124, 137];

/// Returns true if a program of this name is on `PATH`.
pub(crate) fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Fails if a program is missing.
pub(crate) fn require(program: &str, package: &'static str) -> KernelResult<()> {
    if is_on_path(program) {
        return Ok(());
    }
    Err(KernelError::NoProgram { program: program.to_owned(), package })
}

/// Fails if a program that a kernel's build needs is missing.
pub(crate) fn require_build_programs() -> KernelResult<()> {
    match BUILD_PROGRAMS.iter().find(|program| !is_on_path(program)) {
        None => Ok(()),
        Some(program) => Err(KernelError::NoCompiler { program: (*program).to_owned() }),
    }
}

/// Returns a command whose output does not depend on the caller's settings.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    // Cargo's make flags must not reach the kernel's make.
    for variable in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CARGO_MAKEFLAGS", "ARCH", "CROSS_COMPILE"] {
        command.env_remove(variable);
    }
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// Returns a `timeout` command that ends after `seconds`; the caller adds the command to run.
pub(crate) fn limited(seconds: u64) -> KernelResult<Command> {
    require("timeout", "coreutils")?;
    let mut limited = command("timeout");
    limited.args(["--kill-after=5", &seconds.to_string()]);
    Ok(limited)
}

/// Returns true if a command of [`limited`] reached its limit.
pub(crate) fn took_too_long(status: ExitStatus) -> bool {
    status.code().is_some_and(|code| TIMED_OUT.contains(&code))
}

/// Returns the kernel's make, on all CPUs. `host` is the build host in the kernel's version.
pub(crate) fn kernel_make(host: &str) -> Command {
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut make = command("make");
    make.arg("-s").arg(format!("-j{jobs}"));
    make.envs([("KBUILD_BUILD_USER", "freehold"), ("KBUILD_BUILD_HOST", host)]);
    make.env("KBUILD_BUILD_TIMESTAMP", "1970-01-01");
    make
}

/// A build in progress: its lock and its log.
#[derive(Debug)]
pub(crate) struct Job {
    log: PathBuf,
    lock: File,
}

impl Job {
    /// Returns a build that holds `lock` and writes to a new `log`.
    pub(crate) fn new(lock: File, log: PathBuf) -> KernelResult<Self> {
        fs::write(&log, "").map_err(KernelError::file(&log))?;
        Ok(Self { log, lock })
    }

    /// Lets a command inherit the lock, which it then holds even if this process is killed.
    pub(super) fn guard<'c>(&self, command: &'c mut Command) -> KernelResult<&'c mut Command> {
        Ok(command.stdin(self.lock.try_clone().map_err(KernelError::file(&self.log))?))
    }

    /// Runs a command to its end. Its output is added to the log.
    pub(crate) fn run(&self, command: &mut Command) -> KernelResult<()> {
        let log = &self.log;
        let file = OpenOptions::new().append(true).open(log).map_err(KernelError::file(log))?;
        let copy = file.try_clone().map_err(KernelError::file(log))?;
        let status = self.guard(command)?.stdout(file).stderr(copy).status();
        let words = described(command);
        let failed = |said: &str| KernelError::Build {
            command: words.clone(),
            log: log.clone(),
            tail: tail(said, 15),
        };
        let status = status.map_err(|error| failed(&error.to_string()))?;
        if status.success() {
            return Ok(());
        }
        let said = fs::read(log).unwrap_or_default();
        Err(failed(&String::from_utf8_lossy(&said)))
    }
}

fn described(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_on_the_path() {
        assert!(is_on_path("sh"));
        let error = require("no-such-program", "no-package").unwrap_err().to_string();
        assert_eq!(error, "`no-such-program` is not on this machine; it comes with no-package");
    }

    #[test]
    fn a_failure_shows_the_last_lines() {
        let folder = env::temp_dir().join(format!("freehold-process-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let job = Job::new(File::create(folder.join("lock")).unwrap(), folder.join("log")).unwrap();
        let error = job.run(command("sh").args(["-c", "echo first; echo last >&2; exit 3"])).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("`sh -c echo first; echo last >&2; exit 3` failed"), "{text}");
        assert!(text.ends_with("    first\n    last"), "{text}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_command_keeps_the_lock_as_long_as_it_runs() {
        let folder = env::temp_dir().join(format!("freehold-lock-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("lock");
        let lock = File::create(&path).unwrap();
        lock.lock().unwrap();
        let job = Job::new(lock, folder.join("log")).unwrap();
        let mut sleep = command("sleep");
        let mut child = job.guard(sleep.arg("60")).unwrap().spawn().unwrap();
        drop((job, sleep));
        assert!(File::create(&path).unwrap().try_lock().is_err());
        child.kill().unwrap();
        child.wait().unwrap();
        // A child of another test may hold the lock between its fork and its exec.
        File::create(&path).unwrap().lock().unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}
