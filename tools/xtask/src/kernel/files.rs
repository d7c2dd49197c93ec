//! Reads and writes the files of a source tree.

use std::fs::{self, File};
use std::path::Path;

use super::error::{KernelError, KernelResult};
use super::process::{command, require};

/// Reads a text file.
pub(crate) fn read(path: &Path) -> KernelResult<String> {
    fs::read_to_string(path).map_err(KernelError::file(path))
}

/// Writes a file unless it already has this text: make would rebuild for a newer time.
pub(crate) fn write_if_changed(path: &Path, text: &str) -> KernelResult<()> {
    if fs::read_to_string(path).is_ok_and(|have| have == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(KernelError::file(path))
}

/// Returns a file's SHA-256 in hexadecimal digits.
pub(crate) fn sha256(path: &Path) -> KernelResult<String> {
    require("sha256sum", "coreutils")?;
    let output = command("sha256sum")
        .arg("--binary")
        .stdin(File::open(path).map_err(KernelError::file(path))?)
        .output();
    let said = output.map_err(KernelError::file(path))?.stdout;
    Ok(String::from_utf8_lossy(&said).split_whitespace().next().unwrap_or_default().to_owned())
}

/// Returns `text` with `line` as its last line, which is added unless it is there.
pub(crate) fn with_last_line(text: &str, line: &str) -> String {
    if text.lines().any(|have| have == line) {
        return text.to_owned();
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_added_once() {
        let once = with_last_line("a\nb", "c");
        assert_eq!(once, "a\nb\nc\n");
        assert_eq!(with_last_line(&once, "c"), once);
    }
}
