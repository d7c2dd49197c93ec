//! The first two lines: the class, and the numbers that it rests on.

use super::numbers::numbers;
use super::other_kinds;
use super::size::{kb, name, order_kb};
use crate::reason::{Class, Finding, Judged, Place, Reserve, Unlisted, Use, ZoneReason};
use crate::report::{Kind, Splat};

/// Returns the answer in at most two sentences.
pub(super) fn headline(splat: &Splat, why: &Judged) -> String {
    match why.verdict.class {
        Some(Class::CgroupLimit) => cgroup(splat),
        Some(Class::AddressSpace) => address_space(splat),
        Some(Class::Size) => size(splat, why),
        Some(Class::Shortage) if splat.kind == Kind::HugePool => other_kinds::huge_pool(splat),
        Some(Class::Shortage) if splat.kind == Kind::Slab && why.findings.is_empty() => {
            other_kinds::slab(splat, why)
        }
        Some(Class::Shortage) if splat.kind == Kind::Stall && why.findings.is_empty() => {
            format!(
                "Shortage: the request has waited{} for reclaim, which frees too few pages.",
                other_kinds::waited(splat)
            )
        }
        Some(Class::NodePolicy) => node_policy(splat, why),
        Some(Class::Shortage | Class::Fragmentation) if splat.kind == Kind::Cma => contiguous(splat),
        Some(Class::Shortage) if why.is_exhausted && why.deciding().is_some() => exhausted(splat, why),
        Some(Class::Shortage) if splat.kind == Kind::Oom && why.findings.is_empty() => {
            "Shortage: the whole machine ran out of memory: the kernel names no cgroup and no set of nodes as \
             the limit."
                .to_owned()
        }
        Some(class) => match why.deciding() {
            Some(zone) => by_zone(class, zone, why),
            None if class == Class::Lowmem => {
                let highest = why.highest.name();
                let free = why.findings.iter().fold(0_u64, |sum, zone| sum.saturating_add(zone.free));
                let free = kb(free, why);
                format!(
                    "Lowmem: the flags allow no zone above {highest}, and there is no memory. The {free} elsewhere are of no use."
                )
            }
            None => format!("{}: no zone that the request may use is in the text.", title(class)),
        },
        None => other_kinds::undecided(splat, why),
    }
}

fn exhausted(splat: &Splat, why: &Judged) -> String {
    let cache = super::size::human(splat.totals.page_cache().unwrap_or(0), why);
    let swap = match (splat.totals.swap_free_kib, splat.totals.swap_total_kib) {
        (_, Some(0)) => "there is no swap".to_owned(),
        // The last pages of swap are in use for a moment only.
        (Some(free), Some(total)) if free >= total / 16 => format!("{free} kB of swap are free"),
        _ => "swap is full".to_owned(),
    };
    let largest = why.memory.as_ref().and_then(|memory| Some((memory, memory.largest_fixed()?)));
    let largest =
        largest.filter(|(_, of)| !matches!(of, Use::Anonymous)).map_or(String::new(), |(memory, of)| {
            let by = if of == Use::Other { "" } else { "by " };
            format!(", {} % of it {by}{}", memory.percent(memory.pages(of)), of.name())
        });
    let zone = why.deciding().map_or(String::new(), |zone| numbers(zone, why));
    format!("Shortage: memory is used up{largest}: {cache} of page cache are left, and {swap}. {zone}.")
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
        Class::Shortage if zone.ignores_marks => format!(
            "{title}: even the reserve below the marks, which `__GFP_MEMALLOC` opens, is empty: {} has {} free.",
            name(zone, why),
            kb(zone.free, why)
        ),
        Class::Fragmentation => {
            let largest = match zone.largest {
                Some(order) => format!("the largest is {}", order_kb(order, why)),
                None => "it has no free block".to_owned(),
            };
            let request = why.request_kib().unwrap_or(0);
            let outside = match zone.reason {
                ZoneReason::OnlyIn(reserve) => format!(" outside of {}", reserve.name()),
                _ => String::new(),
            };
            format!(
                "{title}: {} has no free block of {request} kB or more{outside}; {largest}. It has {} free, watermark {}: \
                 enough pages, in blocks that are too small.",
                name(zone, why),
                kb(zone.free, why),
                kb(zone.threshold().max(0) as u64, why)
            )
        }
        Class::Reserve => reserve(&title, zone, why),
        Class::Lowmem => lowmem(&title, zone, why),
        _ => format!("{title}: too few pages are free. {numbers}."),
    }
}

fn lowmem(title: &str, zone: &Finding, why: &Judged) -> String {
    let others: u64 = why.findings.iter().filter(|other| !other.is_allowed()).map(|other| other.free).sum();
    let others = others.saturating_add(why.unlisted.map_or(0, |unlisted| unlisted.pages));
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

fn cgroup(splat: &Splat) -> String {
    if let Some(cache) = splat.cache.as_deref() {
        return format!(
            "Cgroup limit: the slab cache {} belongs to a cgroup, whose kernel memory is at its limit.",
            cache.split('(').next().unwrap_or(cache)
        );
    }
    let path = splat.cgroup.path.as_deref().unwrap_or("that is not named");
    let counter = splat.cgroup.at_limit();
    let name = counter.map_or("memory", |counter| counter.name);
    let swap = if splat.cgroup.is_swap_full() { " Its swap is full, too." } else { "" };
    let limit = counter.map_or(String::new(), |counter| {
        format!(" Usage {} kB, limit {} kB.{swap}", counter.usage, counter.limit)
    });
    format!(
        "Cgroup limit: the cgroup {path} is at its {name} limit, so free memory elsewhere is of no use.{limit}"
    )
}

fn address_space(splat: &Splat) -> String {
    let bytes = splat.bytes.map_or(String::new(), |bytes| format!(" of {bytes} bytes"));
    let area = if splat.vmalloc.is_for_modules { " in the area for modules" } else { "" };
    format!(
        "Address space: vmalloc found no free range{bytes} of kernel addresses{area}. Free pages were not what it lacked."
    )
}

fn size(splat: &Splat, why: &Judged) -> String {
    if splat.kind == Kind::Vmalloc {
        let bytes = splat.bytes.map_or(String::new(), |bytes| format!(" of {bytes} bytes"));
        return format!("Size no zone can have: the vmalloc{bytes} exceeds all memory of the machine.");
    }
    let lists = splat.zones.iter().filter_map(|zone| zone.blocks.as_ref());
    match (why.order, lists.map(|list| list.rows.len()).max()) {
        (Some(order), Some(rows)) if rows > 0 => format!(
            "Size no zone can have: order {order} is requested, and the largest order of this kernel is {} ({}).",
            rows - 1,
            order_kb((rows - 1) as u8, why)
        ),
        _ if splat.function.as_deref().is_some_and(|function| !function.contains("alloc_")) => format!(
            "Size no zone can have: the caller requested more bytes than {} gives.",
            splat.function.as_deref().unwrap_or("kmalloc")
        ),
        _ => "Size no zone can have: the caller requested an order above the kernel's largest. The request's size \
              comes from the caller, so free memory does not matter."
            .to_owned(),
    }
}

fn node_policy(splat: &Splat, why: &Judged) -> String {
    if why.verdict.zone.is_none() && why.findings.iter().any(|zone| zone.reason == ZoneReason::Fits) {
        return one_node(why);
    }
    let sets = [&splat.request.nodemask, &splat.request.mems_allowed];
    let nodes = sets.into_iter().flatten().min_by_key(|set| set.count());
    let nodes = nodes.map_or("some nodes".to_owned(), |set| match set.count() {
        1 => format!("node {}", set.text()),
        _ => format!("nodes {}", set.text()),
    });
    let fits = |zone: &&Finding| zone.reason == ZoneReason::OtherNode && zone.if_allowed == ZoneReason::Fits;
    let other = why.findings.iter().find(fits);
    let other =
        other.map_or(String::new(), |zone| format!(" {} has {} free.", name(zone, why), kb(zone.free, why)));
    let is_high =
        |zone: &&Finding| zone.reason == ZoneReason::HigherZone && zone.if_allowed == ZoneReason::Fits;
    let high = why.findings.iter().find(is_high).filter(|_| other.is_empty());
    let high = high.map_or(String::new(), |zone| {
        format!(
            " {} has {} free, but the flags allow no zone above {}.",
            name(zone, why),
            kb(zone.free, why),
            why.highest.name()
        )
    });
    let unlisted = match why.unlisted {
        Some(Unlisted { pages, place: Place::OtherNodes }) if other.is_empty() => {
            format!(" {} are free on nodes that the kernel does not list.", kb(pages, why))
        }
        _ => String::new(),
    };
    format!(
        "Node policy: the cpuset or memory policy allows {nodes} alone, and no zone there fits.{other}{unlisted}{high}"
    )
}

fn one_node(why: &Judged) -> String {
    let fits = |node| why.findings.iter().any(|zone| zone.node == node && zone.reason == ZoneReason::Fits);
    let mut nodes: Vec<u32> =
        why.findings.iter().filter(|zone| zone.is_allowed()).map(|zone| zone.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let named = |is_fit| {
        let nodes: Vec<String> =
            nodes.iter().filter(|&&node| fits(node) == is_fit).take(8).map(u32::to_string).collect();
        (if nodes.len() == 1 { "node " } else { "nodes " }).to_owned() + &nodes.join(",")
    };
    format!(
        "Node policy: the request is for one node alone (`__GFP_THISNODE`), which the text does not name. It would fit on \
         {}, and not on {}.",
        named(true),
        named(false)
    )
}

fn contiguous(splat: &Splat) -> String {
    let pages = splat.cma.pages.map_or(String::new(), |pages| format!(" of {pages} pages"));
    match splat.cma.errno {
        Some(12) => {
            format!("Shortage: the CMA area has no free range{pages}: other users have allocated it.")
        }
        _ => format!(
            "Fragmentation: a {}range{pages} has pages in use that the kernel could not migrate (PFNs busy).",
            if splat.cma.is_named { "CMA " } else { "" }
        ),
    }
}
