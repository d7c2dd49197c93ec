//! A tracefs instance: ring buffers and switches of this recorder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, test_kill_process};

use super::mount::Tracefs;
use super::reaper::Reaper;
use crate::error::Error;

/// The trace clock of recordings, which is `CLOCK_MONOTONIC`.
pub(crate) const TRACE_CLOCK: &str = "mono";

/// The prefix of our instances' names; the recorder's pid follows.
const PREFIX: &str = "freehold-";

/// A tracefs instance. Dropping it removes it; if the recorder is killed, the helper removes it.
///
/// Its files must be closed first, as the kernel does not remove an instance that is in use.
#[derive(Debug)]
pub(crate) struct Instance {
    path: PathBuf,
    // Dropped after `drop` has removed the folder: the helper then finds nothing to do.
    reaper: Reaper,
}

impl Instance {
    /// Creates an instance named after this process, and starts its helper.
    pub(crate) fn create(tracefs: &Tracefs) -> Result<Self, Error> {
        // Approximate is enough: a name that exists is skipped.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let instances = tracefs.root().join("instances");
        let folder: OwnedFd = File::open(&instances).map_err(|e| Error::io("open", &instances, e))?.into();
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = match number {
                0 => format!("{PREFIX}{}", std::process::id()),
                _ => format!("{PREFIX}{}-{number}", std::process::id()),
            };
            let path = instances.join(&name);
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(Error::io("create", &path, e)),
            }
            return match Reaper::start(&folder, &name) {
                Ok(reaper) => Ok(Self { path, reaper }),
                Err(e) => {
                    let _ = fs::remove_dir(&path);
                    Err(Error::io("start a helper process for", &path, e))
                }
            };
        }
    }

    /// Prepares the instance: nothing is traced yet, times are those of `CLOCK_MONOTONIC`, and the oldest events are overwritten.
    /// Returns the actual size of each CPU's ring buffer in KiB.
    pub(crate) fn prepare(&self, kib_per_cpu: u64) -> Result<u64, Error> {
        self.write("tracing_on", "0")?;
        self.write("trace_clock", TRACE_CLOCK)?;
        // On overflow each page holds the number of events that were overwritten before it.
        self.write("options/overwrite", "1")?;
        self.set_buffer(kib_per_cpu)
    }

    /// Returns the path of a file of the instance.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the pid of the helper.
    pub(crate) fn helper_pid(&self) -> i32 {
        self.reaper.pid()
    }

    /// Reads a file of the instance.
    pub(crate) fn read(&self, name: &str) -> Result<String, Error> {
        let path = self.file(name);
        read_at_once(&path).map_err(|e| Error::io("read", &path, e))
    }

    /// Writes to a switch of the instance.
    pub(crate) fn write(&self, name: &str, value: &str) -> Result<(), Error> {
        let path = self.file(name);
        write_switch(&path, value).map_err(|e| Error::io("write", &path, e))
    }

    /// Sets the size of the ring buffers. Returns the actual size of each CPU's in KiB.
    fn set_buffer(&self, kib_per_cpu: u64) -> Result<u64, Error> {
        write_switch(&self.file("buffer_size_kb"), &kib_per_cpu.to_string())
            .map_err(|source| Error::Buffer { kib_per_cpu, source })?;
        let size = self.read("buffer_size_kb")?;
        // Before the first event the file reads as "7 (expanded: 1408)", afterwards as a number.
        Ok(size.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(kib_per_cpu))
    }

    /// Returns the CPUs that have a ring buffer.
    pub(super) fn cpus(&self) -> Result<Vec<u32>, Error> {
        let path = self.file("per_cpu");
        let entries = fs::read_dir(&path).map_err(|e| Error::io("read", &path, e))?;
        let mut cpus: Vec<u32> =
            entries.filter_map(|e| e.ok()?.file_name().to_str()?.strip_prefix("cpu")?.parse().ok()).collect();
        cpus.sort_unstable();
        Ok(cpus)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = write_switch(&self.file("tracing_on"), "0");
        let _ = fs::remove_dir(&self.path);
    }
}

/// Reads a small file in one call: `header_page` supports no second one.
fn read_at_once(path: &Path) -> io::Result<String> {
    let mut text = vec![0; 64 << 10];
    let filled = File::open(path)?.read(&mut text)?;
    text.truncate(filled);
    String::from_utf8(text).map_err(io::Error::other)
}

/// Writes an existing file of tracefs in one call.
fn write_switch(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

/// Removes the instances of dead recorders. Returns their names.
///
/// The kernel does not remove an instance that is in use. So the instance of a recorder in another pid
/// namespace, whose pid is unknown here, stays.
pub(crate) fn remove_stale(tracefs: &Tracefs) -> Vec<String> {
    let Ok(entries) = fs::read_dir(tracefs.root().join("instances")) else { return Vec::new() };
    let mut removed = Vec::new();
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if owner(&name).is_some_and(is_dead) && fs::remove_dir(entry.path()).is_ok() {
            removed.push(name);
        }
    }
    removed
}

/// Returns the pid in the name of one of our instances.
fn owner(name: &str) -> Option<Pid> {
    let pid = name.strip_prefix(PREFIX)?;
    let pid = pid.split_once('-').map_or(pid, |(pid, _)| pid);
    Pid::from_raw(pid.parse().ok()?)
}

fn is_dead(pid: Pid) -> bool {
    test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_read_off_names() {
        assert_eq!(owner("freehold-12"), Pid::from_raw(12));
        assert_eq!(owner("freehold-12-3"), Pid::from_raw(12));
        assert_eq!(owner("freehold-"), None);
        assert_eq!(owner("freehold--3"), None);
        assert_eq!(owner("foo_12"), None);
        assert!(!is_dead(Pid::INIT));
    }
}
