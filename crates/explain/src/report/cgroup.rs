//! A control group at its limit.

use serde::Serialize;

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

impl Counter {
    /// Returns true if the usage is within a hundredth of the limit: a charge of a few pages that fails may leave a gap.
    fn is_full(&self) -> bool {
        self.limit > 0 && self.usage >= self.limit - self.limit / 100
    }
}

/// A part of the group's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Share {
    /// The name for programs.
    #[serde(rename = "use")]
    pub(crate) key: &'static str,
    /// The name in texts.
    #[serde(skip)]
    pub(crate) name: &'static str,
    pub(crate) kib: u64,
}

/// A control group at its limit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cgroup {
    pub(crate) path: Option<String>,
    pub(crate) counters: Vec<Counter>,
    /// The kernel's statistics of the group, by its names. Units: KiB.
    stats: Vec<(&'static str, u64)>,
}

/// The kernel's names of limits, with theirs in texts and their files: of version 1 and of version 2.
const COUNTERS: [(&str, &str, &str); 4] = [
    ("memory:", "memory", "memory.max"),
    ("memory+swap:", "memory and swap", "memory.memsw.limit_in_bytes"),
    ("swap:", "swap", "memory.swap.max"),
    ("kmem:", "kernel memory", "memory.kmem.limit_in_bytes"),
];

/// The kernel's names of statistics: of version 2, then those of version 1.
const STATS: [&str; 14] = [
    "anon",
    "file",
    "shmem",
    "kernel",
    "slab",
    "kernel_stack",
    "pagetables",
    "percpu",
    "sock",
    "file_dirty",
    "file_writeback",
    "rss",
    "cache",
    "dirty",
];

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

    /// Takes the statistics of a line: one in bytes, or all of them in KiB. Returns true if it has any.
    ///
    /// Kernels until 5.2 print a line in KiB for each group below, with that group's own memory, so these add up. Later ones print
    /// the sums.
    pub(super) fn take_stats(&mut self, text: &str) -> bool {
        if text.contains(" rss:") {
            return self.take_line_of_group(text);
        }
        let Some((name, value)) = text.split_once(' ') else { return false };
        let Some(&name) = STATS.iter().find(|known| **known == name) else { return false };
        let Some((bytes, "")) = digits(value) else { return false };
        if self.stat(name).is_none() {
            self.stats.push((name, bytes / 1024));
        }
        true
    }

    fn take_line_of_group(&mut self, text: &str) -> bool {
        let mut has_any = false;
        for name in STATS {
            let size = field(text, name).and_then(|rest| digits(rest.strip_prefix(':')?));
            let Some((size, _)) = size else { continue };
            has_any = true;
            match self.stats.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum = sum.saturating_add(size),
                None => self.stats.push((name, size)),
            }
        }
        has_any
    }

    fn stat(&self, name: &str) -> Option<u64> {
        self.stats.iter().find(|(known, _)| *known == name).map(|&(_, size)| size)
    }

    fn counter(&self, name: &str) -> Option<&Counter> {
        self.counters.iter().find(|counter| counter.name == name)
    }

    /// Returns the counter whose limit made the kernel kill.
    ///
    /// In version 2 a full swap fails no charge of memory. It only keeps reclaim from helping.
    pub(crate) fn at_limit(&self) -> Option<&Counter> {
        let memory = self.counter("memory").filter(|counter| counter.limit > 0);
        if self.counter("swap").is_some() && memory.is_some() {
            return memory;
        }
        self.counters
            .iter()
            .filter(|counter| counter.limit > 0)
            .min_by_key(|counter| counter.limit.saturating_sub(counter.usage))
    }

    /// Returns true if the swap of the group is full beside its memory.
    pub(crate) fn is_swap_full(&self) -> bool {
        self.counter("swap").is_some_and(Counter::is_full)
    }

    /// Returns what the group's memory is used for, or `None` if the text does not say.
    pub(crate) fn uses(&self) -> Option<Vec<Share>> {
        let either = |new, old| self.stat(new).or_else(|| self.stat(old));
        let anon = either("anon", "rss")?;
        let file = either("file", "cache")?;
        // The page cache of a tmpfs counts as file, too.
        let shmem = self.stat("shmem").unwrap_or(0).min(file);
        let (kernel, sock) = (self.kernel_kib(), self.stat("sock").unwrap_or(0));
        let known = [anon, file, kernel, sock].into_iter().fold(0, u64::saturating_add);
        let usage = self.counter("memory").map_or(0, |counter| counter.usage);
        let share = |key, name, kib| Share { key, name, kib };
        let rest = [
            share("shared", "shared memory and tmpfs", shmem),
            share("kernel", "kernel memory", kernel),
            share("sockets", "socket buffers", sock),
            share("other", "not named", usage.saturating_sub(known)),
        ];
        let mut uses =
            vec![share("anonymous", "anonymous", anon), share("page_cache", "page cache", file - shmem)];
        // The kernel rounds, and counts in batches for each CPU.
        uses.extend(rest.into_iter().filter(|share| share.kib > usage / 100));
        Some(uses)
    }

    /// Returns the memory of the kernel's own objects. Units: KiB.
    fn kernel_kib(&self) -> u64 {
        let parts = ["slab", "kernel_stack", "pagetables", "percpu"].map(|name| self.stat(name).unwrap_or(0));
        let sum = parts.into_iter().fold(0, u64::saturating_add);
        let counted = self.counter("kernel memory").map_or(0, |counter| counter.usage);
        // Since 5.18 one number has all of it.
        self.stat("kernel").unwrap_or(sum.max(counted))
    }

    /// Returns a use by its name for programs. Units: KiB.
    pub(crate) fn use_kib(&self, key: &str) -> u64 {
        self.uses()
            .and_then(|uses| uses.into_iter().find(|share| share.key == key))
            .map_or(0, |share| share.kib)
    }

    /// Returns the page cache that is dirty or under writeback. Units: KiB.
    pub(crate) fn unclean_kib(&self) -> u64 {
        let dirty = self.stat("file_dirty").or_else(|| self.stat("dirty")).unwrap_or(0);
        dirty.saturating_add(self.stat("file_writeback").unwrap_or(0))
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
    fn stats_of_version_2_are_read() {
        let mut cgroup = Cgroup::default();
        for line in ["anon 4096", "file 1048576", "shmem 524288", "file_dirty 262144", "sock 2048"] {
            assert!(cgroup.take_stats(line), "{line}");
        }
        for line in ["anon x", "file_mapped 0", "anon 1 2"] {
            assert!(!cgroup.take_stats(line), "{line}");
        }
        let uses = ["anonymous", "page_cache", "shared", "sockets"].map(|key| cgroup.use_kib(key));
        assert_eq!((uses, cgroup.unclean_kib()), ([4, 512, 512, 2], 256));
    }

    #[test]
    fn groups_of_version_1_add_up() {
        let mut cgroup = Cgroup::default();
        for line in [
            "Memory cgroup stats for /a: cache:0KB rss:0KB rss_huge:0KB dirty:0KB",
            "Memory cgroup stats for /a/b: cache:844KB rss:521136KB rss_huge:0KB dirty:12KB",
            "Memory cgroup stats for /a/c: cache:6KB rss:64KB rss_huge:0KB dirty:0KB",
        ] {
            assert!(cgroup.take_stats(line), "{line}");
        }
        let uses = ["anonymous", "page_cache"].map(|key| cgroup.use_kib(key));
        assert_eq!((uses, cgroup.unclean_kib()), ([521_200, 850], 12));
    }
}
