//! The first two lines: the class, and the numbers that it rests on.

use super::size::{kb, name, order_kb};
use crate::reason::{Class, Finding, Judged, Reserve, ZoneReason};
use crate::report::{Kind, Splat};

/// Returns the answer in at most two sentences.
pub(super) fn headline(splat: &Splat, why: &Judged) -> String {
    match why.verdict.class {
        Some(Class::CgroupLimit) => cgroup(splat),
        Some(Class::AddressSpace) => address_space(splat),
        Some(Class::Size) => size(splat, why),
        Some(Class::NodePolicy) => node_policy(splat, why),
        Some(Class::Shortage | Class::Fragmentation) if splat.kind == Kind::Cma => contiguous(splat),
        Some(class) => match why.deciding() {
            Some(zone) => by_zone(class, zone, why),
            None => format!("{}: no zone that the request may use is in the text.", title(class)),
        },
        None => undecided(splat, why),
    }
}

/// Returns the name of a class as the start of a sentence.
fn title(class: Class) -> String {
    let name = class.name();
    name[..1].to_uppercase() + &name[1..]
}

fn by_zone(class: Class, zone: &Finding, why: &Judged) -> String {
    let title = title(class);
    let numbers = numbers(zone, why);
    match class {
        Class::Fragmentation => {
            let largest = match zone.largest {
                Some(order) => format!("the largest is {}", order_kb(order, why)),
                None => "it has no free block".to_owned(),
            };
            let request = why.request_kib().unwrap_or(0);
            format!(
                "{title}: {} has no free block of {request} kB or more; {largest}. {numbers}.",
                name(zone, why)
            )
        }
        Class::Reserve => reserve(&title, zone, why),
        Class::Lowmem => lowmem(&title, zone, why),
        _ => format!("{title}: too few pages are free. {numbers}."),
    }
}

fn lowmem(title: &str, zone: &Finding, why: &Judged) -> String {
    let others: u64 = why.findings.iter().filter(|other| !other.is_allowed()).map(|other| other.free).sum();
    let request = why.request_kib().unwrap_or(0);
    let has = if zone.usable > 0 {
        numbers(zone, why)
    } else {
        let largest = zone.largest.map_or("none".to_owned(), |order| order_kb(order, why));
        let free = kb(zone.free, why);
        format!("Of the requested {request} kB {} has {free} free, largest block {largest}", name(zone, why))
    };
    let highest = why.highest.name();
    format!(
        "{title}: the flags allow no zone above {highest}. {has}. {} elsewhere are of no use.",
        kb(others, why)
    )
}

fn reserve(title: &str, zone: &Finding, why: &Judged) -> String {
    let numbers = numbers(zone, why);
    match zone.reason {
        ZoneReason::OnlyIn(Reserve::HighAtomic) if zone.highatomic == 0 => {
            format!(
                "{title}: zone {} has free blocks of {} kB or more only in the HighAtomic reserve, which this request may \
                 not use. {numbers}.",
                name(zone, why),
                why.request_kib().unwrap_or(0)
            )
        }
        ZoneReason::OnlyIn(reserve) => {
            let pages = if reserve == Reserve::Cma { zone.all_cma } else { zone.highatomic };
            format!(
                "{title}: {} of the {} free in {} are in {}, which this request may not use. {numbers}.",
                kb(pages, why),
                kb(zone.free, why),
                name(zone, why),
                reserve.name()
            )
        }
        _ => {
            let others = zone.free.saturating_sub(zone.all_cma);
            format!(
                "{title}: {} of the {} free in {} are CMA. The other {} are below the min mark {}, so this kernel \
                 seems to keep movable requests out of CMA.",
                kb(zone.all_cma, why),
                kb(zone.free, why),
                name(zone, why),
                kb(others, why),
                kb(zone.printed_min, why)
            )
        }
    }
}

/// Returns what a zone has and what the request needs.
fn numbers(zone: &Finding, why: &Judged) -> String {
    let available = kb(zone.usable.max(0) as u64, why);
    let threshold = kb(zone.threshold().max(0) as u64, why);
    let spare = zone.usable - zone.threshold();
    if spare <= 0 {
        let short = kb(spare.unsigned_abs().max(1), why);
        return format!(
            "{} has {available} available, needs more than {threshold}: short by {short}",
            name(zone, why)
        );
    }
    let low = zone.low.saturating_add(zone.lowmem_reserve);
    let below_low =
        if zone.usable <= low as i64 { format!(", is below low {}", kb(low, why)) } else { String::new() };
    format!("{} has {available} available, needs {threshold}{below_low}", name(zone, why))
}

fn cgroup(splat: &Splat) -> String {
    let path = splat.cgroup.path.as_deref().unwrap_or("that is not named");
    let limit = match (splat.cgroup.usage_kib, splat.cgroup.limit_kib) {
        (Some(usage), Some(limit)) => format!(" Usage {usage} kB, limit {limit} kB."),
        _ => String::new(),
    };
    format!(
        "Cgroup limit: the cgroup {path} is at its memory limit, so free memory elsewhere is of no use.{limit}"
    )
}

fn address_space(splat: &Splat) -> String {
    let bytes = splat.vmalloc_bytes.map_or(String::new(), |bytes| format!(" of {bytes} bytes"));
    format!(
        "Address space: vmalloc found no free range{bytes} of kernel addresses. Free pages were not what it lacked."
    )
}

fn size(splat: &Splat, why: &Judged) -> String {
    if splat.kind == Kind::Vmalloc {
        let bytes = splat.vmalloc_bytes.map_or(String::new(), |bytes| format!(" of {bytes} bytes"));
        return format!("Size no zone can have: the vmalloc{bytes} exceeds all memory of the machine.");
    }
    let lists = splat.zones.iter().filter_map(|zone| zone.blocks.as_ref());
    match (why.order, lists.map(|list| list.rows.len()).max()) {
        (Some(order), Some(rows)) if rows > 0 => format!(
            "Size no zone can have: order {order} is requested, and the largest order of this kernel is {} ({}).",
            rows - 1,
            order_kb((rows - 1) as u8, why)
        ),
        _ => "Size no zone can have: the caller requested an order above the kernel's largest. The warning names \
              the caller in its stack."
            .to_owned(),
    }
}

fn node_policy(splat: &Splat, why: &Judged) -> String {
    let sets = [&splat.request.nodemask, &splat.request.mems_allowed];
    let nodes = sets.into_iter().flatten().min_by_key(|set| set.count());
    let nodes = nodes.map_or("some nodes".to_owned(), |set| format!("nodes {}", set.text()));
    let fits = |zone: &&Finding| zone.reason == ZoneReason::OtherNode && zone.if_allowed == ZoneReason::Fits;
    let other = why.findings.iter().find(fits);
    let other =
        other.map_or(String::new(), |zone| format!(" {} has {} free.", name(zone, why), kb(zone.free, why)));
    format!("Node policy: the cpuset or memory policy allows {nodes} alone, and no zone there fits.{other}")
}

fn contiguous(splat: &Splat) -> String {
    let pages = splat.cma.pages.map_or(String::new(), |pages| format!(" of {pages} pages"));
    match splat.cma.errno {
        Some(12) => {
            format!("Shortage: the CMA area has no free range{pages}: other users have allocated it.")
        }
        _ => format!(
            "Fragmentation: a CMA range{pages} has pages in use that the kernel could not migrate (PFNs busy)."
        ),
    }
}

fn undecided(splat: &Splat, why: &Judged) -> String {
    if splat.request.is_by_hand {
        return "Undecided: the administrator requested this OOM kill (SysRq f), so no allocation failed."
            .to_owned();
    }
    if let Some(pool) = &splat.pool {
        let (got, wanted, size) = (pool.got, pool.wanted, &pool.page_size);
        return format!(
            "Undecided: the pool has {got} of {wanted} requested huge pages of {size}. The line names no zone."
        );
    }
    match why.deciding() {
        Some(zone) => format!(
            "Undecided: by the printed numbers the request fits. {}. Memory may have been freed before the kernel \
             printed this.",
            numbers(zone, why)
        ),
        None => format!("Undecided: this {} lacks the lines that decide.", splat.kind.name()),
    }
}
