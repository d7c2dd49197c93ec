//! The kernel's list of tasks in an OOM kill, summed by name.

use std::collections::BTreeMap;

use serde::Serialize;

/// The most names that are kept: a list may have thousands of tasks, but few names.
const MAX_NAMES: usize = 512;

/// Tasks of one name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct TaskGroup {
    pub(crate) name: String,
    pub(crate) count: u64,
    /// Resident memory of all of them. Units: pages.
    ///
    /// Before 6.8 it has the shared memory that a task uses, and so has each of its other users.
    pub(crate) rss: u64,
    /// Resident memory of the largest of them. Units: pages.
    pub(crate) largest_rss: u64,
}

/// Where the numbers of a row are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Columns {
    /// The resident memory.
    rss: usize,
    /// Its private part and its files, since 6.8.
    anon_file: Option<(usize, usize)>,
    /// The number of columns before the name.
    name: usize,
}

/// The list, as far as it was read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TaskList {
    columns: Option<Columns>,
    by_name: BTreeMap<String, TaskGroup>,
}

impl TaskList {
    /// Takes the heading or a row. Returns true if a line is either.
    ///
    /// The heading is `[  pid  ]   uid  tgid total_vm      rss … name`. Its columns have changed often.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let Some((pid, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return false;
        };
        let words = || rest.split_whitespace();
        if pid.trim() == "pid" {
            let at = |key: &str| words().position(|word| word == key);
            let columns = at("rss").zip(at("name")).filter(|(rss, name)| rss < name);
            self.columns = columns.map(|(rss, name)| Columns {
                rss,
                anon_file: at("rss_anon").zip(at("rss_file")),
                name,
            });
            return self.columns.is_some();
        }
        let Some(columns) = self.columns else { return false };
        let is_pid = pid.trim().bytes().all(|b| b.is_ascii_digit()) && !pid.trim().is_empty();
        let pages = |column| words().nth(column).and_then(|word| word.parse::<u64>().ok());
        let Some(rss) = pages(columns.rss).filter(|_| is_pid) else { return false };
        let own = columns.anon_file.and_then(|(anon, file)| pages(anon)?.checked_add(pages(file)?));
        let name: Vec<&str> = words().skip(columns.name).collect();
        let name: String = name.join(" ").chars().take(32).collect();
        if !name.is_empty() && (self.by_name.len() < MAX_NAMES || self.by_name.contains_key(&name)) {
            self.add(&name, own.unwrap_or(rss));
        }
        true
    }

    fn add(&mut self, name: &str, rss: u64) {
        let new = || TaskGroup { name: name.to_owned(), count: 0, rss: 0, largest_rss: 0 };
        let group = self.by_name.entry(name.to_owned()).or_insert_with(new);
        group.count += 1;
        group.rss = group.rss.saturating_add(rss);
        group.largest_rss = group.largest_rss.max(rss);
    }

    /// Returns the names with the most resident memory.
    pub(crate) fn largest(&self, most: usize) -> Vec<TaskGroup> {
        let mut groups: Vec<TaskGroup> =
            self.by_name.values().filter(|group| group.rss > 0).cloned().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.rss));
        groups.truncate(most);
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_summed() {
        let mut list = TaskList::default();
        assert!(!list.take("[  7]  0  7  10  20  0  0  0 too early"));
        for line in [
            "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name",
            "[    312]     0   312    25000      300   200000        0             0 web worker",
            "[    313]     0   313    25000      400   200000        0             0 web worker",
            "[    314]    33   314     1000      500    90000       12          -900 database",
        ] {
            assert!(list.take(line), "{line}");
        }
        for line in ["[drm] 1 2 3 4 5 6 7 8", "[ 1 2 ] 3", "[12.5] text", ""] {
            assert!(!list.take(line), "{line}");
        }
        let largest = list.largest(2);
        let web = TaskGroup { name: "web worker".to_owned(), count: 2, rss: 700, largest_rss: 400 };
        assert!(largest[0] == web && largest[1].name == "database", "{largest:?}");
    }

    #[test]
    fn shared_memory_counts_for_no_task_where_it_has_its_own_column() {
        let mut list = TaskList::default();
        for line in [
            "[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name",
            "[    312]   113   312   350000     9000      100       20      8880   200000        0             0 database",
            "[    313]   113   313   350000     9000      200       30      8770   200000        0             0 database",
        ] {
            assert!(list.take(line), "{line}");
        }
        assert_eq!((list.largest(1)[0].rss, list.largest(1)[0].largest_rss), (350, 230));
    }
}
