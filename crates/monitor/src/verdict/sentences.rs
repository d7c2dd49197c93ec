//! A verdict in words.

use freehold_linux::pageblocks::UnmovableKind;

use super::answer::{State, Verdict};
use super::doubt::Doubt;
use super::evidence::Evidence;
use super::forecast::Forecast;
use super::holders::{Holder, HolderKind};
use super::range_sentences;
use super::reserves::reserves_sentence;
use super::supply::Supply;
use super::words::{nodes, plural, with_names};

/// The most holders in the reason.
const TOLD: usize = 4;

/// Returns the reasons for the verdict, a sentence each. The first has the numbers.
pub(super) fn reason(verdict: &Verdict, evidence: &Evidence<'_>) -> Vec<String> {
    if verdict.request.contiguous {
        return range_sentences::reason(verdict);
    }
    let mut reasons = vec![headline(verdict, evidence)];
    if verdict.state == State::AvailableNow {
        reasons.extend(verdict.forecast.as_ref().map(how_many));
    } else {
        what_keeps_it(verdict, evidence, &mut reasons);
    }
    kept_back(verdict, &mut reasons);
    reasons.extend(nodes(verdict, "compaction"));
    if verdict.state != State::AvailableNow {
        reasons.extend(reach(&verdict.supply));
        reasons.extend(verdict.undecided.map(|doubt| doubted(doubt, evidence)));
    }
    reasons
}

/// Returns the number needed, what is free, and what the kernel's own work makes of it.
fn headline(verdict: &Verdict, evidence: &Evidence<'_>) -> String {
    if verdict.zones.is_empty() {
        return "the machine has no such zone or node".to_owned();
    }
    let free = format!("{}: {} free now", verdict.request.short(), verdict.supply.now);
    match (verdict.state, &verdict.forecast) {
        (State::AvailableNow, Some(forecast)) => {
            format!("{free}, {} {}", forecast.words(), verdict.request.by.words())
        }
        (State::AvailableNow, None) => free,
        (State::AfterSetup, _) => format!(
            "{free}; {} MiB of memory are not set up yet, which the kernel does for such a request",
            deferred_mib(evidence)
        ),
        (_, Some(forecast)) => format!(
            "{free}, {} after the kernel's own work {}, {}",
            forecast.range(),
            verdict.request.by.words(),
            forecast.words()
        ),
        (_, None) => format!("{free}; what compaction or reclaim would make is unknown"),
    }
}

/// Returns how many blocks a request gets.
fn how_many(forecast: &Forecast) -> String {
    format!(
        "a request gets at least {} blocks with a probability of 90 %, {} with 50 %, {} with 10 %",
        forecast.at_90, forecast.at_50, forecast.at_10
    )
}

/// Returns what `freehold repair` can reach: the bounds of its steps.
fn reach(supply: &Supply) -> Option<String> {
    let bounds = |least: Option<u64>, most: Option<u64>| {
        let least = least?;
        Some(match most {
            Some(most) if most > least => format!("{least} to {most}"),
            _ => least.to_string(),
        })
    };
    Some(format!(
        "`freehold repair` reaches {} by compaction, and {} by reclaim and compaction",
        bounds(supply.after_compaction, supply.after_compaction_at_most)?,
        bounds(supply.after_reclaim_and_compaction, supply.after_reclaim_and_compaction_at_most)?
    ))
}

/// Adds what stops compaction, and who holds pageblocks.
fn what_keeps_it(verdict: &Verdict, evidence: &Evidence<'_>, reasons: &mut Vec<String>) {
    reasons.extend(verdict.holders.iter().filter(|h| h.pageblocks_alone > 0).take(TOLD).map(pages_of));
    reasons.extend(charged(verdict));
    let stops = verdict.zones.iter().filter_map(|zone| Some((zone, zone.gives_up_at_pfn?)));
    reasons.extend(stops.map(|(zone, pfn)| {
        format!(
            "node {}, zone {}: compaction may give up at pfn {pfn:#x}, at a dirty compound page of page cache; write \
             it back first (`sync`)",
            zone.node, zone.name
        )
    }));
    reasons.extend(on_lists(evidence, verdict));
    if verdict.state == State::NotBeforeFreed {
        reasons.extend(in_use(evidence, verdict));
    }
}

/// Adds which free blocks requests cannot have, and where others are.
fn kept_back(verdict: &Verdict, reasons: &mut Vec<String>) {
    let kept: u64 = verdict
        .zones
        .iter()
        .map(|zone| zone.now.saturating_sub(zone.unusable).saturating_sub(zone.allowed))
        .sum();
    reasons.extend(reserves_sentence(verdict));
    let by_type = verdict.zones.iter().filter(|zone| zone.reserved_pages.is_none());
    let unusable: u64 = by_type.map(|zone| zone.unusable).sum();
    let are = |number: u64| if number == 1 { "is" } else { "are" };
    if unusable > 0 {
        reasons.push(format!(
            "{unusable} more {} free but reserved (HighAtomic, CMA or isolated)",
            are(unusable)
        ));
    }
    if kept > 0 {
        reasons.push(format!("{kept} more {} free but reserved (low watermark, lowmem_reserve)", are(kept)));
    }
    if verdict.supply.deferred > 0 {
        reasons.push(format!(
            "{} more lie in memory that the kernel has not set up yet; whether a request gets them was not tried",
            verdict.supply.deferred
        ));
    }
}

/// Returns the MiB of memory that the kernel has not set up yet.
fn deferred_mib(evidence: &Evidence<'_>) -> u64 {
    let pages = evidence.map.map_or(0, |map| map.unmovable_pages(UnmovableKind::Deferred));
    pages * page_kib(evidence) / 1024
}

/// Returns why the bounds of compaction are far apart.
fn doubted(doubt: Doubt, evidence: &Evidence<'_>) -> String {
    match doubt {
        Doubt::MayGiveUp => "the bounds are wide, as compaction may give up early".to_owned(),
        Doubt::BeingWritten => format!(
            "the bounds are wide, as page cache is being written ({} pages are dirty), and compaction may give up there",
            evidence.names.dirty_pages
        ),
        Doubt::Wide => "the bounds of compaction are more than 5 % apart".to_owned(),
    }
}

fn pages_of(holder: &Holder) -> String {
    let text = format!(
        "{}: sole blocker of {}, present in {}, {}",
        holder.kind.title(),
        plural(holder.pageblocks_alone, "pageblock"),
        holder.pageblocks,
        plural(holder.pages, "page")
    );
    if holder.kind == HolderKind::PerCpuLists {
        return format!("{text}; a request that fails drains the lists before it gives up");
    }
    with_names(text, "largest", &holder.named)
}

/// Returns which pages without a flag the kernel gets back by itself.
fn on_lists(evidence: &Evidence<'_>, verdict: &Verdict) -> Option<String> {
    let kernel = verdict.holders.iter().find(|holder| holder.kind == HolderKind::Kernel)?;
    let known = evidence.map.is_some_and(|map| map.listed_pages() > 0);
    let listed = if known { 0 } else { evidence.names.per_cpu_pages.min(kernel.pages) };
    (listed > 0).then(|| {
        format!(
            "up to {} of those kernel and driver pages are free pages on per-CPU lists, which no flag tells apart; \
             a request that fails drains the lists before it gives up, and pageblocks that only they hold come \
             free then",
            plural(listed, "page")
        )
    })
}

/// Returns the cgroups that are charged for unmovable pages.
fn charged(verdict: &Verdict) -> Option<String> {
    let shown = verdict.charges.iter().take(TOLD);
    let named: Vec<_> = shown
        .map(|charge| format!("{} {} in {}", charge.cgroup, plural(charge.pages, "page"), charge.pageblocks))
        .collect();
    (!named.is_empty()).then(|| {
        format!(
            "in the pageblocks that the fewest pages hold, the kernel's pages are charged to these cgroups: {}",
            named.join(", ")
        )
    })
}

/// Returns the memory in use that compaction can move and only its owner frees.
fn in_use(evidence: &Evidence<'_>, verdict: &Verdict) -> Option<String> {
    let zones = evidence.map?.zones.iter().filter(|zone| verdict.request.wants(zone.node, &zone.name));
    let (mut anon, mut busy, mut unevictable) = (0, 0, 0);
    for block in zones.flat_map(|zone| &zone.blocks) {
        anon += u64::from(block.anon);
        busy += u64::from(block.file_busy);
        unevictable += u64::from(block.unevictable);
    }
    Some(format!(
        "in use and movable: {anon} pages of anonymous memory and tmpfs, {busy} of page cache that is dirty or \
         mapped, {unevictable} unevictable (mlocked)"
    ))
}

fn page_kib(evidence: &Evidence<'_>) -> u64 {
    evidence.names.page_kib.max(1)
}
