//! A machine's files as a folder, whatever they are given as: a root, a folder of files, an archive or one text.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use freehold_linux::Excerpt;

use crate::exit::{Cause, Failure};
use crate::output;

/// Files of `/proc` of which one suffices.
const FREE_MEMORY: [&str; 3] = ["buddyinfo", "pagetypeinfo", "zoneinfo"];

/// The most names that are tried for a temporary folder.
const MOST_NAMES: u32 = 16;

/// The root of a machine's files. What was unpacked for it is removed when it is dropped.
pub(super) enum MachineFiles {
    /// A folder that the user has.
    Root(PathBuf),
    /// A folder that was made of a file or of single files.
    Unpacked(Unpacked),
}

impl MachineFiles {
    /// Finds the files that `given` names: the root of a machine, a folder with the files themselves or with a machine's folder in it,
    /// a bug report, a tar archive, or a text of one of the files.
    ///
    /// # Errors
    /// If a file has nothing of a machine's free memory, or cannot be read.
    pub(super) fn open(given: &Path) -> Result<Self, Failure> {
        if given.is_file() {
            return Self::of_file(given);
        }
        if is_live_proc(given) {
            let error = anyhow!(
                "{} has the files of a running machine; name / for this machine, or a folder with copies",
                given.display()
            );
            return Err(Failure::new(Cause::Usage, error));
        }
        if given == Path::new("/") || given.join("proc").is_dir() {
            return Ok(Self::Root(given.to_owned()));
        }
        if FREE_MEMORY.iter().any(|name| given.join(name).is_file()) {
            return Self::of_folder(given);
        }
        Ok(Self::Root(only_machine_in(given).unwrap_or_else(|| given.to_owned())))
    }

    /// Fails if a page size is given for this machine, which has its own.
    pub(super) fn refuse_page_size(&self, page_size: Option<u64>) -> Result<(), Failure> {
        match page_size {
            Some(_) if self.root() == Path::new("/") => {
                let what =
                    anyhow!("--page-size is for copied files that do not say it; this machine's is known");
                Err(Failure::new(Cause::Usage, what))
            }
            _ => Ok(()),
        }
    }

    /// Returns the folder that contains `proc`.
    pub(super) fn root(&self) -> &Path {
        match self {
            Self::Root(root) | Self::Unpacked(Unpacked(root)) => root,
        }
    }

    fn of_file(file: &Path) -> Result<Self, Failure> {
        let excerpt = Excerpt::read(file)?;
        if !excerpt.has_free_memory() {
            return Err(Failure::new(Cause::Data, anyhow!(nothing_found(file, &excerpt))));
        }
        Ok(Self::Unpacked(Unpacked::new(file, |root| excerpt.write_below(root))?))
    }

    fn of_folder(folder: &Path) -> Result<Self, Failure> {
        let copy = |root: &Path| {
            fs::create_dir_all(root.join("proc"))?;
            for entry in fs::read_dir(folder)?.flatten().filter(|entry| entry.path().is_file()) {
                fs::copy(entry.path(), root.join("proc").join(entry.file_name()))?;
            }
            Ok(())
        };
        Ok(Self::Unpacked(Unpacked::new(folder, copy)?))
    }
}

/// Returns true if a folder is a mounted proc file system: some of its files have no end, or change as they are read.
fn is_live_proc(folder: &Path) -> bool {
    rustix::fs::statfs(folder).is_ok_and(|stat| stat.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

fn nothing_found(file: &Path, excerpt: &Excerpt) -> String {
    let found: Vec<_> = excerpt.names().collect();
    let only = if found.is_empty() { String::new() } else { format!("; it has only {}", found.join(", ")) };
    format!(
        "{}: no buddyinfo, pagetypeinfo or zoneinfo was found by a heading with its path, nor by its rows (`Node 0, zone …`){only}. Name a folder with proc, a bug report, a tar archive (.gz, .xz, .zst or plain), or one of these files",
        file.display()
    )
}

/// Returns the only folder in `folder` that has a machine's files.
fn only_machine_in(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut machines = entries.filter(|path| path.join("proc").is_dir());
    machines.next().filter(|_| machines.next().is_none())
}

/// A temporary folder.
pub(super) struct Unpacked(PathBuf);

impl Unpacked {
    /// Makes a folder, has it filled, and has messages name `given` in its place.
    fn new(given: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> Result<Self, Failure> {
        let unpacked =
            Self::empty().context("no temporary folder can be made; set TMPDIR to one that can be written");
        let unpacked = unpacked.map_err(|error| Failure::new(Cause::Output, error))?;
        let failed = |error| {
            let context = format!("{} cannot be unpacked into {}", given.display(), unpacked.0.display());
            Failure::new(Cause::NoInput, anyhow::Error::new(error).context(context))
        };
        fill(&unpacked.0).map_err(failed)?;
        output::print_path_as(&unpacked.0, format!("{}:", given.display()));
        Ok(unpacked)
    }

    fn empty() -> io::Result<Self> {
        let mut last = io::ErrorKind::AlreadyExists.into();
        for _ in 0..MOST_NAMES {
            let path = std::env::temp_dir().join(format!("freehold-{:016x}", fastrand::u64(..)));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // A folder that cannot be removed is the system's to clean.
        let _ = fs::remove_dir_all(&self.0);
    }
}
