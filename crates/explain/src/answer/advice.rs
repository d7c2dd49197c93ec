//! What could be reclaimed, what to do, and how far to believe it.

use freehold::{GfpFlags, ZoneType};

use super::size::human;
use crate::reason::{Class, EINTR, Finding, Judged, MemoryUse, Reserve, Rule, Sure, Use, ZoneReason};
use crate::replay::Check;
use crate::report::{Kind, Origin, PerCpuReason, Splat};

/// Returns what the kernel could have reclaimed or moved.
pub(super) fn reclaimable(splat: &Splat, why: &Judged) -> Option<String> {
    let cache = splat.totals.page_cache()?;
    let page_cache = format!("{cache} pages of page cache ({})", human(cache, why));
    let [dirty, writeback] = ["dirty:", "writeback:"].map(|name| splat.totals.get(name).unwrap_or(0));
    let unclean = match (dirty, writeback) {
        (0, 0) => String::new(),
        _ => format!(", {dirty} dirty and {writeback} under writeback"),
    };
    let [active, inactive] =
        ["active_anon:", "inactive_anon:"].map(|name| splat.totals.get(name).unwrap_or(0));
    let anon = active.saturating_add(inactive);
    let swap = match (splat.totals.swap_free_kib, splat.totals.swap_total_kib) {
        (_, Some(0)) => "no swap".to_owned(),
        (Some(free), Some(total)) => format!("swap {free} of {total} kB free"),
        _ => "swap unknown".to_owned(),
    };
    let on_lists = match splat.totals.get("free_pcp:") {
        None | Some(0) => String::new(),
        Some(pages) => format!("; {pages} free pages on per-CPU lists"),
    };
    let in_zone = in_deciding_zone(splat, why);
    Some(format!("{page_cache}{unclean}; {anon} anonymous pages, {swap}{on_lists}{in_zone}"))
}

/// Returns the page cache and anonymous memory of the deciding zone, where other zones are out of reach.
fn in_deciding_zone(splat: &Splat, why: &Judged) -> String {
    let is_all = why.findings.iter().all(Finding::is_allowed);
    let Some(zone) = why.deciding().filter(|_| !is_all) else { return String::new() };
    let printed = splat.zones.iter().find(|known| known.node == zone.node && known.kind == zone.kind);
    let Some(((active, inactive), anon)) = printed.and_then(|known| known.file_kib.zip(known.anon_kib))
    else {
        return String::new();
    };
    format!(
        ". In {}: {active} + {inactive} kB of page cache, {anon} kB anonymous",
        super::size::name(zone, why)
    )
}

/// Returns what to do.
pub(super) fn action(splat: &Splat, why: &Judged) -> String {
    let raise = "raise vm.min_free_kbytes";
    if let Some(action) = action_by_kind(splat, why) {
        return action;
    }
    match why.verdict.class {
        Some(Class::Shortage | Class::Fragmentation) if splat.kind == Kind::Cma => cma_action(splat, why),
        Some(Class::Fragmentation) => fragmentation_action(splat),
        Some(Class::Reserve) => reserve_action(splat, why),
        Some(Class::Lowmem) if why.highest < ZoneType::Normal => {
            "request a smaller block, allocate it at boot, or let the driver use a wider DMA mask".to_owned()
        }
        Some(Class::Lowmem) => format!(
            "use less low memory ({}), lower vm.min_free_kbytes, or shrink CMA",
            lowmem_users(splat, why).unwrap_or_else(|| "slab, page tables, stacks".to_owned())
        ),
        Some(Class::Shortage) if !why.may_wait() || splat.kind == Kind::MemInfo => {
            format!("{raise}, so that requests that cannot wait find free pages")
        }
        // To keep more pages free makes a machine without enough memory kill earlier.
        Some(Class::Shortage) if splat.kind.is_oom() || is_used_up(why) => memory_action(splat, why),
        Some(Class::Shortage) => {
            let writeback = if waits_for_writeback(why) { "; look for slow writeback" } else { "" };
            format!("lower the load or {raise}{writeback}")
        }
        Some(Class::NodePolicy) if is_of_one_node(why) => {
            "free memory on the node of the device or CPU that the caller serves, or let the caller use any node"
                .to_owned()
        }
        Some(Class::NodePolicy) => {
            "widen the cpuset's mems or the memory policy, or move tasks off the node".to_owned()
        }
        Some(Class::CgroupLimit) => cgroup_action(splat),
        Some(Class::AddressSpace) if splat.vmalloc.is_for_modules => {
            "unload modules or build them into the kernel; KASAN and many CPUs make modules need more".to_owned()
        }
        Some(Class::AddressSpace) => {
            "raise vmalloc= (32-bit), or unload what maps large ranges (/proc/vmallocinfo)".to_owned()
        }
        Some(Class::Size) => {
            "request less at once, or use vmalloc, CMA or hugetlb; the caller is at fault".to_owned()
        }
        None => undecided_action(splat, why),
    }
}

fn cma_action(splat: &Splat, why: &Judged) -> String {
    let text = match why.verdict.class {
        Some(Class::Shortage) => "enlarge the area (cma= on the command line, or its device-tree node)",
        _ if splat.cma.is_named => {
            "retry; find the users of pages in the CMA area (page_owner), and keep long pins out of it"
        }
        _ => {
            "usually none: virtio-mem, memory hotplug and gigantic huge pages print this and try the next range"
        }
    };
    text.to_owned()
}

fn fragmentation_action(splat: &Splat) -> String {
    // A killed task and a request that has waited for seconds have met harm.
    let harm = if splat.kind.is_oom() || splat.kind == Kind::Stall {
        ""
    } else {
        "harmless if the caller falls back to smaller blocks; else "
    };
    // The setting came with Linux 5.0.
    let has_boost = splat.release.as_ref().is_none_or(|release| release.version >= (5, 0));
    let boost = if has_boost { " or vm.watermark_boost_factor" } else { "" };
    format!("{harm}`echo 1 > /proc/sys/vm/compact_memory`, raise vm.min_free_kbytes{boost}")
}

fn undecided_action(splat: &Splat, why: &Judged) -> String {
    let text = match why.deciding() {
        None => "paste the whole report, from the line with `order` to `pages RAM`",
        Some(zone) if zone.reason == ZoneReason::NoList => "paste the rest of the report, to `pages RAM`",
        Some(_) if splat.kind == Kind::MemInfo => {
            "none for this listing; paste the report of the request that failed, if one did"
        }
        Some(_) if !why.may_wait() => {
            "raise vm.min_free_kbytes, if this happens again: the request cannot wait for reclaim"
        }
        Some(_) => "look at the report before this one, or at the next",
    };
    text.to_owned()
}

fn is_used_up(why: &Judged) -> bool {
    why.memory.as_ref().is_some_and(MemoryUse::is_used_up)
}

fn waits_for_writeback(why: &Judged) -> bool {
    why.memory.as_ref().is_some_and(MemoryUse::waits_for_writeback)
}

fn is_of_one_node(why: &Judged) -> bool {
    why.flags.is_some_and(|flags| flags.contains(GfpFlags::THISNODE))
}

/// Returns what to do about a machine without enough memory, by the largest use that reclaim cannot free.
fn memory_action(splat: &Splat, why: &Judged) -> String {
    if !is_used_up(why) {
        let writeback = if waits_for_writeback(why) { "; look for slow writeback" } else { "" };
        return format!("add memory or swap, or limit the largest users{writeback}");
    }
    match why.memory.as_ref().and_then(MemoryUse::largest_fixed) {
        Some(Use::SlabUnreclaimable) => {
            let cache = splat.slabs.largest().map_or(String::new(), |(cache, _)| format!(" in {cache}"));
            format!(
                "find a leak of the kernel{cache} (slabtop, slub_debug=U); more memory only delays the next kill"
            )
        }
        Some(Use::HugePages) => "lower vm.nr_hugepages: pools of huge pages keep memory from all else".to_owned(),
        Some(Use::Shared) => {
            "delete files in tmpfs (/dev/shm, /tmp), use less shared memory (databases), or add memory or swap"
                .to_owned()
        }
        Some(Use::Other) => {
            "look for drivers, balloons of virtual machines or leaks: no counter has most of the memory".to_owned()
        }
        _ => "add memory or swap, or limit what uses most (see Memory and Tasks)".to_owned(),
    }
}

/// Returns what to do about kinds of reports that do not follow from zones, and about a boost that alone is in the way.
fn action_by_kind(splat: &Splat, why: &Judged) -> Option<String> {
    let is_cma = splat.kind == Kind::Cma;
    let without_boost = |zone: &&Finding| {
        zone.is_allowed()
            && zone.boost > 0
            && zone.usable <= zone.threshold()
            && zone.usable > zone.threshold() - zone.boost as i64
    };
    let text = match splat.kind {
        Kind::HugePool => "request fewer huge pages (hugepages=, per node: hugepages=0:N,1:M), or add memory",
        Kind::PerCpu => match splat.per_cpu {
            Some(PerCpuReason::ReservedFull) => {
                "load fewer modules that have static per-CPU variables, or build them into the kernel"
            }
            Some(PerCpuReason::NoPages) => {
                "free memory; look for `page allocation failure` before this line, which has the numbers"
            }
            _ => {
                "try again, or have fewer per-CPU counters (BPF maps, nftables sets, cgroups, network devices)"
            }
        },
        Kind::Cma if splat.cma.errno == Some(EINTR) => "none: the task was about to end, and needs no range",
        Kind::TopAllocators => "paste the report that the kernel printed before this list",
        Kind::OrderWarning if why.verdict.class.is_none() => {
            "report it with the whole stack to the owner of the caller"
        }
        Kind::Oom if splat.request.gfp.as_ref().is_some_and(|gfp| gfp.number == 0) => {
            "look for a cgroup's OOM kill or a driver's message right before this one"
        }
        Kind::Slab if why.findings.is_empty() && why.verdict.class != Some(Class::CgroupLimit) => {
            "look for `page allocation failure` before this line; harmless if it is rare and a network driver's"
        }
        Kind::Vmalloc if why.verdict.class == Some(Class::Fragmentation) && why.order > Some(0) => {
            "harmless: vmalloc tries again with single pages"
        }
        Kind::Oom if splat.request.is_by_hand => "none is needed: find who writes `f` to /proc/sysrq-trigger",
        _ if !is_cma && !why.is_exhausted && why.findings.iter().any(|zone| without_boost(&zone)) => {
            "set vm.watermark_boost_factor to 0: without the temporary boost of the mark the request fits"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

fn cgroup_action(splat: &Splat) -> String {
    let counter = splat.cgroup.at_limit();
    let file = counter.map_or("memory.max", |counter| counter.file);
    let limit = counter.map_or(u64::MAX, |counter| counter.limit);
    let is_most = |kib: u64| kib > limit / 2;
    let kernel = ["kernel", "sockets"].map(|key| splat.cgroup.use_kib(key));
    let or = if is_most(splat.cgroup.unclean_kib()) {
        "write less at once: dirty pages must reach the disk before reclaim"
    } else if is_most(splat.cgroup.use_kib("shared")) {
        "delete files in its tmpfs (/dev/shm, an emptyDir in memory), or limit that with size="
    } else if is_most(kernel[0].saturating_add(kernel[1])) {
        "look for a leak of kernel memory in it (slab, sockets)"
    } else {
        "reduce what runs in it"
    };
    format!("raise {file} of the cgroup, or {or}")
}

fn reserve_action(splat: &Splat, why: &Judged) -> String {
    let highatomic = ZoneReason::OnlyIn(Reserve::HighAtomic);
    if why.findings.iter().any(|zone| zone.reason == highatomic) {
        let version = splat.release.as_ref().map(|release| release.version);
        let old = "kernels before 4.10 do not give the HighAtomic reserve back before an OOM kill";
        let raise = "raise vm.min_free_kbytes, so that free blocks remain outside of the reserve";
        return match version {
            Some(version) if version < (4, 10) => format!("update the kernel: {old}"),
            Some(_) => raise.to_owned(),
            None => format!("update the kernel if it is older than 4.10 ({old}); else {raise}"),
        };
    }
    "raise vm.min_free_kbytes, or make the CMA area smaller".to_owned()
}

fn lowmem_users(splat: &Splat, why: &Judged) -> Option<String> {
    let slab = ["slab_reclaimable:", "slab_unreclaimable:"].map(|name| splat.totals.get(name));
    let slab = slab[0]?.saturating_add(slab[1]?);
    Some(format!("slab {}, page tables, stacks", human(slab, why)))
}

/// Returns how sure the class is, and what it rests on.
pub(super) fn certainty(splat: &Splat, why: &Judged, check: &Check) -> String {
    let sure = match why.verdict.sure {
        Sure::Certain => "certain by the printed numbers",
        Sure::Likely => "likely",
        Sure::Undecided => "undecided",
    };
    let is_by_mark = why.verdict.zone.is_some();
    let rule = match why.rights.rule {
        _ if !is_by_mark => "",
        Rule::ByOrder => "; watermark rule of Linux until 4.3",
        Rule::Harder => "; watermark rule of Linux 4.4 to 6.2",
        Rule::NonBlock => "; watermark rule of Linux since 6.3",
    };
    let reserve_of_5_4 = why.verdict.class == Some(Class::Reserve)
        && why.deciding().is_some_and(|zone| zone.cma == 0 && zone.all_cma > 0);
    let contradiction = if reserve_of_5_4 && splat.kind != Kind::Cma {
        ". Linux itself lets movable requests use CMA: a vendor's kernel may differ"
    } else {
        ""
    };
    format!("{sure}{rule}; {}{contradiction}", check.text())
}

/// Returns what the text does not show.
pub(super) fn not_shown(splat: &Splat, why: &Judged) -> Vec<String> {
    let mut missing = Vec::new();
    let has_request = !matches!(
        splat.kind,
        Kind::Cma
            | Kind::OomCgroup
            | Kind::HugePool
            | Kind::TopAllocators
            | Kind::OrderWarning
            | Kind::PerCpu
    ) && splat.vmalloc.lacks_addresses != Some(true)
        && splat.origin != Origin::SysRq;
    if splat.kind == Kind::OrderWarning {
        missing.push("the order".to_owned());
    } else if has_request && why.order.is_none() && !splat.request.is_by_hand {
        missing.push("no line names the request".to_owned());
    } else if has_request && why.flags.is_none() {
        missing.push("its flags".to_owned());
    }
    if splat.release.is_none() {
        missing.push("the kernel's release".to_owned());
    }
    if why.findings.is_empty() && splat.kind.has_zones() && has_request {
        missing.push("the zones".to_owned());
    } else if why.findings.iter().any(|zone| zone.hidden_highatomic.is_some()) {
        missing.push("the size of the HighAtomic reserve".to_owned());
    }
    missing
}
