//! A report, judged: its request, its zones, its class.

use freehold::{GfpFlags, ZoneType};

use super::class::{Class, Sure, Verdict, by_zones};
use super::layout::Layout;
use super::memory::MemoryUse;
use super::rights::{Rights, Rule};
use super::zone_reason::{Finding, ZoneReason};
use crate::report::{Kind, Splat, ZoneText, doubts};

/// What a report says once it is judged.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Judged {
    pub(crate) page_kib: u64,
    /// The order of the request, or `None` if the text names none.
    pub(crate) order: Option<u8>,
    pub(crate) flags: Option<GfpFlags>,
    /// The highest type of zone that the flags allow, where the kernel has it.
    pub(crate) highest: ZoneType,
    pub(crate) rights: Rights,
    /// A finding for each zone that has memory, in the order of the text.
    pub(crate) findings: Vec<Finding>,
    pub(crate) verdict: Verdict,
    /// What the machine's memory is used for.
    pub(crate) memory: Option<MemoryUse>,
    /// True for an OOM kill of a machine whose memory is used up.
    pub(crate) is_exhausted: bool,
    /// What does not agree in the text.
    pub(crate) doubts: Vec<String>,
}

/// The errors of CMA: a fatal signal ended the wait, no range is free, and pages of the range stay in use.
pub(crate) const EINTR: u64 = 4;
const ENOMEM: u64 = 12;
const EBUSY: u64 = 16;

impl Judged {
    pub(crate) fn of(splat: &Splat) -> Self {
        let version = splat.release.as_ref().map(|release| release.version);
        let flags = splat.request.gfp.as_ref().and_then(|gfp| gfp.flags(version));
        let order = splat.request.order;
        let layout = Layout::of(&splat.zones);
        // Without flags: those of most requests of the kernel's own.
        let assumed = flags.unwrap_or(GfpFlags::KERNEL);
        let rights = Rights::of(rule_of(splat, version), assumed, order.unwrap_or(0));
        let highest = layout.highest(assumed);
        let page_kib = page_kib(splat);
        let judge = |zone| {
            let reserve = layout.reserve(zone, highest);
            let mut found = Finding::new(zone, page_kib, order.unwrap_or(0), rights, reserve);
            if zone.kind > highest {
                found.reason = ZoneReason::HigherZone;
            } else if !splat.request.may_use_node(zone.node) {
                found.reason = ZoneReason::OtherNode;
            }
            found
        };
        let with_memory = splat.zones.iter().filter(|zone| zone.size_kib() > 0 || zone.present_kib.is_none());
        let findings: Vec<Finding> = with_memory.map(judge).collect();
        let doubts = doubts(splat);
        let mut verdict = verdict(splat, &findings, version);
        let memory = MemoryUse::of(splat, page_kib);
        let is_exhausted = splat.kind.is_oom() && memory.as_ref().is_some_and(MemoryUse::is_used_up);
        let deciding = verdict.zone.map(|at| &findings[at]);
        if is_exhausted && deciding.is_some_and(Finding::is_short_of_highatomic) {
            // Linux gives this reserve back before it kills, so that it is not what was missing.
            verdict.class = Some(Class::Shortage);
        } else if is_exhausted
            && verdict.class.is_none()
            && deciding.is_some_and(|zone| zone.reason == ZoneReason::Fits)
        {
            // A task that ended has freed a little before the kernel printed this.
            (verdict.class, verdict.sure) = (Some(Class::Shortage), Sure::Likely);
        }
        let lacks_flags = flags.is_none() && verdict.zone.is_some();
        // Zones without memory are in the text, or the text is cut off.
        let is_empty =
            |zone: &ZoneText| zone.kind <= highest && zone.present_kib.is_some() && zone.size_kib() == 0;
        let lacks_zones = verdict.class == Some(Class::Lowmem)
            && verdict.zone.is_none()
            && !splat.zones.iter().any(is_empty);
        // The lists of blocks come last: without one the text is cut off.
        let is_cut = splat.zones.iter().any(|zone| zone.blocks.is_none());
        if lacks_flags
            || lacks_zones
            || is_cut && verdict.zone.is_some()
            || (!doubts.is_empty() && !findings.is_empty())
        {
            verdict = verdict.at_most_likely();
        }
        Self { page_kib, order, flags, highest, rights, findings, verdict, memory, is_exhausted, doubts }
    }

    /// Returns the zone that the class rests on.
    pub(crate) fn deciding(&self) -> Option<&Finding> {
        self.findings.get(self.verdict.zone?)
    }

    /// Returns true if the request may wait for reclaim.
    pub(crate) fn may_wait(&self) -> bool {
        self.flags.is_none_or(|flags| flags.contains(GfpFlags::DIRECT_RECLAIM))
    }

    /// Returns the size of the request. Units: KiB.
    pub(crate) fn request_kib(&self) -> Option<u64> {
        self.page_kib.checked_shl(self.order?.into())
    }
}

/// Returns the rule of the kernel. Without a release the text shows its age: names of flags came with 4.6.
fn rule_of(splat: &Splat, version: Option<(u32, u32)>) -> Rule {
    if let Some(version) = version {
        return Rule::of(version);
    }
    let any = |has: fn(&ZoneText) -> bool| splat.zones.iter().any(has);
    let has_names = splat.request.gfp.as_ref().is_some_and(|gfp| gfp.names.is_some());
    if any(|zone| zone.free_highatomic_kib.is_some()) {
        Rule::NonBlock
    } else if has_names || any(|zone| zone.boost_kib.is_some()) {
        Rule::Harder
    } else {
        Rule::ByOrder
    }
}

/// Returns the size of a page, which is the first size of a list of blocks. Without a list, free pages and free KiB tell it.
/// Units: KiB.
fn page_kib(splat: &Splat) -> u64 {
    if let Some(blocks) = splat.zones.iter().find_map(|zone| zone.blocks.as_ref()) {
        return blocks.page_kib;
    }
    let kib = splat.zones.iter().filter_map(|zone| zone.free_kib).fold(0, u64::saturating_add);
    let pages = splat.totals.get("free:").unwrap_or(0).max(1);
    [64, 16].into_iter().find(|&size| kib.abs_diff(pages.saturating_mul(size)) < kib / 8).unwrap_or(4)
}

fn verdict(splat: &Splat, findings: &[Finding], version: Option<(u32, u32)>) -> Verdict {
    match splat.kind {
        Kind::OomCgroup => Verdict::new(Class::CgroupLimit, Sure::Certain),
        Kind::Vmalloc if splat.vmalloc.exceeds_machine => Verdict::new(Class::Size, Sure::Certain),
        Kind::Vmalloc if splat.vmalloc.lacks_addresses == Some(true) => {
            // Without the line on the range, a fatal signal or a failed kmalloc may have ended the search.
            let sure = if splat.vmalloc.has_range { Sure::Certain } else { Sure::Likely };
            Verdict::new(Class::AddressSpace, sure)
        }
        Kind::Vmalloc if splat.vmalloc.lacks_addresses.is_none() => Verdict::UNDECIDED,
        Kind::Cma => match splat.cma.errno {
            Some(ENOMEM) => Verdict::new(Class::Shortage, Sure::Likely),
            Some(EBUSY) => Verdict::new(Class::Fragmentation, Sure::Likely),
            _ => Verdict::UNDECIDED,
        },
        Kind::OrderWarning if warns_of_order(splat.function.as_deref(), version) => {
            Verdict::new(Class::Size, Sure::Likely)
        }
        Kind::OrderWarning | Kind::TopAllocators | Kind::PerCpu => Verdict::UNDECIDED,
        // A pool that the kernel command line requests is filled before memory can be fragmented.
        Kind::HugePool => Verdict::new(Class::Shortage, Sure::Likely),
        Kind::Slab if is_of_cgroup(splat) => Verdict::new(Class::CgroupLimit, Sure::Likely),
        Kind::Slab | Kind::Stall if splat.zones.is_empty() && splat.request.order == Some(0) => {
            Verdict::new(Class::Shortage, Sure::Likely)
        }
        Kind::Oom if splat.request.gfp.as_ref().is_some_and(|gfp| gfp.number == 0) => Verdict::UNDECIDED,
        _ if splat.request.is_by_hand => Verdict::UNDECIDED,
        Kind::Oom
            if findings.is_empty() && splat.is_unconstrained && splat.request.order.unwrap_or(0) == 0 =>
        {
            Verdict::new(Class::Shortage, Sure::Likely)
        }
        Kind::OomNodes => named_nodes(splat, by_zones(findings)),
        Kind::MemInfo => without_request(findings),
        _ => match splat.request.order {
            Some(order) if exceeds_zones(splat, order) => Verdict::new(Class::Size, Sure::Certain),
            Some(_) => by_zones(findings),
            None => without_request(findings),
        },
    }
}

/// Returns true for a cache of a cgroup, which kernels 3.8 to 5.8 name `kmalloc-64(12:group)`.
fn is_of_cgroup(splat: &Splat) -> bool {
    let rest = splat.cache.as_deref().and_then(|cache| cache.split_once('(')).map_or("", |(_, rest)| rest);
    rest.split_once(':').is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

/// Classes an OOM kill for some nodes, whose limit the kernel itself names.
fn named_nodes(splat: &Splat, by_zones: Verdict) -> Verdict {
    let leaves_out = splat.zones.iter().any(|zone| !splat.request.may_use_node(zone.node));
    if leaves_out || by_zones.class.is_none() || by_zones.zone.is_none() {
        Verdict::new(Class::NodePolicy, Sure::Certain)
    } else {
        by_zones
    }
}

/// Classes a listing by what a request of one page would have met.
fn without_request(findings: &[Finding]) -> Verdict {
    let verdict = by_zones(findings).at_most_likely();
    let is_short = matches!(verdict.class, Some(Class::Shortage | Class::Lowmem));
    let has_fit = findings.iter().any(|found| found.if_allowed == ZoneReason::Fits);
    if is_short && !has_fit {
        Verdict { class: Some(Class::Shortage), ..verdict }
    } else {
        let fits = |at: &usize| findings[*at].reason == ZoneReason::Fits;
        Verdict { zone: verdict.zone.filter(fits), ..Verdict::UNDECIDED }
    }
}

/// Returns true if the order is beyond the lists of every zone in the text.
fn exceeds_zones(splat: &Splat, order: u8) -> bool {
    let lists: Vec<_> = splat.zones.iter().filter_map(|zone| zone.blocks.as_ref()).collect();
    !lists.is_empty() && lists.iter().all(|list| list.is_whole() && list.rows.len() <= usize::from(order))
}

/// Returns true if a function of `mm/page_alloc.c` has no other warning than that of a too large order.
fn warns_of_order(function: Option<&str>, version: Option<(u32, u32)>) -> bool {
    let Some(function) = function else { return false };
    if function.contains("slowpath") {
        return version.is_some_and(|version| version < (4, 20));
    }
    let starts = [
        "__alloc_pages",
        "__alloc_frozen_pages",
        "kvmalloc",
        "__kvmalloc",
        "kmalloc",
        "__kmalloc",
        "___kmalloc",
    ];
    starts.iter().any(|start| function.starts_with(start))
}
