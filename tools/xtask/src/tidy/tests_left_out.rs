//! Finds test files that belong to no test program, in crates that list their test programs in `Cargo.toml`.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The test program whose modules are files beside it.
const MAIN: &str = "main";

/// The folders of a crate's tests: those of `cargo test`, and those that need the machine.
const FOLDERS: [&str; 2] = ["tests", "live"];

/// Adds a finding for each of the `files` below `root` that is directly in a crate's `tests` or `live` but neither a
/// test program nor a module of `main.rs` in the same folder. It checks only crates whose `Cargo.toml` has
/// `autotests = false`.
///
/// # Errors
/// If a file cannot be read.
pub(super) fn findings(root: &Path, files: &[PathBuf], findings: &mut Vec<String>) -> io::Result<()> {
    for manifest in files.iter().filter(|file| file.ends_with("Cargo.toml")) {
        let text = fs::read_to_string(manifest)?;
        if !text.lines().any(|line| line == "autotests = false") {
            continue;
        }
        for name in FOLDERS {
            let folder = manifest.with_file_name(name);
            for test in left_out(&text, &folder, files)? {
                let shown = test.strip_prefix(root).unwrap_or(test).display();
                findings.push(format!("{shown}: no test program has it; name it in {name}/main.rs"));
            }
        }
    }
    Ok(())
}

/// Returns those of the `files` that are directly in a folder of tests and in no test program of the manifest.
fn left_out<'a>(manifest: &str, folder: &Path, files: &'a [PathBuf]) -> io::Result<Vec<&'a PathBuf>> {
    let main = folder.join(MAIN).with_extension("rs");
    let modules = if main.exists() { fs::read_to_string(main)? } else { String::new() };
    let is_left_out = |test: &&PathBuf| {
        let Some(name) = test.file_stem().and_then(OsStr::to_str) else { return false };
        let by_path = format!("/{name}.rs\"\n");
        let is_program =
            manifest.contains(&format!("[[test]]\nname = \"{name}\"\n")) || manifest.contains(&by_path);
        let is_source = test.extension().is_some_and(|extension| extension == "rs");
        is_source && !is_program && !modules.lines().any(|line| line == format!("mod {name};"))
    };
    Ok(files.iter().filter(|file| file.parent() == Some(folder)).filter(is_left_out).collect())
}
