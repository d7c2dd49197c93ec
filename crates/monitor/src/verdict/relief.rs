//! Who must let go of memory where neither compaction nor reclaim makes enough blocks.

use std::cmp::Reverse;

use freehold_linux::procfs::{HugetlbPool, ProcessMemory};

use super::answer::{State, Verdict};
use super::evidence::{Evidence, Names};
use super::holders::HolderKind;
use super::size::SizeText;
use super::words::plural;

/// The most processes that are named for one reason.
const TOLD: usize = 3;

/// Returns who holds memory that only its owner frees, a sentence each, the most memory first; empty if
/// something else helps.
pub(super) fn relief(verdict: &Verdict, evidence: &Evidence<'_>) -> Vec<String> {
    if !matches!(verdict.state, State::NotBeforeFreed | State::Undecided) {
        return Vec::new();
    }
    let names = evidence.names;
    if names.unread {
        let size = SizeText(verdict.request.block_bytes).short();
        return vec![format!("`freehold check --need {size}={}` says who holds it", verdict.request.blocks)];
    }
    let page_bytes = verdict.request.page_bytes().max(1);
    let mut found = Vec::new();
    found.extend(names.hugetlb.iter().filter_map(|pool| unused_pool(pool, verdict)));
    let anon = largest(names, |process| process.anon_bytes, "of anonymous memory");
    found.extend(anon.filter(|(bytes, _)| *bytes >= verdict.request.block_bytes));
    found.extend(largest(names, |process| process.locked_bytes, "that it mlocked"));
    found.extend(largest(names, |process| process.pinned_bytes, "that it pinned"));
    found.extend(tmpfs(names, page_bytes));
    found.extend(slabs(names, page_bytes));
    found.sort_by_key(|(bytes, _)| Reverse(*bytes));
    let mut shown: Vec<_> = found.into_iter().map(|(_, sentence)| sentence).collect();
    shown.extend(for_good(verdict));
    shown
}

/// Returns the bytes, and a sentence about the pool's unused pages.
fn unused_pool(pool: &HugetlbPool, verdict: &Verdict) -> Option<(u64, String)> {
    let unused = pool.free.saturating_sub(pool.reserved).min(pool.pages.saturating_sub(pool.surplus));
    let bytes = unused.saturating_mul(pool.page_kib).saturating_mul(1024);
    if unused == 0 {
        return None;
    }
    let blocks = if bytes / verdict.request.block_bytes.max(1) == 0 { "part of a block" } else { "blocks" };
    let left = pool.pages.saturating_sub(pool.surplus) - unused;
    let sentence = format!(
        "hugetlb's pool holds {} of {} KiB that nobody uses; `echo {left} > \
         /sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages` makes {blocks} of them",
        plural(unused, "page"),
        pool.page_kib,
        pool.page_kib
    );
    Some((bytes, sentence))
}

/// Returns the bytes, and a sentence, for the processes with the largest of a number.
fn largest<'a>(
    names: &'a Names,
    of: fn(&ProcessMemory) -> u64,
    what: &'static str,
) -> impl Iterator<Item = (u64, String)> + 'a {
    let mut ranked: Vec<_> = names.processes.iter().filter(|process| of(process) > 0).collect();
    ranked.sort_by_key(|process| (Reverse(of(process)), process.pid));
    let of_process = move |process: &ProcessMemory| {
        let holds = mib(of(process));
        (of(process), format!("process {} ({}) holds {holds} {what}", process.pid, process.name))
    };
    ranked.into_iter().take(TOLD).map(of_process)
}

fn tmpfs(names: &Names, page_bytes: u64) -> Option<(u64, String)> {
    let bytes = names.shmem_pages.saturating_mul(page_bytes);
    let sentence = || format!("tmpfs and shared memory hold {}, which deleting frees", mib(bytes));
    (bytes > 0).then(|| (bytes, sentence()))
}

fn slabs(names: &Names, page_bytes: u64) -> Option<(u64, String)> {
    let bytes = names.slab_reclaimable_pages.saturating_mul(page_bytes);
    let sentence = || {
        format!(
            "reclaimable slab caches hold {}; `echo 2 > /proc/sys/vm/drop_caches` may free some of it, which \
             no forecast covers",
            mib(bytes)
        )
    };
    (bytes > 0).then(|| (bytes, sentence()))
}

/// Returns a sentence about what a reboot alone frees.
fn for_good(verdict: &Verdict) -> Option<String> {
    let kernels = |kind: HolderKind| matches!(kind, HolderKind::Kernel | HolderKind::PageTables);
    let blocks = |holder: &super::holders::Holder| holder.pageblocks_alone;
    let unmovable: u64 = verdict.holders.iter().filter(|holder| kernels(holder.kind)).map(blocks).sum();
    (unmovable > 0).then(|| {
        format!(
            "{} hold nothing unmovable but kernel and driver pages and page tables; what of them is left once \
             processes have ended, a reboot frees",
            plural(unmovable, "pageblock")
        )
    })
}

fn mib(bytes: u64) -> String {
    if bytes < 1 << 20 { SizeText(bytes >> 10 << 10).to_string() } else { format!("{} MiB", bytes >> 20) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, anon: u64, locked: u64, pinned: u64) -> ProcessMemory {
        let name = format!("p{pid}");
        ProcessMemory {
            pid,
            name,
            anon_bytes: anon << 20,
            locked_bytes: locked << 20,
            pinned_bytes: pinned << 20,
        }
    }

    #[test]
    fn the_largest_holders_of_each_kind_are_named() {
        let processes = vec![
            process(1, 5, 0, 0),
            process(2, 50, 3, 0),
            process(3, 7, 0, 0),
            process(4, 6, 0, 9),
            process(5, 0, 0, 0),
        ];
        let names = Names { processes, ..Names::default() };
        let shown = |of, what| largest(&names, of, what).map(|(_, said)| said).collect::<Vec<_>>();
        assert_eq!(
            shown(|process| process.anon_bytes, "of anonymous memory"),
            [
                "process 2 (p2) holds 50 MiB of anonymous memory",
                "process 3 (p3) holds 7 MiB of anonymous memory",
                "process 4 (p4) holds 6 MiB of anonymous memory",
            ]
        );
        assert_eq!(
            shown(|process| process.locked_bytes, "that it mlocked"),
            ["process 2 (p2) holds 3 MiB that it mlocked"]
        );
        assert_eq!(
            shown(|process| process.pinned_bytes, "that it pinned"),
            ["process 4 (p4) holds 9 MiB that it pinned"]
        );
    }
}
