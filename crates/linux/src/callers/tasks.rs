//! The names of tasks, and their cgroups.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::tracefs::Tracefs;

/// The pid namespace that the kernel's own pids are of (`PROC_PID_INIT_INO`).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// What is known of a task.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TaskOf {
    /// Its name; `None` if it ended before it was looked up.
    pub comm: Option<String>,
    /// The path of its cgroup; `None` if it is unknown.
    pub cgroup: Option<String>,
}

/// Looks tasks up when their first event is read.
#[derive(Debug)]
pub struct TaskNames {
    known: HashMap<i32, TaskOf>,
    /// The names that the tracer saved.
    saved: Option<PathBuf>,
    /// True if `/proc` has the pids that events have.
    is_first_namespace: bool,
}

impl TaskNames {
    /// Looks tasks up in `/proc`, and in what `tracefs` saved of those that have ended.
    pub(super) fn new(tracefs: &Tracefs) -> Self {
        let namespace = fs::read_link("/proc/self/ns/pid");
        let is_first_namespace = namespace.is_ok_and(|link| link == Path::new(FIRST_PID_NAMESPACE));
        let saved = Some(tracefs.root().join("saved_cmdlines"));
        Self { known: HashMap::new(), saved, is_first_namespace }
    }

    /// Returns what is known of a task.
    pub fn of(&mut self, pid: i32) -> &TaskOf {
        if !self.known.contains_key(&pid) {
            let found = self.look_up(pid);
            self.known.insert(pid, found);
        }
        &self.known[&pid]
    }

    fn look_up(&self, pid: i32) -> TaskOf {
        let live = |name: &str| {
            self.is_first_namespace.then(|| fs::read_to_string(format!("/proc/{pid}/{name}")).ok()).flatten()
        };
        let saved = || name_in(&fs::read_to_string(self.saved.as_ref()?).ok()?, pid);
        let comm = live("comm").map(|comm| comm.trim_end().to_owned()).or_else(saved);
        TaskOf { comm, cgroup: live("cgroup").and_then(|text| cgroup_in(&text)) }
    }
}

/// Returns the name of a task in the text of `saved_cmdlines`: rows such as `123 cat`.
fn name_in(saved: &str, pid: i32) -> Option<String> {
    let rows = saved.lines().filter_map(|row| row.split_once(' '));
    let name = rows.filter(|(of, _)| of.parse() == Ok(pid)).map(|(_, name)| name).next()?;
    // The kernel writes this for a task that it has not saved.
    (name != "<...>").then(|| name.to_owned())
}

/// Returns the path in a task's `cgroup`: that of the unified hierarchy, or of the memory controller.
fn cgroup_in<'t>(text: &'t str) -> Option<String> {
    let row = |row: &'t str| row.split_once(':')?.1.split_once(':');
    let rows: Vec<(&str, &str)> = text.lines().filter_map(row).collect();
    let of = |wanted: fn(&str) -> bool| rows.iter().find(|(controllers, _)| wanted(controllers));
    let memory = of(|controllers| controllers.split(',').any(|name| name == "memory"));
    memory.or_else(|| of(str::is_empty)).map(|(_, path)| (*path).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_names_are_found() {
        let saved = "12 cat\n123 my task\n7 <...>\n";
        assert_eq!(name_in(saved, 123).as_deref(), Some("my task"));
        assert_eq!((name_in(saved, 7), name_in(saved, 1)), (None, None));
    }

    #[test]
    fn the_memory_controllers_group_counts() {
        let unified = "0::/system.slice/ssh.service\n";
        let old = "3:cpu,cpuacct:/a\n2:memory:/pods/b:c\n1:name=systemd:/x\n0::/y\n";
        assert_eq!(cgroup_in(unified).as_deref(), Some("/system.slice/ssh.service"));
        assert_eq!(cgroup_in(old).as_deref(), Some("/pods/b:c"));
        assert_eq!(cgroup_in("garbage"), None);
    }
}
