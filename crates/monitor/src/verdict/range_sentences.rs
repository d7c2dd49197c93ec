//! A verdict on contiguous ranges in words.

use super::answer::{State, Verdict};
use super::range_map::{RangeHolder, RangeMap};
use super::ranges::{Range, RangeState};
use super::size::SizeText;
use super::words::{nodes, plural, with_names};

/// The most owners and the most ranges in a sentence.
const TOLD: usize = 4;

/// Returns the reasons for the verdict, a sentence each.
pub(super) fn reason(verdict: &Verdict) -> Vec<String> {
    let ranges = verdict.request.words();
    let supply = &verdict.supply;
    let Some(map) = &verdict.ranges else {
        return vec![format!("{ranges}: unknown, as free lists have smaller blocks only")];
    };
    let now = supply.now;
    let moved = supply.after_compaction.unwrap_or(0);
    let both = supply.after_reclaim_and_compaction.unwrap_or(0);
    let more = at_most(map, both);
    let head = match verdict.state {
        State::AvailableNow => format!("{ranges} can be had now: {now} are free"),
        State::AfterSetup => format!(
            "{ranges} should be available once the kernel has set up more memory, which was not tried: {now} are \
             free now, {} lie in memory that is not set up",
            supply.deferred
        ),
        State::AfterCompaction => format!(
            "{ranges} can be had only by migration: {now} are free now, {moved} once the pages in them are moved away"
        ),
        State::AfterReclaim => format!(
            "{ranges} can be had only after reclaim: {now} are free now, {} once clean page cache is dropped",
            supply.after_reclaim.unwrap_or(0)
        ),
        State::AfterReclaimAndCompaction => format!(
            "{ranges} can be had only by reclaim and migration: {now} are free now, {moved} by migration, {both} \
             once clean page cache is dropped to make room"
        ),
        State::NotBeforeFreed => format!(
            "{ranges} cannot be had before memory is freed or the machine reboots: {now} are free now, {moved} by \
             migration, {both} by reclaim and migration{more}"
        ),
        State::Undecided | State::Unknown => format!("{ranges}: unknown whether the machine has them"),
    };
    let mut shown = vec![head];
    shown.extend(nodes(verdict, "migration"));
    shown.push(summary(map));
    if verdict.state != State::AvailableNow {
        shown.extend(map.holders.iter().take(TOLD).map(pages_of));
        shown.extend(nearest(map).map(|range| one(range, verdict.request.page_bytes())));
    }
    shown
}

fn at_most(map: &RangeMap, least: u64) -> String {
    let most = map.at_most();
    if most > least { format!(" at least, {most} at most") } else { String::new() }
}

/// Returns how many ranges are in which state.
fn summary(map: &RangeMap) -> String {
    let states = [
        (RangeState::Free, "free"),
        (RangeState::Movable, "can be emptied by migration"),
        (RangeState::Reclaimable, "can be emptied once clean page cache is dropped"),
        (RangeState::NoRoom, "hold only movable pages for which there is no room"),
        (RangeState::NotSetUp, "are not set up yet"),
        (RangeState::Unmovable, "contain pages that cannot be moved"),
        (RangeState::Outside, "are partly reserved or no memory"),
    ];
    let all: u64 = map.counts.values().sum();
    let shown = states.iter().filter(|(state, _)| map.count(*state) > 0);
    let shown: Vec<_> = shown.map(|(state, what)| format!("{} {what}", map.count(*state))).collect();
    if shown.is_empty() {
        "no aligned range of this size lies in one zone".to_owned()
    } else {
        format!("of {} {}", plural(all, "aligned range"), shown.join(", "))
    }
}

fn pages_of(holder: &RangeHolder) -> String {
    let text = format!(
        "{} hold {} alone, with {} in {}",
        holder.kind.title(),
        plural(holder.ranges_alone, "range"),
        plural(holder.pages, "page"),
        holder.ranges
    );
    with_names(text, "largest on the machine", &holder.named)
}

/// Returns the ranges that the fewest pages hold.
fn nearest(map: &RangeMap) -> impl Iterator<Item = &Range> {
    let pages = |range: &Range| range.holders.iter().map(|holder| holder.pages).sum::<u64>();
    let mut unmovable: Vec<_> =
        map.list.iter().filter(|range| range.state == RangeState::Unmovable).collect();
    unmovable.sort_by_key(|range| pages(range));
    unmovable.into_iter().take(TOLD)
}

fn one(range: &Range, page_bytes: u64) -> String {
    let unmovable: Vec<_> =
        range.holders.iter().map(|holder| format!("{} ({})", holder.kind.title(), holder.pages)).collect();
    let at = SizeText(range.start_pfn.saturating_mul(page_bytes));
    format!(
        "nearest to free: the range at {at} (node {}, {}), in use by {}",
        range.node,
        range.zone,
        unmovable.join(", ")
    )
}
