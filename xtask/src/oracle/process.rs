//! Running other programs.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};

use super::error::{OracleError, Result, tail};

/// Whether a program of that name is on the path.
pub(crate) fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Refuses to go on without a program.
pub(crate) fn require(program: &str, package: &'static str) -> Result<()> {
    if is_on_path(program) {
        return Ok(());
    }
    Err(OracleError::NoProgram { program: program.to_owned(), package })
}

/// A command whose words do not depend on the caller's settings.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    // Cargo's own make flags would reach the kernel's make.
    for variable in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CARGO_MAKEFLAGS", "ARCH", "CROSS_COMPILE"] {
        command.env_remove(variable);
    }
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// Runs a command to its end; all that it says goes to the end of `log`.
pub(crate) fn run(command: &mut Command, log: &Path) -> Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(log).map_err(OracleError::file(log))?;
    let copy = file.try_clone().map_err(OracleError::file(log))?;
    let status = command.stdout(file).stderr(copy).status();
    let words = described(command);
    let failed =
        |said: &str| OracleError::Build { command: words.clone(), log: log.to_owned(), tail: tail(said, 15) };
    let status = status.map_err(|error| failed(&error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    let said = fs::read(log).unwrap_or_default();
    Err(failed(&String::from_utf8_lossy(&said)))
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
        let log = env::temp_dir().join(format!("freehold-process-{}.log", std::process::id()));
        let error = run(command("sh").args(["-c", "echo first; echo last >&2; exit 3"]), &log).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("`sh -c echo first; echo last >&2; exit 3` failed"), "{text}");
        assert!(text.ends_with("    first\n    last"), "{text}");
        fs::remove_file(&log).unwrap();
    }
}
