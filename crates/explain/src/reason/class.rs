//! One class for a report, from the reasons of its zones.

use freehold::ZoneType;
use serde::Serialize;

use super::zone_reason::{Finding, ZoneReason};

/// Why a request failed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Too few free pages.
    Shortage,
    /// Enough free pages, in blocks that are too small.
    Fragmentation,
    /// Enough free pages, in a reserve that the request may not use.
    Reserve,
    /// Too few free pages in the low zones that the request needs.
    Lowmem,
    /// Other nodes have memory that a cpuset or a memory policy leaves out.
    NodePolicy,
    /// A control group is at its limit.
    CgroupLimit,
    /// No range of kernel addresses.
    AddressSpace,
    /// A block that no zone can have.
    Size,
}

impl Class {
    /// Returns the name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shortage => "shortage",
            Self::Fragmentation => "fragmentation",
            Self::Reserve => "reserve",
            Self::Lowmem => "lowmem",
            Self::NodePolicy => "node policy",
            Self::CgroupLimit => "cgroup limit",
            Self::AddressSpace => "address space",
            Self::Size => "size no zone can have",
        }
    }
}

/// How sure a class is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sure {
    /// The text does not decide.
    Undecided,
    /// The numbers suggest it, but some are missing, disagree, or changed meanwhile.
    Likely,
    /// It follows from the printed numbers by the rule of the kernel.
    Certain,
}

/// A class, how sure it is, and the zone that it rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Verdict {
    pub(crate) class: Option<Class>,
    pub(crate) sure: Sure,
    /// The number of the zone among the findings.
    pub(crate) zone: Option<usize>,
}

impl Verdict {
    pub(crate) const UNDECIDED: Self = Self { class: None, sure: Sure::Undecided, zone: None };

    pub(crate) const fn new(class: Class, sure: Sure) -> Self {
        Self { class: Some(class), sure, zone: None }
    }

    const fn at(class: Class, sure: Sure, zone: usize) -> Self {
        Self { class: Some(class), sure, zone: Some(zone) }
    }

    /// Returns the same, at most likely.
    pub(crate) fn at_most_likely(self) -> Self {
        Self { sure: self.sure.min(Sure::Likely), ..self }
    }
}

/// Classes what zones answered.
pub(crate) fn by_zones(found: &[Finding]) -> Verdict {
    let allowed = || found.iter().enumerate().filter(|(_, zone)| zone.is_allowed());
    if allowed().next().is_none() {
        if found.iter().any(is_closed_fit) {
            // The nodes that the request may use are not in the text.
            return Verdict::new(Class::NodePolicy, Sure::Likely);
        }
        if found.iter().any(|zone| zone.reason == ZoneReason::HigherZone) {
            // The zones that the flags allow have no memory.
            return Verdict::new(Class::Lowmem, Sure::Certain);
        }
    }
    if allowed().all(|(_, zone)| zone.reason == ZoneReason::Unknown) {
        return Verdict::UNDECIDED;
    }
    let verdict = match best_fit(found) {
        Some(at) => with_a_fit(found, at),
        None => without_a_fit(found),
    };
    let is_partial = allowed().any(|(_, zone)| zone.reason == ZoneReason::Unknown);
    if is_partial { verdict.at_most_likely() } else { verdict }
}

/// Returns the allowed zone that could answer with the most pages to spare.
fn best_fit(found: &[Finding]) -> Option<usize> {
    let fits = found.iter().enumerate().filter(|(_, zone)| zone.reason == ZoneReason::Fits);
    fits.max_by_key(|(_, zone)| zone.usable - zone.threshold()).map(|(at, _)| at)
}

/// Classes a report where a zone could answer by the numbers, yet the request failed.
fn with_a_fit(found: &[Finding], at: usize) -> Verdict {
    let zone = &found[at];
    let spare = zone.usable - zone.threshold();
    if zone.cma == 0 && zone.all_cma > 0 && spare <= zone.all_cma as i64 {
        // This kernel does not let the request use CMA, though Linux would.
        return Verdict::at(Class::Reserve, Sure::Likely, at);
    }
    let below_low = zone.usable <= (zone.low.saturating_add(zone.lowmem_reserve)) as i64;
    let in_hidden_reserve = zone.hidden_highatomic.is_some_and(|pages| spare <= pages as i64);
    if below_low || in_hidden_reserve {
        let short = short_of(found);
        return Verdict::at(short.0, Sure::Likely, at);
    }
    Verdict { zone: Some(at), ..Verdict::UNDECIDED }
}

/// Returns true if a zone fits, and a cpuset or a memory policy leaves it out.
fn is_closed_fit(zone: &Finding) -> bool {
    zone.reason == ZoneReason::OtherNode && zone.if_allowed == ZoneReason::Fits
}

fn without_a_fit(found: &[Finding]) -> Verdict {
    if found.iter().any(is_closed_fit) {
        return Verdict::new(Class::NodePolicy, Sure::Certain);
    }
    let total =
        found.iter().filter(|zone| zone.is_allowed()).map(|zone| zone.size).fold(0, u64::saturating_add);
    // A zone of a few pages says nothing of a machine: DMA has 16 MiB.
    let counts = |zone: &Finding| zone.size.saturating_mul(16) >= total;
    let blocked = |zone: &Finding| zone.reason == ZoneReason::NoBlock || zone.is_in_reserve();
    let deciding = found.iter().enumerate().filter(|(_, zone)| blocked(zone));
    let deciding = deciding.max_by_key(|(_, zone)| (counts(zone), zone.kind, zone.size));
    if let Some((at, zone)) = deciding {
        let class = if zone.is_fragmented() { Class::Fragmentation } else { Class::Reserve };
        let sure = if counts(zone) { Sure::Certain } else { Sure::Likely };
        return Verdict::at(class, sure, at);
    }
    let (class, at) = short_of(found);
    Verdict { class: Some(class), sure: Sure::Certain, zone: at }
}

/// Returns shortage or, where a higher zone has free memory that the flags do not allow, lowmem; and the zone.
fn short_of(found: &[Finding]) -> (Class, Option<usize>) {
    let has_memory =
        |zone: &&Finding| zone.reason == ZoneReason::HigherZone && zone.free > zone.low.max(zone.size / 64);
    let class = if found.iter().any(|zone| has_memory(&zone)) { Class::Lowmem } else { Class::Shortage };
    let allowed = found.iter().enumerate().filter(|(_, zone)| zone.is_allowed());
    let at = allowed.max_by_key(|(_, zone)| (zone.kind != ZoneType::Dma, zone.size)).map(|(at, _)| at);
    (class, at)
}
