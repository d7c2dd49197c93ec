//! The lines that start a report.

use super::kind::Kind;
use super::release::Release;
use super::request::AllocRequest;
use super::splat::{HugePool, Splat};
use crate::text::{Line, digits, field, number};

/// Returns the report that a line starts, or `None` if it starts none.
pub(crate) fn start(line: &Line<'_>, release: Option<&Release>) -> Option<Splat> {
    let text = line.text;
    let new = |kind| Splat::new(kind, line.time, release.cloned());
    let with_request = |kind, (task, rest): (&str, &str)| {
        let mut splat = new(kind);
        splat.request = AllocRequest::read(task, rest);
        splat
    };
    if let Some(parts) = text.split_once("invoked oom-killer:") {
        return Some(with_request(Kind::Oom, parts));
    }
    if let Some(parts) = text.split_once("page allocation failure") {
        return Some(with_request(Kind::PageAllocation, parts));
    }
    if let Some(parts) = text.split_once("page allocation stalls for") {
        return Some(with_request(Kind::Stall, parts));
    }
    vmalloc(text, &with_request)
        .or_else(|| contiguous(text, &new))
        .or_else(|| pool(text).map(|pool| Splat { pool: Some(pool), ..new(Kind::HugePool) }))
        .or_else(|| slab(text, &with_request))
        .or_else(|| warning(text, &new))
}

fn vmalloc(text: &str, with_request: &impl Fn(Kind, (&str, &str)) -> Splat) -> Option<Splat> {
    let keys = ["vmalloc error:", "vmalloc: allocation failure", "vmalloc size"];
    if let Some(parts) = keys.iter().find_map(|key| text.split_once(key)) {
        let mut splat = with_request(Kind::Vmalloc, parts);
        let rest = parts.1;
        let sized = || digits(rest.trim_start_matches([':', ' '])).map(|(bytes, _)| bytes);
        let of_bytes = number(rest, "of").filter(|_| rest.contains("bytes"));
        splat.vmalloc_bytes = number(rest, "size").or(of_bytes).or_else(sized);
        splat.exceeds_machine = rest.contains("exceeds total pages");
        let has_pages = ["allocate pages", "allocation failure", "allocated page array"];
        splat.lacks_addresses = if rest.contains("vm_struct allocation failed") {
            Some(true)
        } else {
            (has_pages.iter().any(|words| text.contains(words)) || rest.contains("page order"))
                .then_some(false)
        };
        if splat.lacks_addresses == Some(false) && splat.request.order.is_none() {
            splat.request.order = Some(0);
        }
        return Some(splat);
    }
    let keys = ["vmap allocation for size", "vmalloc_node_range for size"];
    let (before, rest) = keys.iter().find_map(|key| text.split_once(key))?;
    let mut splat = with_request(Kind::Vmalloc, (before, ""));
    splat.vmalloc_bytes = digits(rest.trim_start()).map(|(bytes, _)| bytes);
    splat.lacks_addresses = Some(true);
    Some(splat)
}

fn contiguous(text: &str, new: &impl Fn(Kind) -> Splat) -> Option<Splat> {
    let is_cma = text.contains("alloc failed, req-size:");
    let is_busy = text.contains("PFNs busy") || text.contains("is busy, retrying");
    if !is_cma && !is_busy {
        return None;
    }
    let mut splat = new(Kind::Cma);
    splat.cma.pages = number(text, "req-size:");
    splat.cma.errno = if is_busy {
        Some(16)
    } else {
        field(text, "ret: -").and_then(|rest| digits(rest)).map(|(errno, _)| errno)
    };
    Some(splat)
}

fn pool(text: &str) -> Option<HugePool> {
    let rest = field(text, "HugeTLB: allocating").or_else(|| field(text, "hugetlb: allocating"))?;
    let (wanted, _) = digits(rest.trim_start())?;
    let got = number(rest, "Only allocated")?;
    let size = field(rest, "page size")?.split(" failed").next()?;
    Some(HugePool { wanted, got, page_size: size.trim().chars().take(20).collect() })
}

fn slab(text: &str, with_request: &impl Fn(Kind, (&str, &str)) -> Splat) -> Option<Splat> {
    let parts = text.split_once("Unable to allocate memory on")?;
    let is_slab = parts.0.contains("SLUB") || parts.0.contains("SLAB");
    is_slab.then(|| with_request(Kind::Slab, ("", parts.1)))
}

fn warning(text: &str, new: &impl Fn(Kind) -> Splat) -> Option<Splat> {
    let rest = field(text, "WARNING:")?;
    let (_, place) = rest.split_once("mm/page_alloc.c:")?;
    let function = place.split_whitespace().find(|word| word.contains("+0x"))?;
    let mut splat = new(Kind::OrderWarning);
    splat.function = function.split("+0x").next().map(|name| name.chars().take(64).collect());
    Some(splat)
}
