//! What the machine's memory is used for, in shares.

use crate::reason::Judged;
use crate::report::Splat;

/// The least share that is named. Units: percent.
const LEAST_PERCENT: u64 = 5;
/// The most uses that are named.
const MAX_USES: usize = 4;

/// Returns the tasks with the most resident memory, by name.
pub(super) fn tasks(splat: &Splat, why: &Judged) -> Option<String> {
    let largest = splat.tasks.largest(3).into_iter().map(|group| {
        let size = super::size::human(group.rss, why);
        if group.count > 1 {
            format!("{size} in {} tasks {}", group.count, group.name)
        } else {
            format!("{size} in {}", group.name)
        }
    });
    let texts: Vec<String> = largest.collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Returns the largest uses of the cgroup's or the machine's memory, or `None` if the text does not count them.
pub(super) fn memory_use(splat: &Splat, why: &Judged) -> Option<String> {
    cgroup(splat).or_else(|| machine(splat, why))
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

fn machine(splat: &Splat, why: &Judged) -> Option<String> {
    let pages = |name| splat.totals.get(name).unwrap_or(0);
    let ram = splat.totals.ram_pages?.saturating_sub(splat.totals.reserved_pages.unwrap_or(0));
    let anon = splat.totals.get("active_anon:")?.saturating_add(splat.totals.get("inactive_anon:")?);
    let uses = [
        ("anonymous", anon.saturating_sub(pages("shmem:"))),
        ("shared memory and tmpfs", pages("shmem:")),
        ("page cache", splat.totals.page_cache().unwrap_or(0)),
        ("unevictable", pages("unevictable:")),
        ("slab that cannot be reclaimed", pages("slab_unreclaimable:")),
        ("slab that can be reclaimed", pages("slab_reclaimable:")),
        ("page tables", pages("pagetables:")),
        ("kernel stacks", splat.kernel_stack_kib / why.page_kib.max(1)),
        ("huge page pools", splat.huge_pages_kib / why.page_kib.max(1)),
        ("free", pages("free:").saturating_add(pages("free_pcp:"))),
    ];
    let known = uses.iter().fold(0_u64, |sum, (_, pages)| sum.saturating_add(*pages));
    // Sums that exceed the memory are damaged.
    let other = ram.checked_sub(known).filter(|_| ram > 0)?;
    let mut shares: Vec<(&str, u64)> =
        uses.into_iter().chain([("in no counter (drivers, balloons, leaks)", other)]).collect();
    shares.sort_by_key(|&(_, pages)| std::cmp::Reverse(pages));
    let percent = |pages: u64| pages.saturating_mul(100) / ram;
    let large = shares.iter().filter(|&&(_, pages)| percent(pages) >= LEAST_PERCENT).take(MAX_USES);
    let texts: Vec<String> = large.map(|&(name, pages)| format!("{} % {name}", percent(pages))).collect();
    let all = super::size::human(ram, why);
    (!texts.is_empty()).then(|| format!("{all}, of it {}", texts.join(", ")))
}
