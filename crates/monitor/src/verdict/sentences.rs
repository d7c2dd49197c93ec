//! A verdict in words.

use freehold_linux::pageblocks::UnmovableKind;

use super::answer::{State, Verdict};
use super::doubt::Doubt;
use super::evidence::Evidence;
use super::holders::{Holder, HolderKind};
use super::range_sentences;
use super::reserves::reserves_sentence;
use super::words::{nodes, plural, with_names};

/// The most holders in the reason.
const TOLD: usize = 4;

/// Returns the reasons for the verdict, a sentence each.
pub(super) fn reason(verdict: &Verdict, evidence: &Evidence<'_>) -> Vec<String> {
    if verdict.request.contiguous {
        return range_sentences::reason(verdict);
    }
    let supply = &verdict.supply;
    let blocks = verdict.request.words();
    let mut shown = Vec::new();
    match verdict.state {
        State::AvailableNow => shown.push(format!("{blocks} can be had now: {} are free", supply.now)),
        State::AfterSetup => {
            let mib = deferred_mib(evidence);
            shown.push(format!(
                "{blocks} should be available once the kernel has set up {mib} more MiB of memory, which was not \
                 tried: {} are free now",
                supply.now
            ));
        }
        State::AfterCompaction => shown.push(format!(
            "{blocks} can be had only after compaction: {} are free now, {}",
            supply.now,
            after(supply.after_compaction, supply.after_compaction_at_most, "it")
        )),
        State::AfterReclaim => shown.push(format!(
            "{blocks} can be had only after reclaim: {} are free now, {} once clean page cache is dropped",
            supply.now,
            supply.after_reclaim.unwrap_or(0)
        )),
        State::AfterReclaimAndCompaction => shown.push(format!(
            "{blocks} can be had only after reclaim and compaction: {} are free now, {}, {}",
            supply.now,
            after(supply.after_compaction, supply.after_compaction_at_most, "compaction"),
            after(
                supply.after_reclaim_and_compaction,
                supply.after_reclaim_and_compaction_at_most,
                "clean page cache is dropped and the rest compacted"
            )
        )),
        State::NotBeforeFreed => shown.push(format!(
            "{blocks} {}: {} are free now, {}, {}",
            if supply.after_reclaim_and_compaction_at_most < Some(verdict.request.blocks) {
                "cannot be had before memory is freed or the machine reboots"
            } else {
                "are not guaranteed"
            },
            supply.now,
            after(supply.after_compaction, supply.after_compaction_at_most, "compaction"),
            after(
                supply.after_reclaim_and_compaction,
                supply.after_reclaim_and_compaction_at_most,
                "reclaim and compaction"
            )
        )),
        State::Unknown if verdict.zones.is_empty() => {
            shown.push("the machine has no such zone or node".to_owned());
        }
        State::Unknown => shown.push(format!(
            "{blocks} cannot be had now, as {} are free; whether compaction or reclaim would make them is unknown",
            supply.now
        )),
    }
    if verdict.state != State::AvailableNow {
        shown.extend(verdict.undecided.map(|doubt| doubted(doubt, evidence)));
    }
    shown.extend(nodes(verdict, "compaction"));
    kept_back(verdict, &mut shown);
    if verdict.state != State::AvailableNow {
        what_keeps_it(verdict, evidence, &mut shown);
    }
    shown
}

/// Adds what stops compaction, and who holds pageblocks.
fn what_keeps_it(verdict: &Verdict, evidence: &Evidence<'_>, shown: &mut Vec<String>) {
    let stops = verdict.zones.iter().filter_map(|zone| Some((zone, zone.gives_up_at_pfn?)));
    shown.extend(stops.map(|(zone, pfn)| {
        format!(
            "compaction of node {}, zone {} may give up at pfn {pfn:#x}, at a dirty compound page of page cache \
             that it cannot split and may find no place for; write back what is dirty first (`sync`)",
            zone.node, zone.name
        )
    }));
    shown.extend(verdict.holders.iter().filter(|h| h.pageblocks_alone > 0).take(TOLD).map(pages_of));
    shown.extend(on_lists(evidence, verdict));
    shown.extend(charged(verdict));
    if verdict.state == State::NotBeforeFreed {
        shown.extend(in_use(evidence, verdict));
    }
}

/// Adds which free blocks requests cannot have, and where others are.
fn kept_back(verdict: &Verdict, shown: &mut Vec<String>) {
    let kept: u64 = verdict
        .zones
        .iter()
        .map(|zone| zone.now.saturating_sub(zone.unusable).saturating_sub(zone.allowed))
        .sum();
    shown.extend(reserves_sentence(verdict));
    let by_type = verdict.zones.iter().filter(|zone| zone.reserved_pages.is_none());
    let unusable: u64 = by_type.map(|zone| zone.unusable).sum();
    if unusable > 0 {
        let is = if unusable == 1 { "is" } else { "are" };
        shown.push(format!(
            "{unusable} more {is} free that HighAtomic reserves, CMA or isolation keep from requests"
        ));
    }
    if kept > 0 {
        let is = if kept == 1 { "is" } else { "are" };
        shown.push(format!("{kept} more {is} free that the low watermarks and the lowmem reserve keep back"));
    }
    if verdict.supply.deferred > 0 {
        shown.push(format!(
            "{} more lie in memory that the kernel has not set up yet; whether a request gets them was not tried",
            verdict.supply.deferred
        ));
    }
}

/// Returns how many blocks there are after `what`: the promise, and the upper bound if it is another number.
fn after(least: Option<u64>, most: Option<u64>, what: &str) -> String {
    let least = least.unwrap_or(0);
    match most {
        Some(most) if most > least => format!("{least} after {what} ({most} at most)"),
        _ => format!("{least} after {what}"),
    }
}

/// Returns the MiB of memory that the kernel has not set up yet.
fn deferred_mib(evidence: &Evidence<'_>) -> u64 {
    let pages = evidence.map.map_or(0, |map| map.unmovable_pages(UnmovableKind::Deferred));
    pages * page_kib(evidence) / 1024
}

/// Returns why the result of compaction has wide bounds.
fn doubted(doubt: Doubt, evidence: &Evidence<'_>) -> String {
    match doubt {
        Doubt::MayGiveUp => "the result of compaction is unknown, as it may give up early".to_owned(),
        Doubt::BeingWritten => format!(
            "the result of compaction is unknown, as page cache is being written ({} pages are dirty), and it may \
             give up there",
            evidence.names.dirty_pages
        ),
        Doubt::Wide => "the result of compaction is not known within 5 %".to_owned(),
    }
}

fn pages_of(holder: &Holder) -> String {
    let text = format!(
        "{} hold {} alone, with {} in {}",
        holder.kind.title(),
        plural(holder.pageblocks_alone, "pageblock"),
        plural(holder.pages, "page"),
        holder.pageblocks
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
