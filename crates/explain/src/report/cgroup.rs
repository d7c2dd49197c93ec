//! A control group at its limit.

use crate::text::{digits, field, kib};

/// A usage and its limit. Units: KiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counter {
    /// The name in texts, and the file that sets the limit.
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) usage: u64,
    pub(crate) limit: u64,
}

/// A control group at its limit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cgroup {
    pub(crate) path: Option<String>,
    pub(crate) counters: Vec<Counter>,
    /// What the group's memory is used for, by the kernel's names. Units: KiB.
    uses: Vec<(&'static str, u64)>,
}

/// The kernel's names of limits, with theirs in texts and their files: of version 1 and of version 2.
const COUNTERS: [(&str, &str, &str); 4] = [
    ("memory:", "memory", "memory.max"),
    ("memory+swap:", "memory and swap", "memory.memsw.limit_in_bytes"),
    ("swap:", "swap", "memory.swap.max"),
    ("kmem:", "kernel memory", "memory.kmem.limit_in_bytes"),
];

/// The kernel's names of uses: of version 2, then those of version 1.
const USES: [&str; 9] =
    ["anon", "file", "shmem", "slab", "file_dirty", "file_writeback", "rss", "cache", "dirty"];

impl Cgroup {
    /// Takes a usage and a limit. Returns true if a line has them.
    pub(super) fn take_counter(&mut self, text: &str) -> bool {
        let known =
            COUNTERS.iter().find_map(|&(key, name, file)| Some((text.strip_prefix(key)?, name, file)));
        let Some((rest, name, file)) = known else { return false };
        let Some((usage, limit)) = kib(rest, "usage").zip(kib(rest, "limit")) else { return false };
        if name == "memory and swap"
            && let Some(memory) = self.counters.iter_mut().find(|counter| counter.name == "memory")
        {
            memory.file = "memory.limit_in_bytes";
        }
        if self.counters.iter().all(|counter| counter.name != name) {
            self.counters.push(Counter { name, file, usage, limit });
        }
        true
    }

    /// Takes the uses of a line: one in bytes, or all of them in KiB. Returns true if it has any.
    pub(super) fn take_uses(&mut self, text: &str) -> bool {
        let before = self.uses.len();
        for name in USES {
            if self.uses(name).is_some() {
                continue;
            }
            let in_bytes = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')).and_then(digits);
            let in_bytes = in_bytes.filter(|(_, rest)| rest.is_empty()).map(|(bytes, _)| bytes / 1024);
            let in_kib = || digits(field(text, name)?.strip_prefix(':')?).map(|(size, _)| size);
            let is_old = text.contains(" rss:");
            if let Some(size) = in_bytes.or_else(|| if is_old { in_kib() } else { None }) {
                self.uses.push((name, size));
            }
        }
        self.uses.len() > before
    }

    fn uses(&self, name: &str) -> Option<u64> {
        self.uses.iter().find(|(known, _)| *known == name).map(|&(_, size)| size)
    }

    /// Returns the counter that is nearest to its limit.
    pub(crate) fn at_limit(&self) -> Option<&Counter> {
        self.counters
            .iter()
            .filter(|counter| counter.limit > 0)
            .min_by_key(|counter| counter.limit.saturating_sub(counter.usage))
    }

    /// Returns anonymous memory, page cache, and the part of it that is dirty or under writeback. Units: KiB.
    pub(crate) fn anon_cache_dirty(&self) -> Option<(u64, u64, u64)> {
        let either = |new, old| self.uses(new).or_else(|| self.uses(old));
        let dirty = either("file_dirty", "dirty")
            .unwrap_or(0)
            .saturating_add(self.uses("file_writeback").unwrap_or(0));
        Some((either("anon", "rss")?, either("file", "cache")?, dirty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let mut cgroup = Cgroup::default();
        for line in [
            "memory: usage 102400kB, limit 204800kB, failcnt 25",
            "memory+swap: usage 204800kB, limit 204800kB, failcnt 25",
            "kmem: usage 0kB, limit 9007199254740988kB, failcnt 0",
        ] {
            assert!(cgroup.take_counter(line), "{line}");
        }
        assert!(!cgroup.take_counter("memory.low: 1") && !cgroup.take_counter("memory: usage 1"));
        assert_eq!(cgroup.at_limit().unwrap().name, "memory and swap");
        assert_eq!(cgroup.counters[0].file, "memory.limit_in_bytes");
    }

    #[test]
    fn uses_are_read() {
        let mut new = Cgroup::default();
        for line in ["anon 4096", "file 1048576", "file_dirty 524288", "file_mapped 0", "anon x"] {
            new.take_uses(line);
        }
        assert_eq!(new.anon_cache_dirty(), Some((4, 1024, 512)));
        let mut old = Cgroup::default();
        assert!(
            old.take_uses("Memory cgroup stats for /a: cache:844KB rss:521136KB rss_huge:0KB dirty:12KB")
        );
        assert_eq!(old.anon_cache_dirty(), Some((521_136, 844, 12)));
    }
}
