//! Finds files of tests that no test program has, in crates that list their test programs by hand.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The test program whose modules are files beside it.
const MAIN: &str = "main";

/// Adds a finding for each of the `files` below `root` that is directly in a crate's `tests`, where the crate's `Cargo.toml` has
/// `autotests = false`, and is neither a test program nor a module of `tests/main.rs`.
///
/// # Errors
/// If a file cannot be read.
pub(super) fn findings(root: &Path, files: &[PathBuf], findings: &mut Vec<String>) -> io::Result<()> {
    for manifest in files.iter().filter(|file| file.ends_with("Cargo.toml")) {
        let text = fs::read_to_string(manifest)?;
        if !text.lines().any(|line| line == "autotests = false") {
            continue;
        }
        let folder = manifest.with_file_name("tests");
        let main = folder.join(MAIN).with_extension("rs");
        let modules = if main.exists() { fs::read_to_string(main)? } else { String::new() };
        for test in files.iter().filter(|file| file.parent() == Some(&folder)) {
            let Some(name) = test.file_stem().and_then(OsStr::to_str) else { continue };
            let is_program = text.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            let is_module = modules.lines().any(|line| line == format!("mod {name};"));
            if !is_program && !is_module {
                let shown = test.strip_prefix(root).unwrap_or(test).display();
                findings.push(format!("{shown}: no test program has it; name it in tests/main.rs"));
            }
        }
    }
    Ok(())
}
