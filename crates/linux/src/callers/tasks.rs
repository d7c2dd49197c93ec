//! The names of tasks, and their cgroups.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::tracefs::Tracefs;

/// The pid namespace that the kernel's own pids are of (`PROC_PID_INIT_INO`).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// The turns for which a task that is not seen is remembered.
const REMEMBERED: u64 = 100;

/// What is known of a task.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TaskOf {
    /// The name of its process; `None` if it ended before it was looked up.
    pub process: Option<String>,
    /// The number of its process.
    pub pid: Option<i32>,
    /// The path of its cgroup; `None` if it is unknown.
    pub cgroup: Option<String>,
}

/// Looks tasks up, once in each turn in which they have events: a task may get another name and another cgroup, and a number may get
/// another task.
#[derive(Debug)]
pub struct TaskNames {
    known: HashMap<i32, (u64, TaskOf)>,
    turn: u64,
    /// The names that the tracer saved.
    saved: PathBuf,
    /// True if `/proc` has the pids that events have.
    is_first_namespace: bool,
}

impl TaskNames {
    /// Looks tasks up in `/proc`, and in what `tracefs` saved of those that have ended.
    pub(super) fn new(tracefs: &Tracefs) -> Self {
        let saved = tracefs.root().join("saved_cmdlines");
        Self { known: HashMap::new(), turn: 0, saved, is_first_namespace: is_first_namespace() }
    }

    /// Looks up these tasks, for the next turn.
    pub(super) fn turn(&mut self, tasks: impl Iterator<Item = i32>) {
        self.turn += 1;
        for pid in tasks {
            if self.known.get(&pid).is_none_or(|(turn, _)| *turn < self.turn) {
                self.look_up(pid);
            }
        }
        let turn = self.turn;
        self.known.retain(|_, (seen, _)| *seen + REMEMBERED > turn);
    }

    /// Returns what is known of a task.
    pub fn of(&mut self, pid: i32) -> &TaskOf {
        if !self.known.contains_key(&pid) {
            self.look_up(pid);
        }
        &self.known[&pid].1
    }

    /// Looks a task up. One that has ended keeps what was known of it.
    fn look_up(&mut self, pid: i32) {
        let live = self.is_first_namespace.then(|| live(pid)).flatten();
        let turn = self.turn;
        match (live, self.known.get_mut(&pid)) {
            (None, Some((seen, _))) => *seen = turn,
            (live, _) => {
                let saved = || fs::read_to_string(&self.saved).ok().and_then(|text| name_in(&text, pid));
                let task = live.unwrap_or_else(|| TaskOf { process: saved(), ..TaskOf::default() });
                self.known.insert(pid, (turn, task));
            }
        }
    }
}

/// Returns true if this process sees the pids that events have.
pub(super) fn is_first_namespace() -> bool {
    fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link == Path::new(FIRST_PID_NAMESPACE))
}

/// Reads what `/proc` says of a task; `None` if it has ended.
fn live(task: i32) -> Option<TaskOf> {
    let read = |pid: i32, name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    let pid = process_in(&read(task, "status")?).unwrap_or(task);
    let process = read(pid, "comm").or_else(|| read(task, "comm"))?;
    let cgroup = read(task, "cgroup").and_then(|text| cgroup_in(&text));
    Some(TaskOf { process: Some(plain_name(process.trim_end())), pid: Some(pid), cgroup })
}

/// Returns the number of the process in a task's `status`.
fn process_in(status: &str) -> Option<i32> {
    status.lines().find_map(|row| row.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// Returns a name without the work that a kernel worker is doing, as in `kworker/u8:0+flush-254:0`.
fn plain_name(name: &str) -> String {
    let end = if name.starts_with("kworker/") { name.find(['+', '-']) } else { None };
    name[..end.unwrap_or(name.len())].to_owned()
}

/// Returns the name of a task in the text of `saved_cmdlines`: rows such as `123 cat`.
fn name_in(saved: &str, pid: i32) -> Option<String> {
    let rows = saved.lines().filter_map(|row| row.split_once(' '));
    let name = rows.filter(|(of, _)| of.parse() == Ok(pid)).map(|(_, name)| name).next()?;
    // The kernel writes this for a task that it has not saved.
    (name != "<...>").then(|| name.to_owned())
}

/// Returns the path in a task's `cgroup`: that of the memory controller, or of the unified hierarchy.
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

    #[test]
    fn threads_are_of_their_process_and_workers_have_no_work_in_their_names() {
        assert_eq!(process_in("Name:\trustc\nTgid:\t41\nPid:\t47\n"), Some(41));
        assert_eq!(process_in(""), None);
        assert_eq!(plain_name("kworker/u8:0+flush-254:0"), "kworker/u8:0");
        assert_eq!(
            (plain_name("kworker/0:1H-kblockd"), plain_name("my-app+x")),
            ("kworker/0:1H".into(), "my-app+x".into())
        );
    }

    #[test]
    fn a_task_that_ended_keeps_what_was_known_of_it() {
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        let known = TaskOf { process: Some("old".to_owned()), pid: Some(1), cgroup: None };
        let mut names = TaskNames {
            known: HashMap::from([(i32::MAX, (0, known.clone())), (own, (0, known.clone()))]),
            turn: 0,
            saved: PathBuf::from("/nowhere"),
            is_first_namespace: true,
        };
        names.turn([i32::MAX, own].into_iter());
        assert_eq!(names.of(i32::MAX), &known);
        assert_eq!(
            names.of(own).pid,
            Some(std::process::id() as i32),
            "a task that lives is looked up again"
        );
        assert_eq!(names.of(i32::MAX - 1), &TaskOf::default());
        for _ in 0..=REMEMBERED {
            names.turn([own].into_iter());
        }
        assert_eq!(names.known.len(), 1, "tasks that are not seen are forgotten");
    }
}
