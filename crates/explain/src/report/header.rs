//! The lines that start a report.

use super::kind::Kind;
use super::release::Release;
use super::request::{AllocRequest, MAX_TASK_BYTES};
use super::splat::{HugePool, PerCpuReason, Splat};
use crate::text::{Line, digits, field, number};

/// Returns the report that a line starts, or `None` if it starts none.
pub(crate) fn start(line: &Line<'_>, release: Option<&Release>) -> Option<Splat> {
    let text = line.text;
    if text.contains('%') {
        // The source of a kernel, or a patch.
        return None;
    }
    let new = |kind| Splat::new(kind, line.time, release.cloned());
    let with_request = |kind, (task, rest): (&str, &str)| {
        let mut splat = new(kind);
        splat.request = AllocRequest::read(task, rest);
        splat
    };
    let requests = [
        ("invoked oom-killer:", Kind::Oom),
        ("oom-killer:", Kind::Oom),
        ("page allocation failure", Kind::PageAllocation),
        ("page allocation stalls for", Kind::Stall),
    ];
    for (start, kind) in requests {
        if let Some((task, rest)) = text.split_once(start)
            && names_request(rest)
        {
            let mut splat = with_request(kind, (task, rest));
            splat.stalled_ms = digits(rest.trim_start()).filter(|_| kind == Kind::Stall).map(|(ms, _)| ms);
            return Some(splat);
        }
    }
    vmalloc(text, &with_request)
        .or_else(|| contiguous(text, &new))
        .or_else(|| pool(text).map(|pool| Splat { pool: Some(pool), ..new(Kind::HugePool) }))
        .or_else(|| slab(text, &with_request))
        .or_else(|| per_cpu(text, &new))
        .or_else(|| warning(text, &new))
}

/// Returns true if a text has the flags of a request, or its order and nothing else. Without these numbers it is a sentence of
/// somebody who writes about reports.
fn names_request(text: &str) -> bool {
    let value = |key| field(text, key).map(str::trim_start);
    let starts_with_digit = |value: &str| value.starts_with(|c: char| c.is_ascii_digit());
    if ["mode:", "gfp_mask="].iter().any(|key| value(key).is_some_and(starts_with_digit)) {
        return true;
    }
    // A log may have broken or cut the line behind the order.
    let order = ["order:", "order="].iter().find_map(|key| value(key));
    let order = order.map(|order| order.strip_prefix('-').unwrap_or(order));
    order.and_then(digits).is_some_and(|(_, rest)| rest.trim_matches([',', ' ']).is_empty())
}

fn vmalloc(text: &str, with_request: &impl Fn(Kind, (&str, &str)) -> Splat) -> Option<Splat> {
    let keys = ["vmalloc error:", "vmalloc: allocation failure", "vmalloc size"];
    if let Some(parts) = keys.iter().find_map(|key| text.split_once(key)) {
        let mut splat = with_request(Kind::Vmalloc, parts);
        let rest = parts.1;
        let sized = || digits(rest.trim_start_matches([':', ' '])).map(|(bytes, _)| bytes);
        let of_bytes = number(rest, "of").filter(|_| rest.contains("bytes"));
        splat.bytes = Some(number(rest, "size").or(of_bytes).or_else(sized)?);
        splat.vmalloc.exceeds_machine = rest.contains("exceeds total pages");
        let has_pages = ["allocate pages", "allocation failure", "allocated page array"];
        splat.vmalloc.lacks_addresses = if rest.contains("vm_struct allocation failed") {
            Some(true)
        } else {
            (has_pages.iter().any(|words| text.contains(words)) || rest.contains("page order"))
                .then_some(false)
        };
        if splat.vmalloc.lacks_addresses == Some(false) && splat.request.order.is_none() {
            splat.request.order = Some(0);
        }
        return Some(splat);
    }
    let keys = ["vmap allocation for size", "vmalloc_node_range for size"];
    let (before, rest) = keys.iter().find_map(|key| text.split_once(key))?;
    let mut splat = with_request(Kind::Vmalloc, (before, ""));
    splat.bytes = Some(digits(rest.trim_start())?.0);
    splat.vmalloc.lacks_addresses = Some(true);
    splat.vmalloc.has_range = true;
    splat.vmalloc.is_for_modules = range(rest).is_some_and(is_of_modules);
    Some(splat)
}

/// Reads `Address range restricted to 0xf0800000 - 0xff800000`.
fn range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = field(text, "restricted to")?.split_once('-')?;
    let address = |text: &str| u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok();
    address(first).zip(address(last))
}

/// Returns true for a range of addresses of a 64-bit kernel of at most 4 GiB: vmalloc's own has terabytes, that of modules must
/// be near to the kernel's code.
fn is_of_modules((first, last): (u64, u64)) -> bool {
    first > u64::from(u32::MAX) && last.checked_sub(first).is_some_and(|size| size <= 1 << 32)
}

fn contiguous(text: &str, new: &impl Fn(Kind) -> Splat) -> Option<Splat> {
    let is_cma = text.contains("alloc failed, req-size:");
    let is_range = |before: &str| before.is_empty() || before.trim_end().ends_with(')');
    let names_range = text.split_once("PFNs busy").is_some_and(|(before, _)| is_range(before));
    let is_busy = names_range || text.contains("is busy, retrying");
    if !is_cma && !is_busy {
        return None;
    }
    let mut splat = new(Kind::Cma);
    splat.cma.pages = number(text, "req-size:");
    splat.cma.is_named = is_cma || text.contains("cma");
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
    let (size, behind) = field(rest, "page size")?.split_once(" failed")?;
    let node = number(behind, "node").and_then(|node| u32::try_from(node).ok());
    Some(HugePool { wanted, got, page_size: size.trim().chars().take(20).collect(), node })
}

fn slab(text: &str, with_request: &impl Fn(Kind, (&str, &str)) -> Splat) -> Option<Splat> {
    let parts = text.split_once("Unable to allocate memory on")?;
    let is_slab = parts.0.contains("SLUB") || parts.0.contains("SLAB");
    is_slab.then(|| with_request(Kind::Slab, ("", parts.1)))
}

fn per_cpu(text: &str, new: &impl Fn(Kind) -> Splat) -> Option<Splat> {
    let rest = field(text, "percpu: allocation failed,")?;
    let mut splat = new(Kind::PerCpu);
    splat.bytes = number(rest, "size=");
    splat.may_wait = number(rest, "atomic=").map(|atomic| atomic == 0);
    splat.per_cpu = [
        ("reserved chunk", PerCpuReason::ReservedFull),
        ("no space left", PerCpuReason::NoRoom),
        ("failed to allocate new chunk", PerCpuReason::NoPages),
        ("failed to populate", PerCpuReason::NoPages),
    ]
    .into_iter()
    .find_map(|(words, reason)| rest.contains(words).then_some(reason));
    Some(splat)
}

fn warning(text: &str, new: &impl Fn(Kind) -> Splat) -> Option<Splat> {
    // A mail program may have broken the line before the place.
    let is_broken = text.starts_with("mm/");
    let rest = if is_broken { text } else { field(text, "WARNING:")? };
    let place = ["mm/page_alloc.c:", "mm/util.c:", "mm/slab_common.c:", "mm/slub.c:"]
        .iter()
        .find_map(|file| rest.split_once(file))?
        .1;
    let words = || place.split_whitespace();
    let function =
        words().find(|word| word.contains("+0x")).or_else(|| words().nth(1).filter(|_| !is_broken))?;
    let function = function.split("+0x").next().unwrap_or(function);
    let is_in_page_alloc = rest.contains("mm/page_alloc.c:");
    if !is_in_page_alloc
        && !["kvmalloc", "__kvmalloc", "kmalloc", "__kmalloc", "___kmalloc", "kmalloc_slab"]
            .iter()
            .any(|start| function.starts_with(start))
    {
        return None;
    }
    let mut splat = new(Kind::OrderWarning);
    splat.function = Some(function.chars().take(64).collect());
    // Since 6.19 the task stands at the end: `CPU#0: task/123`.
    let task = field(text, "CPU#")
        .and_then(|rest| rest.split_once(": "))
        .and_then(|(_, task)| task.rsplit_once('/'));
    splat.request.task = task.map(|(task, _)| task.to_owned()).filter(|task| task.len() <= MAX_TASK_BYTES);
    Some(splat)
}
