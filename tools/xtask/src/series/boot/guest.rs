//! Compiles the only process of a booted kernel, and packs it as an initramfs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::kernel::process::command;
use crate::series::build::recipe::Arch;
use crate::series::error::{SeriesError, SeriesResult};

/// The mode of folders.
const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const FILE: u32 = 0o100_644;

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
    let packed = pack(&fs::read(&program).map_err(SeriesError::file(&program))?);
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

/// Returns an archive of the process and the folders that it needs.
fn pack(program: &[u8]) -> Vec<u8> {
    let mut entries = FOLDERS.map(Entry::folder).to_vec();
    entries.push(Entry::program("init", program));
    archive(&entries)
}

/// A file or folder of an archive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    name: &'a str,
    mode: u32,
    content: &'a [u8],
}

impl<'a> Entry<'a> {
    pub(crate) const fn folder(name: &'a str) -> Self {
        Self { name, mode: FOLDER, content: &[] }
    }

    pub(crate) const fn file(name: &'a str, content: &'a [u8]) -> Self {
        Self { name, mode: FILE, content }
    }

    pub(crate) const fn program(name: &'a str, content: &'a [u8]) -> Self {
        Self { name, mode: PROGRAM, content }
    }
}

/// Returns an archive of entries, a folder before what is in it.
pub(crate) fn archive(entries: &[Entry<'_>]) -> Vec<u8> {
    let size: usize = entries.iter().map(|entry| entry.content.len() + 256).sum();
    let mut archive = Vec::with_capacity(size);
    for one in entries {
        entry(&mut archive, one.name, one.mode, one.content);
    }
    entry(&mut archive, "TRAILER!!!", 0, &[]);
    archive
}

/// Adds a file to an archive in cpio's format `newc`: thirteen numbers of eight digits, name, and
/// content.
fn entry(archive: &mut Vec<u8>, name: &str, mode: u32, content: &[u8]) {
    let number = archive.len() as u32 + 1;
    let (links, size, name_size) = (1, content.len() as u32, name.len() as u32 + 1);
    archive.extend(b"070701");
    for field in [number, mode, 0, 0, links, 0, size, 0, 0, 0, 0, name_size, 0] {
        archive.extend(format!("{field:08X}").bytes());
    }
    archive.extend(name.bytes());
    archive.push(0);
    align(archive);
    archive.extend(content);
    align(archive);
}

fn align(archive: &mut Vec<u8>) {
    archive.resize(archive.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_heads_names_and_contents_at_multiples_of_four() {
        let archive = pack(b"ELF!!");
        assert_eq!(archive.len() % 4, 0);
        let heads: Vec<_> = (0..archive.len()).filter(|&at| archive[at..].starts_with(b"070701")).collect();
        assert_eq!(heads.len(), FOLDERS.len() + 2);
        assert!(heads.iter().all(|at| at % 4 == 0));
        let init = heads[FOLDERS.len()];
        assert_eq!(&archive[init + 14..init + 22], b"000081ED");
        assert_eq!(&archive[init + 54..init + 62], b"00000005");
        assert_eq!(&archive[init + 110..init + 115], b"init\0");
        assert_eq!(&archive[init + 116..init + 121], b"ELF!!");
    }
}
