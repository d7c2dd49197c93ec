//! The answer for programs.

use serde_json::{Value, json};

use super::{advice, headline};
use crate::reason::{Finding, Judged, MemoryUse, Place, Reserve, ZoneReason};
use crate::replay::Check;
use crate::report::{Kind, Seen, Splat};

/// Returns everything that the text says, and the numbers behind it. Sizes without a unit are pages.
pub(super) fn json(seen: &[Seen], splat: &Splat, why: &Judged, check: &Check) -> Value {
    let reports = seen.iter().rev().map(|seen| {
        json!({
            "kind": seen.kind, "order": seen.newest.request.order, "count": seen.count, "first_time": seen.first_time, "last_time": seen.last_time,
        })
    });
    let gfp = splat.request.gfp.as_ref();
    json!({
        "reports": reports.collect::<Vec<_>>(),
        "kind": splat.kind,
        "class": why.verdict.class,
        "certainty": why.verdict.sure,
        "engine_check": check,
        "answer": headline::headline(splat, why),
        "request": {
            "order": why.order,
            "kib": why.request_kib(),
            "gfp_number": gfp.map(|gfp| gfp.number),
            "gfp_names": gfp.and_then(|gfp| gfp.names.as_deref()),
            "may_wait": why.may_wait(),
            "highest_zone": why.highest.name(),
            "task": splat.request.task,
            "caller": splat.caller,
            "waited_ms": splat.stalled_ms,
            "bytes": splat.bytes,
            "cgroup": splat.cgroup.path,
            "cgroup_limit_kib": splat.cgroup.at_limit().map(|counter| counter.limit),
            "cache": splat.cache,
        },
        "killed": splat.killed,
        "cgroup": (splat.kind == Kind::OomCgroup).then(|| cgroup(splat)),
        "memory": why.memory.as_ref().map(memory),
        "unlisted_free": why.unlisted.map(|unlisted| unlisted.pages),
        "unlisted_place": why.unlisted.map(|unlisted| match unlisted.place {
            Place::HigherZones => "higher_zones",
            Place::OtherNodes => "other_nodes",
        }),
        "time": splat.time,
        "release": splat.release.as_ref().map(ToString::to_string),
        "page_kib": why.page_kib,
        "zones": why.findings.iter().map(zone).collect::<Vec<_>>(),
        "tasks": splat.tasks.largest(10),
        "top_allocators": splat.top,
        "page_cache": splat.totals.page_cache(),
        "swap_free_kib": splat.totals.swap_free_kib,
        "swap_total_kib": splat.totals.swap_total_kib,
        "action": advice::action(splat, why),
        "not_in_the_text": advice::not_shown(splat, why),
        "doubts": why.doubts,
    })
}

fn cgroup(splat: &Splat) -> Value {
    let limits = splat.cgroup.counters.iter().map(|counter| {
        json!({
            "name": counter.name, "file": counter.file, "usage_kib": counter.usage, "limit_kib": counter.limit,
        })
    });
    json!({
        "path": splat.cgroup.path,
        "at_limit": splat.cgroup.at_limit().map(|counter| counter.name),
        "limits": limits.collect::<Vec<_>>(),
        "uses": splat.cgroup.uses(),
    })
}

fn memory(memory: &MemoryUse) -> Value {
    let uses = memory
        .uses
        .iter()
        .map(|&(of, pages)| json!({ "use": of, "pages": pages, "percent": memory.percent(pages) }));
    json!({ "pages": memory.ram, "uses": uses.collect::<Vec<_>>() })
}

fn zone(zone: &Finding) -> Value {
    let (reason, short_by) = match zone.reason {
        ZoneReason::HigherZone => ("not_allowed_by_flags", None),
        ZoneReason::OtherNode => ("not_allowed_by_policy", None),
        ZoneReason::Unknown => ("unknown", None),
        ZoneReason::NoList => ("no_list", None),
        ZoneReason::Fits => ("fits", None),
        ZoneReason::Short { by } => ("short", Some(by)),
        ZoneReason::NoBlock => ("no_block", None),
        ZoneReason::OnlyIn(Reserve::Cma) => ("only_in_cma", None),
        ZoneReason::OnlyIn(Reserve::HighAtomic) => ("only_in_highatomic", None),
        ZoneReason::OnlyIn(Reserve::Isolated) => ("only_isolated", None),
    };
    json!({
        "node": zone.node,
        "zone": zone.kind.name(),
        "reason": reason,
        "short_by": short_by,
        "free": zone.free,
        "available": zone.usable,
        "needs_more_than": zone.threshold(),
        "min": zone.min,
        "lowmem_reserve": zone.lowmem_reserve,
        "free_cma": zone.all_cma,
        "largest_order": zone.largest,
        "fragmentation_index_thousandths": zone.fragmentation_index,
    })
}
