//! The settings that live tests may change, and the process that restores them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The hidden argument that runs this program as the guard.
pub(super) const ARGUMENT: &str = "--guard";

/// The sysctls below `/proc/sys/vm` that live tests change.
const SYSCTLS: [&str; 9] = [
    "compaction_proactiveness",
    "extfrag_threshold",
    "min_free_kbytes",
    "nr_hugepages",
    "nr_overcommit_hugepages",
    "percpu_pagelist_high_fraction",
    "swappiness",
    "watermark_boost_factor",
    "watermark_scale_factor",
];

/// Folders in which live tests make folders whose names begin with `freehold`.
const FOLDERS: [&str; 2] = ["/sys/kernel/tracing/instances", "/sys/fs/cgroup"];

/// The settings of this machine that live tests may change.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Settings(BTreeMap<PathBuf, String>);

impl Settings {
    /// Reads the settings below `root`. Those that cannot be read are left out.
    pub(super) fn read(root: &Path) -> Self {
        let vm = root.join("proc/sys/vm");
        let mm = root.join("sys/kernel/mm");
        let mut files: Vec<_> = SYSCTLS.iter().map(|name| vm.join(name)).collect();
        let pools = fs::read_dir(mm.join("hugepages")).into_iter().flatten().flatten();
        files.extend(pools.map(|pool| pool.path().join("nr_hugepages")));
        files.extend(["enabled", "defrag"].map(|name| mm.join("transparent_hugepage").join(name)));
        let read = |path: PathBuf| Some((path.clone(), chosen(&fs::read_to_string(path).ok()?)));
        Self(files.into_iter().filter_map(read).collect())
    }

    /// Restores each changed setting. Returns a line for each.
    pub(super) fn restore(&self, root: &Path) -> Vec<String> {
        let now = Self::read(root);
        let changed = self.0.iter().filter(|(path, value)| now.0.get(*path).is_some_and(|now| now != *value));
        let write = |(path, value): (&PathBuf, &String)| match fs::write(path, value) {
            Ok(()) => format!("{} is {value} again", path.display()),
            Err(error) => format!("{} cannot be set back to {value}: {error}", path.display()),
        };
        changed.map(write).collect()
    }
}

/// Returns a setting's value: the word in brackets if the kernel lists all words, otherwise the text.
fn chosen(text: &str) -> String {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text.trim(), |(word, _)| word).to_owned()
}

/// Returns the folders of live tests that exist.
fn left_folders() -> Vec<PathBuf> {
    let entries = FOLDERS.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("freehold"))
        .map(|entry| entry.path())
        .collect()
}

/// A process that restores the machine when this process ends, even if it is killed.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// Starts the guard, and waits until it has read the settings.
    ///
    /// # Errors
    /// If this program cannot be started again.
    pub(super) fn start() -> io::Result<Self> {
        // The build of the workshop's own tests replaces this program's file.
        let mut guard = Command::new("/proc/self/exe");
        // In its own group, so that a signal from the terminal does not end the guard.
        guard.args(["live", ARGUMENT]).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut guard = guard.spawn()?;
        guard.stdout.as_mut().expect("a pipe").read_exact(&mut [0])?;
        Ok(Self(guard))
    }

    /// Names the group of processes that the guard ends before it restores the machine.
    ///
    /// # Errors
    /// If the guard is gone.
    pub(super) fn watch(&mut self, group: u32) -> io::Result<()> {
        writeln!(self.0.stdin.as_mut().expect("a pipe"), "{group}")
    }

    /// Lets the guard restore the machine. Returns a line for each restored setting.
    ///
    /// # Errors
    /// If the guard is gone.
    pub(super) fn end(mut self) -> io::Result<Vec<String>> {
        drop(self.0.stdin.take());
        let mut said = String::new();
        self.0.stdout.take().expect("a pipe").read_to_string(&mut said)?;
        self.0.wait()?;
        Ok(said.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }
}

/// Runs as the guard: reads the settings, waits for the end of standard input, ends the tests and restores the machine.
///
/// # Errors
/// If standard input cannot be read.
pub(super) fn guard() -> io::Result<()> {
    let root = Path::new("/");
    let settings = Settings::read(root);
    let folders = left_folders();
    let mut out = io::stdout();
    out.write_all(b"\n").and_then(|()| out.flush())?;
    let mut groups = String::new();
    io::stdin().read_to_string(&mut groups)?;
    for group in groups.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)) {
        end_group(group);
    }
    let mut said = settings.restore(root);
    for folder in left_folders().into_iter().filter(|folder| !folders.contains(folder)) {
        let removed = fs::remove_dir(&folder);
        said.push(match removed {
            Ok(()) => format!("{} is removed", folder.display()),
            Err(error) => format!("{} cannot be removed: {error}", folder.display()),
        });
    }
    // The process that started the guard may have ended.
    let _ = writeln!(out, "{}", said.join("\n"));
    Ok(())
}

/// Kills a group of processes, and waits for its end for at most ten seconds.
fn end_group(group: Pid) {
    for _ in 0..100 {
        if kill_process_group(group, Signal::KILL).is_err() || test_kill_process_group(group).is_err() {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_changed_are_written_back_and_named() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let pool = "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
        let huge = "sys/kernel/mm/transparent_hugepage/enabled";
        write("proc/sys/vm/min_free_kbytes", "67584\n");
        write("proc/sys/vm/swappiness", "60\n");
        write(pool, "0\n");
        write(huge, "always [madvise] never\n");
        let settings = Settings::read(root.path());
        assert_eq!(settings.restore(root.path()), Vec::<String>::new());
        write("proc/sys/vm/min_free_kbytes", "1\n");
        write(pool, "512\n");
        write(huge, "[always] madvise never\n");
        let said = settings.restore(root.path()).join("\n");
        assert!(said.contains("min_free_kbytes is 67584 again") && said.contains("enabled is madvise again"));
        assert_eq!(said.lines().count(), 3, "{said}");
        assert_eq!(fs::read_to_string(root.path().join(pool)).unwrap(), "0");
        assert_eq!(fs::read_to_string(root.path().join(huge)).unwrap(), "madvise");
    }
}
