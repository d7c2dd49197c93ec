//! A report, judged: its request, its zones, its class.

use freehold::{GfpFlags, ZoneType};

use super::class::{Class, Scope, Sure, Verdict, by_zones};
use super::layout::Layout;
use super::memory::MemoryUse;
use super::rights::{Rights, Rule};
use super::unlisted::{Place, Unlisted};
use super::zone_reason::{Finding, ZoneReason};
use crate::report::{self, Kind, NodeAccess, Splat, ZoneText};

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
    /// Free memory outside of the zones in the text.
    pub(crate) unlisted: Option<Unlisted>,
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
            let access = splat.request.access(zone.node, assumed);
            if zone.kind > highest {
                found.reason = ZoneReason::HigherZone;
            } else if access != NodeAccess::Open {
                found.reason = ZoneReason::OtherNode;
                found.is_access_unclear = access == NodeAccess::Unclear;
            }
            found
        };
        let with_memory = splat.zones.iter().filter(|zone| zone.size_kib() > 0 || zone.present_kib.is_none());
        let findings: Vec<Finding> = with_memory.map(judge).collect();
        let unlisted = Unlisted::of(splat, &layout, assumed);
        let lost = layout.lost_zones(&splat.zones, highest);
        let mut doubts: Vec<String> = lost
            .iter()
            .map(|(node, kind)| format!("node {node} {}: its lines are missing", kind.name()))
            .collect();
        doubts.append(&mut report::doubts(splat, unlisted.is_none() && lost.is_empty()));
        let memory = MemoryUse::of(splat, page_kib);
        let is_exhausted = splat.kind.is_oom() && memory.as_ref().is_some_and(MemoryUse::is_used_up);
        let scope = Scope {
            is_one_node: assumed.contains(GfpFlags::THISNODE),
            has_unlisted_higher: unlisted.is_some_and(|unlisted| unlisted.place == Place::HigherZones),
        };
        let verdict = verdict(splat, &findings, scope, version);
        let mut why = Self {
            page_kib,
            order,
            flags,
            highest,
            rights,
            findings,
            verdict,
            unlisted,
            memory,
            is_exhausted,
            doubts,
        };
        why.weigh(splat, &lost);
        why
    }

    /// Corrects the class by what the zones alone do not say, and lowers the certainty where lines are missing.
    fn weigh(&mut self, splat: &Splat, lost: &[(u32, ZoneType)]) {
        let (verdict, highest) = (&mut self.verdict, self.highest);
        let deciding = verdict.zone.map(|at| &self.findings[at]);
        if self.is_exhausted && deciding.is_some_and(Finding::is_short_of_highatomic) {
            // Linux gives this reserve back before it kills, so that it is not what was missing.
            verdict.class = Some(Class::Shortage);
        } else if self.is_exhausted
            && verdict.class.is_none()
            && deciding.is_some_and(|zone| zone.reason == ZoneReason::Fits)
        {
            // A task that ended has freed a little before the kernel printed this.
            (verdict.class, verdict.sure) = (Some(Class::Shortage), Sure::Likely);
        }
        if deciding.is_some_and(|zone| lost.iter().any(|&(_, kind)| kind > zone.kind)) && !self.is_exhausted {
            // The request tries higher zones first, and they have most of the memory.
            *verdict = Verdict::UNDECIDED;
        }
        let is_elsewhere = self.unlisted.is_some_and(|unlisted| unlisted.place == Place::OtherNodes);
        if splat.kind != Kind::OomNodes && is_elsewhere && verdict.class == Some(Class::Shortage) {
            *verdict = Verdict::new(Class::NodePolicy, Sure::Likely);
        }
        // Zones without memory are in the text, or the text is cut off.
        let is_empty =
            |zone: &ZoneText| zone.kind <= highest && zone.present_kib.is_some() && zone.size_kib() == 0;
        let lacks_zones = verdict.class == Some(Class::Lowmem)
            && verdict.zone.is_none()
            && !splat.zones.iter().any(is_empty);
        // The lists of blocks come last: without one the text is cut off.
        let is_cut = splat.zones.iter().any(|zone| zone.blocks.is_none());
        let has_doubts = !self.doubts.is_empty() && !self.findings.is_empty();
        let lacks_flags = self.flags.is_none() && verdict.zone.is_some();
        // Only a cgroup's limit stands in the text without the request.
        let lacks_request = self.flags.is_none() && self.order.is_none() && needs_request(splat.kind);
        if lacks_flags || lacks_zones || lacks_request || is_cut && verdict.zone.is_some() || has_doubts {
            *verdict = verdict.at_most_likely();
        }
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

/// Returns true if nothing certain can be said of a report without the line that names the request.
fn needs_request(kind: Kind) -> bool {
    matches!(kind, Kind::PageAllocation | Kind::Stall | Kind::Oom | Kind::OomNodes | Kind::MemInfo)
}

fn verdict(splat: &Splat, findings: &[Finding], scope: Scope, version: Option<(u32, u32)>) -> Verdict {
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
        Kind::OomNodes => named_nodes(splat, by_zones(findings, scope)),
        Kind::MemInfo => without_request(findings, scope),
        _ => match splat.request.order {
            Some(order) if exceeds_zones(splat, order) => Verdict::new(Class::Size, Sure::Certain),
            Some(_) => by_zones(findings, scope),
            None => without_request(findings, scope),
        },
    }
}

/// Returns true for a cache of a cgroup, which kernels 3.8 to 5.8 name `kmalloc-64(12:group)`.
fn is_of_cgroup(splat: &Splat) -> bool {
    let rest = splat.cache.as_deref().and_then(|cache| cache.split_once('(')).map_or("", |(_, rest)| rest);
    rest.split_once(':').is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

/// Classes an OOM kill for some nodes, whose limit the kernel itself names.
///
/// The kernel lists the nodes of that limit alone, so that the zones in the text say nothing of the others.
fn named_nodes(splat: &Splat, by_zones: Verdict) -> Verdict {
    if by_zones.class == Some(Class::Lowmem) && by_zones.zone.is_some() {
        return by_zones;
    }
    let has_totals = splat.totals.get("free:").is_some() && splat.has_blocks();
    let is_closed = by_zones.class == Some(Class::NodePolicy);
    let is_free_elsewhere = is_closed || !has_totals || report::unlisted_free(splat).is_some();
    let sure = if is_free_elsewhere { Sure::Certain } else { Sure::Likely };
    Verdict::new(Class::NodePolicy, sure)
}

/// Classes a listing by what a request of one page would have met.
fn without_request(findings: &[Finding], scope: Scope) -> Verdict {
    let verdict = by_zones(findings, scope).at_most_likely();
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
