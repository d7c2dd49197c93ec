//! What the memory of the machine or of a cgroup is used for, in sentences.

use crate::reason::{Judged, MemoryUse, Use};
use crate::report::{Splat, TaskGroup};

/// The least share that is named. Units: percent.
const LEAST_PERCENT: u64 = 5;
/// The most uses that are named.
const MAX_USES: usize = 4;

/// Returns the tasks with the most resident memory, by name.
pub(super) fn tasks(splat: &Splat, why: &Judged) -> Option<String> {
    let ram = why.memory.as_ref().map_or(u64::MAX, |memory| memory.ram);
    let texts: Vec<String> = splat.tasks.largest(3).iter().map(|group| task_group(group, ram, why)).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn task_group(group: &TaskGroup, ram: u64, why: &Judged) -> String {
    let size = super::size::human(group.rss, why);
    let TaskGroup { count, name, .. } = group;
    if *count == 1 {
        return format!("{size} in {name}");
    }
    if group.rss > ram {
        // Each task's number has all shared memory that the task uses.
        let largest = super::size::human(group.largest_rss, why);
        return format!("{count} tasks {name}, the largest {largest} (shared memory counts in each)");
    }
    format!("{size} in {count} tasks {name}")
}

/// Returns the largest uses of the cgroup's or the machine's memory, or `None` if the text does not count them.
pub(super) fn memory_use(splat: &Splat, why: &Judged) -> Option<String> {
    cgroup(splat).or_else(|| machine(why.memory.as_ref()?, why))
}

fn cgroup(splat: &Splat) -> Option<String> {
    let uses = splat.cgroup.uses()?;
    let unclean = splat.cgroup.unclean_kib();
    let texts: Vec<String> = uses
        .iter()
        .map(|share| {
            let of = if share.key == "page_cache" && unclean > 0 {
                format!(", {unclean} kB of it dirty or under writeback")
            } else {
                String::new()
            };
            format!("{} kB {}{of}", share.kib, share.name)
        })
        .collect();
    Some(format!("the cgroup has {}", texts.join(", ")))
}

fn machine(memory: &MemoryUse, why: &Judged) -> Option<String> {
    let percent = |pages| memory.percent(pages);
    let large = memory.uses.iter().filter(|&&(_, pages)| percent(pages) >= LEAST_PERCENT).take(MAX_USES);
    let texts: Vec<String> =
        large.map(|&(of, pages): &(Use, u64)| format!("{} % {}", percent(pages), of.name())).collect();
    let all = super::size::human(memory.ram, why);
    (!texts.is_empty()).then(|| format!("{all}, of it {}", texts.join(", ")))
}
