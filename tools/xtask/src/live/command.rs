//! The command: announces its effects, takes the lock, runs tests, restores the machine, and reports the verdicts.

use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, Write, stderr};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use clap::Args;

use super::guard::{self, Guard};
use super::kept::Kept;
use super::list::{self, COMMANDS, Command};
use super::outcome::{Reader, Verdict};
use super::sources;

/// The lock that prevents two runs at the same time.
const LOCK: &str = "freehold-live.lock";

/// Run tests that need this machine, QEMU, a browser, Prometheus or a kernel
#[derive(Args, Debug)]
pub struct LiveArgs {
    /// Command of the list to run; by default, list the commands
    #[arg(value_name = "COMMAND")]
    name: Option<String>,
    /// Run only tests with one of these words in their names
    #[arg(value_name = "TEST")]
    tests: Vec<String>,
    /// Write the verdicts to the kept list; without COMMAND, only add missing tests
    #[arg(long)]
    keep: bool,
    /// Fail if the kept list is incomplete, outdated, or has a failed test
    #[arg(long, conflicts_with_all = ["name", "keep"])]
    check: bool,
    /// Wait for the end of another program, and restore the machine
    #[arg(long, hide = true)]
    guard: bool,
}

/// The outcome of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// All tests were judged and passed.
    Passed,
    /// A test failed, or the kept list has findings.
    Failed,
    /// No test failed, but some were skipped because they lack a program or a permission.
    Skipped,
    /// No test failed, but the machine was too busy to judge some.
    TooBusy,
}

impl Ended {
    /// Returns the exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Skipped => 69,
            Self::TooBusy => 75,
        }
    }

    fn of(verdicts: &[(String, Verdict)]) -> Self {
        let has = |wanted: Verdict| verdicts.iter().any(|(_, verdict)| *verdict == wanted);
        match () {
            () if verdicts.is_empty() || has(Verdict::Failed) => Self::Failed,
            () if has(Verdict::TooBusy) => Self::TooBusy,
            () if has(Verdict::Skipped) => Self::Skipped,
            () => Self::Passed,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// If the command is unknown, another run has the lock, or something cannot be started, read or written.
pub fn run(args: &LiveArgs, root: &Path) -> Result<Ended, String> {
    if args.guard {
        return guard::guard().map(|()| Ended::Passed).map_err(|error| format!("the guard: {error}"));
    }
    if args.check {
        let findings = super::findings(root)?;
        for finding in &findings {
            println!("{finding}");
        }
        return Ok(if findings.is_empty() { Ended::Passed } else { Ended::Failed });
    }
    let Some(name) = &args.name else {
        for command in COMMANDS {
            println!("{:10} {}", command.name, command.effect);
            if args.keep {
                keep(command, &[], root)?;
            }
        }
        return Ok(Ended::Passed);
    };
    let command = list::command(name).ok_or_else(|| {
        let names: Vec<_> = COMMANDS.iter().map(|command| command.name).collect();
        format!("no command {name}; there are {}", names.join(", "))
    })?;
    eprintln!("This {}. It restores the settings that it changes, also if it is killed.", command.effect);
    let _lock = lock()?;
    let verdicts = tried(command, &args.tests, root)?;
    let ended = report(&verdicts);
    if args.keep {
        keep(command, &verdicts, root)?;
    }
    Ok(ended)
}

/// Writes the verdicts on tests of a command into the kept list.
fn keep(command: &Command, verdicts: &[(String, Verdict)], root: &Path) -> Result<(), String> {
    let all = sources::tests(root, command.folder).map_err(|error| format!("{}: {error}", command.folder))?;
    let mut kept = Kept::read(root)?;
    kept.note(command, &all, verdicts, &head(root)?);
    kept.write(root)
}

/// Returns the lock, which lasts as long as this program.
fn lock() -> Result<File, String> {
    let path = std::env::temp_dir().join(LOCK);
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(|error| format!("{} cannot be opened: {error}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err("another `cargo xtask live` runs; wait for its end".to_owned()),
        Err(TryLockError::Error(error)) => Err(format!("{} cannot be locked: {error}", path.display())),
    }
}

/// Runs the tests, one at a time, and restores the machine.
fn tried(command: &Command, tests: &[String], root: &Path) -> Result<Vec<(String, Verdict)>, String> {
    let broken = |error: std::io::Error| format!("cargo test: {error}");
    let mut build = Process::new("cargo");
    build.args(command.cargo()).args(["--quiet", "--no-run"]).current_dir(root);
    if !build.status().map_err(broken)?.success() {
        return Err(format!("the tests of {} cannot be built", command.package));
    }
    let variables = command.variables()?;
    let mut guard = Guard::start().map_err(|error| format!("the guard cannot be started: {error}"))?;
    // Both outputs share one pipe, so that the output of a test comes before its end.
    let mut words: Vec<_> = command.cargo();
    words.extend(["--quiet", "--", "--test-threads", "1", "--format", "pretty"]);
    let script = "exec cargo \"$@\" 2>&1";
    let mut cargo = Process::new("sh");
    cargo.args(["-c", script, "cargo"]).args(words).args(tests).envs(variables).current_dir(root);
    cargo.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut cargo = cargo.spawn().map_err(broken)?;
    guard.watch(cargo.id()).map_err(broken)?;
    let mut reader = Reader::default();
    let mut lines = BufReader::new(cargo.stdout.take().ok_or("cargo test has no output")?);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(broken)? > 0 {
        let text = String::from_utf8_lossy(&line);
        // The user may have closed standard error.
        let _ = stderr().write_all(&line);
        reader.line(text.trim_end_matches('\n'));
        line.clear();
    }
    let status = cargo.wait().map_err(broken)?;
    for restored in guard.end().map_err(|error| format!("the guard: {error}"))? {
        eprintln!("restored: {restored}");
    }
    let verdicts = reader.end();
    if !status.success() && verdicts.iter().all(|(_, verdict)| *verdict != Verdict::Failed) {
        return Err(format!("the tests of {} ended with {status}", command.package));
    }
    Ok(verdicts)
}

/// Prints how many tests have each verdict, and the names of those that did not pass.
fn report(verdicts: &[(String, Verdict)]) -> Ended {
    for (name, verdict) in verdicts.iter().filter(|(_, verdict)| *verdict != Verdict::Passed) {
        println!("{verdict}: {name}");
    }
    let counted = [Verdict::Passed, Verdict::Failed, Verdict::Skipped, Verdict::TooBusy];
    let counted = counted
        .map(|each| format!("{} {each}", verdicts.iter().filter(|(_, verdict)| *verdict == each).count()));
    println!("{}", counted.join(", "));
    Ended::of(verdicts)
}

/// Returns the short name of the commit that is checked out.
fn head(root: &Path) -> Result<String, String> {
    let ran = Process::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root).output();
    let ran = ran.map_err(|error| format!("git cannot be started: {error}"))?;
    Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_without_verdicts_is_not_a_success() {
        let of = |verdicts: &[Verdict]| {
            Ended::of(&verdicts.iter().map(|is| (String::new(), *is)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), Ended::Failed, "no test at all");
        assert_eq!(of(&[Verdict::Passed]), Ended::Passed);
        assert_eq!(of(&[Verdict::Passed, Verdict::Skipped]), Ended::Skipped);
        assert_eq!(of(&[Verdict::Skipped, Verdict::TooBusy]), Ended::TooBusy);
        assert_eq!(of(&[Verdict::TooBusy, Verdict::Failed]), Ended::Failed);
    }
}
