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

/// What the zones in a text leave open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Scope {
    /// `__GFP_THISNODE`: the request is for one node, which the text does not name.
    pub(crate) is_one_node: bool,
    /// Zones above those of the flags have free memory, and the text does not list them.
    pub(crate) has_unlisted_higher: bool,
}

/// Classes what zones answered.
pub(crate) fn by_zones(found: &[Finding], scope: Scope) -> Verdict {
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
        Some(_) if scope.is_one_node && has_full_node(found) => Verdict::new(Class::NodePolicy, Sure::Likely),
        Some(at) => with_a_fit(found, at, scope),
        None => without_a_fit(found, scope),
    };
    let is_partial =
        allowed().any(|(_, zone)| matches!(zone.reason, ZoneReason::Unknown | ZoneReason::NoList));
    if is_partial { verdict.at_most_likely() } else { verdict }
}

/// Returns the allowed zone that could answer with the most pages to spare.
fn best_fit(found: &[Finding]) -> Option<usize> {
    let fits = found.iter().enumerate().filter(|(_, zone)| zone.reason == ZoneReason::Fits);
    fits.max_by_key(|(_, zone)| zone.usable - zone.threshold()).map(|(at, _)| at)
}

/// Classes a report where a zone could answer by the numbers, yet the request failed.
fn with_a_fit(found: &[Finding], at: usize, scope: Scope) -> Verdict {
    let zone = &found[at];
    let spare = zone.usable - zone.threshold();
    if zone.cma == 0 && zone.all_cma > 0 && spare <= zone.all_cma as i64 {
        // This kernel does not let the request use CMA, though Linux would.
        return Verdict::at(Class::Reserve, Sure::Likely, at);
    }
    let below_low = zone.usable <= (zone.low.saturating_add(zone.lowmem_reserve)) as i64;
    let in_hidden_reserve = zone.hidden_highatomic.is_some_and(|pages| spare <= pages as i64);
    if below_low || in_hidden_reserve {
        let short = short_of(found, scope);
        return Verdict::at(short.0, Sure::Likely, at);
    }
    Verdict { zone: Some(at), ..Verdict::UNDECIDED }
}

/// Returns true if a node has zones that the request may use, and none of them fits.
fn has_full_node(found: &[Finding]) -> bool {
    let fits = |node| found.iter().any(|zone| zone.node == node && zone.reason == ZoneReason::Fits);
    found.iter().any(|zone| zone.is_allowed() && !fits(zone.node))
}

/// Returns true if a zone fits, and a cpuset or a memory policy leaves it out.
fn is_closed_fit(zone: &Finding) -> bool {
    zone.reason == ZoneReason::OtherNode && zone.if_allowed == ZoneReason::Fits
}

fn without_a_fit(found: &[Finding], scope: Scope) -> Verdict {
    let mut closed = found.iter().filter(|zone| is_closed_fit(zone)).peekable();
    if closed.peek().is_some() {
        let is_sure = closed.any(|zone| !zone.is_access_unclear);
        return Verdict::new(Class::NodePolicy, if is_sure { Sure::Certain } else { Sure::Likely });
    }
    let total =
        found.iter().filter(|zone| zone.is_allowed()).map(|zone| zone.size).fold(0, u64::saturating_add);
    // A small zone says nothing of a machine. By a sixteenth, DMA with its 16 MiB counts below 256 MiB of memory, where
    // ordinary requests live on it.
    let counts = |zone: &Finding| zone.size.saturating_mul(16) >= total;
    let is_short = |zone: &Finding| counts(zone) && matches!(zone.reason, ZoneReason::Short { .. });
    let is_any_short = found.iter().any(|zone| zone.is_allowed() && is_short(zone));
    let blocked = |zone: &Finding| {
        (zone.reason == ZoneReason::NoBlock || zone.is_in_reserve()) && (counts(zone) || !is_any_short)
    };
    let deciding = found.iter().enumerate().filter(|(_, zone)| blocked(zone));
    let deciding = deciding.max_by_key(|(_, zone)| (counts(zone), zone.kind, zone.size));
    if let Some((at, zone)) = deciding {
        let class = if zone.is_fragmented() { Class::Fragmentation } else { Class::Reserve };
        let sure = if counts(zone) { Sure::Certain } else { Sure::Likely };
        return Verdict::at(class, sure, at);
    }
    let cut = found.iter().position(|zone| zone.reason == ZoneReason::NoList && counts(zone));
    if cut.is_some() {
        return Verdict { zone: cut, ..Verdict::UNDECIDED };
    }
    let (class, at) = short_of(found, scope);
    Verdict { class: Some(class), sure: Sure::Certain, zone: at }
}

/// Returns shortage or, where a higher zone has free memory that the flags do not allow, lowmem; and the zone.
fn short_of(found: &[Finding], scope: Scope) -> (Class, Option<usize>) {
    // Above its low mark kswapd leaves a zone alone: it is not short.
    let has_memory =
        |zone: &Finding| zone.reason == ZoneReason::HigherZone && zone.free > zone.low.max(zone.printed_min);
    let is_lowmem = scope.has_unlisted_higher || found.iter().any(has_memory);
    let class = if is_lowmem { Class::Lowmem } else { Class::Shortage };
    let allowed = found.iter().enumerate().filter(|(_, zone)| zone.is_allowed());
    let at = allowed.max_by_key(|(_, zone)| (zone.kind != ZoneType::Dma, zone.size)).map(|(at, _)| at);
    (class, at)
}
