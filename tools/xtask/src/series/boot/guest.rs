//! Compiles the first process of a guest, and packs it as an initramfs.

use std::fs;
use std::path::{Path, PathBuf};

use freehold_vm::{Entry, archive};

use crate::kernel::process::command;
use crate::series::build::recipe::Arch;
use crate::series::error::{SeriesError, SeriesResult};

/// The folders for mounts.
const FOLDERS: [&str; 4] = ["dev", "proc", "sys", "tmp"];

/// Compiles `kernel/guest` for an architecture and packs it. Both files stay in `folder`.
///
/// # Errors
/// If there is no compiler, or compiling fails.
pub fn initramfs(root: &Path, folder: &Path, arch: Arch) -> SeriesResult<PathBuf> {
    let compiler = arch.compiler()?;
    let program = folder.join("init");
    let mut compile = command(&compiler);
    compile.args(arch.compiler_option());
    compile.args(["-static", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
    let answer = compile.args(sources(&root.join("kernel/guest"))?).output();
    let answer = answer.map_err(SeriesError::file(Path::new(&compiler)))?;
    if !answer.status.success() {
        let said = String::from_utf8_lossy(&answer.stderr).into_owned();
        return Err(SeriesError::Failed { command: format!("{compiler} -static kernel/guest/*.c"), said });
    }
    let bytes = fs::read(&program).map_err(SeriesError::file(&program))?;
    let mut entries = FOLDERS.map(Entry::folder).to_vec();
    entries.push(Entry::program("init", &bytes));
    let packed = archive(&entries)?;
    let place = folder.join("initramfs");
    fs::write(&place, packed).map_err(SeriesError::file(&place))?;
    Ok(place)
}

fn sources(folder: &Path) -> SeriesResult<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(SeriesError::file(folder))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "c")).collect();
    files.sort();
    Ok(files)
}
