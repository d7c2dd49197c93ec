//! A memory cgroup with a small limit.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::skip::skip;

/// The most attempts to remove a cgroup whose processes are still ending, a tenth of a second apart.
const REMOVALS: u32 = 50;

/// A cgroup with a memory limit. Dropping it waits for its processes to end and removes it.
#[derive(Debug)]
pub struct MemoryCgroup(PathBuf);

impl MemoryCgroup {
    /// Makes a cgroup with a limit of `bytes`. Returns `None` if there is no memory controller.
    pub fn new(bytes: u64, test: &str) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("freehold-test-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        for (root, limit) in
            [("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")]
        {
            let group = Path::new(root).join(&name);
            if fs::create_dir(&group).is_err() {
                continue;
            }
            // The folder may lie in an ordinary file system, where `create` would make a file of this name.
            let file = fs::OpenOptions::new().write(true).open(group.join(limit));
            if file.and_then(|mut file| file.write_all(bytes.to_string().as_bytes())).is_ok() {
                return Some(Self(group));
            }
            let _ = fs::remove_dir(&group);
        }
        skip(test, "no memory controller of control groups");
        None
    }

    /// Returns a shell command that moves the shell into the cgroup.
    pub fn join(&self) -> String {
        format!("echo $$ > {}/cgroup.procs", self.0.display())
    }
}

impl Drop for MemoryCgroup {
    fn drop(&mut self) {
        for _ in 0..REMOVALS {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}
