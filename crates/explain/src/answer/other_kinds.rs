//! The first two lines for kinds of reports that do not follow from zones.

use super::numbers::numbers;
use super::size::{kb, name, order_kb};
use crate::reason::{EINTR, Judged, ZoneReason};
use crate::report::{Kind, Origin, PerCpuReason, Splat};

/// Returns a slab cache's refusal in one sentence.
pub(super) fn slab(splat: &Splat, why: &Judged) -> String {
    let cache = splat.cache.as_deref().unwrap_or("that is not named");
    let order = why.order.unwrap_or(0);
    let wait = if why.may_wait() { "" } else { ", and the request cannot wait" };
    format!(
        "Shortage: the slab cache {cache} got no page (order {order}, {}){wait}. The page allocation failure that was \
         printed before it has the numbers.",
        order_kb(order, why)
    )
}

/// Returns what a pool of huge pages lacks.
pub(super) fn huge_pool(splat: &Splat) -> String {
    let Some(pool) = &splat.pool else { return "Shortage: a pool of huge pages is too small.".to_owned() };
    let (got, wanted, size) = (pool.got, pool.wanted, &pool.page_size);
    let node = pool.node.map_or(String::new(), |node| format!(" on node {node}"));
    format!(
        "Shortage: the pool has {got} of {wanted} requested huge pages of {size}{node}. The kernel fills it at boot, so \
         there is no room for more."
    )
}

/// Returns how long a request has waited.
pub(super) fn waited(splat: &Splat) -> String {
    splat.stalled_ms.map_or(String::new(), |ms| format!(" {ms} ms"))
}

/// Returns why the text does not decide.
pub(super) fn undecided(splat: &Splat, why: &Judged) -> String {
    if splat.request.is_by_hand {
        return "Undecided: the administrator requested this OOM kill (SysRq f), so no allocation failed."
            .to_owned();
    }
    match splat.kind {
        Kind::TopAllocators => {
            let largest = splat.top.first();
            let largest = largest
                .map_or(String::new(), |top| format!(" The largest is {} with {}.", top.code, top.size));
            return format!("Undecided: this list of top allocators has no report with it.{largest}");
        }
        Kind::PerCpu => {
            return per_cpu(splat);
        }
        Kind::OrderWarning => {
            return warning(splat.function.as_deref().unwrap_or("the page allocator"));
        }
        Kind::Cma if splat.cma.errno == Some(EINTR) => {
            return "Undecided: a fatal signal ended the wait for the range (EINTR). No memory was missing."
                .to_owned();
        }
        Kind::Oom if splat.request.gfp.as_ref().is_some_and(|gfp| gfp.number == 0) => {
            return "Undecided: a page fault ended in this OOM kill (gfp_mask=0x0), so no request is named. A cgroup \
                    limit or a driver has refused it; free pages are not what it lacked."
                .to_owned();
        }
        Kind::Slab if why.findings.is_empty() => {
            let cache = splat.cache.as_deref().unwrap_or("that is not named");
            let order = why.order.map_or(String::new(), |order| format!(" of order {order}"));
            return format!(
                "Undecided: the slab cache {cache} got no block{order}. The page allocation failure that was printed \
                 before it has the numbers."
            );
        }
        _ => {}
    }
    match why.deciding() {
        Some(zone) if zone.reason == ZoneReason::NoList => format!(
            "Undecided: the report is cut off before the free blocks of {}. It is not short of pages ({} free, watermark \
             {}), so probably fragmentation.",
            name(zone, why),
            kb(zone.free, why),
            kb(zone.threshold().max(0) as u64, why)
        ),
        Some(zone) if splat.kind == Kind::MemInfo => {
            let by = if splat.origin == Origin::SysRq {
                "the administrator requested this listing (SysRq m)"
            } else {
                "this is a listing alone"
            };
            format!("Undecided: no request failed in this text: {by}. {}.", numbers(zone, why))
        }
        Some(zone) => format!(
            "Undecided: by the printed numbers the request fits. {}. Memory may have been freed before the kernel \
             printed this.",
            numbers(zone, why)
        ),
        None if why.findings.is_empty() && why.order == Some(0) => format!(
            "Undecided: this {} lacks the zones. A single page was requested, so fragmentation is not the reason.",
            splat.kind.name()
        ),
        None => format!("Undecided: this {} lacks the lines that decide.", splat.kind.name()),
    }
}

fn per_cpu(splat: &Splat) -> String {
    let bytes = splat.bytes.map_or(String::new(), |bytes| format!(" of {bytes} bytes"));
    match splat.per_cpu {
        Some(PerCpuReason::ReservedFull) => format!(
            "Undecided: the area for the static per-CPU variables of modules has no room for a request{bytes}. Its size is \
             fixed, so free pages are not what it lacked."
        ),
        Some(PerCpuReason::NoPages) => {
            format!("Undecided: no pages were free for per-CPU memory, for a request{bytes}.")
        }
        _ => {
            let wait = if splat.may_wait == Some(false) {
                ", and a request that cannot wait may not add a chunk"
            } else {
                ""
            };
            format!(
                "Undecided: the chunks of per-CPU memory have no room for a request{bytes}{wait}. Free pages may not be what \
                 it lacked."
            )
        }
    }
}

/// Returns what a warning of a function says.
fn warning(function: &str) -> String {
    // The compiler puts one of them into another.
    let can_be_nofail = ["get_page_from_freelist", "rmqueue", "buffered_rmqueue"].contains(&function);
    if can_be_nofail {
        return format!(
            "Undecided: {function} most often warns of a request for more than two pages with `__GFP_NOFAIL`. The request \
             itself may have succeeded."
        );
    }
    format!("Undecided: {function} warns of a caller's mistake or of damaged lists.")
}
