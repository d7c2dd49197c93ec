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
    pub(crate) rss: u64,
}

/// The list, as far as it was read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TaskList {
    /// The number of the column of resident memory, and how many columns stand before the name.
    columns: Option<(usize, usize)>,
    by_name: BTreeMap<String, (u64, u64)>,
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
            let rss = words().position(|word| word == "rss");
            let name = words().position(|word| word == "name");
            self.columns = rss.zip(name).filter(|(rss, name)| rss < name);
            return self.columns.is_some();
        }
        let Some((rss, before_name)) = self.columns else { return false };
        let is_pid = pid.trim().bytes().all(|b| b.is_ascii_digit()) && !pid.trim().is_empty();
        let Some(rss) = words().nth(rss).and_then(|word| word.parse::<u64>().ok()).filter(|_| is_pid) else {
            return false;
        };
        let name: Vec<&str> = words().skip(before_name).collect();
        let name: String = name.join(" ").chars().take(32).collect();
        if !name.is_empty() && (self.by_name.len() < MAX_NAMES || self.by_name.contains_key(&name)) {
            let (count, sum) = self.by_name.entry(name).or_default();
            *count += 1;
            *sum = sum.saturating_add(rss);
        }
        true
    }

    /// Returns the names with the most resident memory.
    pub(crate) fn largest(&self, most: usize) -> Vec<TaskGroup> {
        let group =
            |(name, &(count, rss)): (&String, &(u64, u64))| TaskGroup { name: name.clone(), count, rss };
        let mut groups: Vec<TaskGroup> =
            self.by_name.iter().map(group).filter(|group| group.rss > 0).collect();
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
        let web = TaskGroup { name: "web worker".to_owned(), count: 2, rss: 700 };
        assert!(largest[0] == web && largest[1].name == "database", "{largest:?}");
    }
}
