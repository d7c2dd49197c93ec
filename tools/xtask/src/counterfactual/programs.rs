//! Runs other programs, and reports their failures.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kernel::error::tail;
use crate::kernel::process::command;

/// Runs a command and returns its output. The error has the last lines of its standard error.
pub(crate) fn said(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let ran = command.output().map_err(|error| format!("{program} cannot be started: {error}"))?;
    if !ran.status.success() {
        return Err(format!("{program} failed:\n{}", tail(&String::from_utf8_lossy(&ran.stderr), 8)));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// Builds `freehold`, and returns its path.
pub(crate) fn freehold(root: &Path) -> Result<PathBuf, String> {
    let build = ["build", "--release", "--quiet", "--bin", "freehold"];
    said(command("cargo").args(build).current_dir(root))?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("release/freehold"))
}

/// Compiles a program of one file as a static program.
pub(crate) fn compile(compiler: &str, source: &Path, program: &Path) -> Result<(), String> {
    said(command(compiler).args(["-O2", "-static", "-pthread", "-o"]).arg(program).arg(source)).map(drop)
}
