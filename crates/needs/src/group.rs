//! A control group with little memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::said::skip;

/// How often a group that still has processes is tried to be removed, a tenth of a second apart.
const REMOVALS: u32 = 50;

/// A control group that may have so many bytes of memory; removed when dropped, once its processes have ended.
#[derive(Debug)]
pub struct SmallGroup(PathBuf);

impl SmallGroup {
    /// Makes one. Where there is no memory controller, says that `test` is skipped.
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
            if fs::write(group.join(limit), bytes.to_string()).is_ok() {
                return Some(Self(group));
            }
            let _ = fs::remove_dir(&group);
        }
        skip(test, "no memory controller of control groups");
        None
    }

    /// The words of a shell that join it.
    pub fn join(&self) -> String {
        format!("echo $$ > {}/cgroup.procs", self.0.display())
    }
}

impl Drop for SmallGroup {
    fn drop(&mut self) {
        for _ in 0..REMOVALS {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}
