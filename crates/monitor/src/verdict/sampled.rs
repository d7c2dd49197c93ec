//! A verdict on a sample of the machine's aligned blocks, with its error.

use std::collections::BTreeSet;

use freehold_linux::pageblocks::{Pageblock, UnmovableKind};
use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_trace::ZoneSnapshot;
use serde::Serialize;

use super::action::{Advice, advise};
use super::answer::State;
use super::request::BlockRequest;
use super::step::{RepairPlan, RepairStep, RepairWork};
use super::supply::allowed;

/// The quantile of the normal distribution that leaves out 5 % at both ends together.
const Z: f64 = 1.959_964;

/// What one aligned block of memory holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Sampled {
    /// Nothing.
    Free,
    /// Pages that can be moved or dropped, and free ones.
    Movable,
    /// The same and pages of slab caches, which reclaim may free.
    Slab,
    /// A page that stays.
    Unmovable,
}

impl Sampled {
    /// Returns what a pageblock holds. A movable page that fills it stays, unless the request is for `contiguous`
    /// ranges.
    pub fn of(block: &Pageblock, contiguous: bool) -> Self {
        let other_than_slab = block.stuck() - block.pages_of(UnmovableKind::Slab);
        if other_than_slab > 0 || (block.whole_folio && !contiguous) {
            Self::Unmovable
        } else if block.stuck() > 0 {
            Self::Slab
        } else if block.movable() > 0 {
            Self::Movable
        } else {
            Self::Free
        }
    }
}

/// How many blocks of a sample hold what.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SampleTally {
    /// Aligned blocks of the requested zones.
    pub all: u64,
    /// Blocks that were looked at.
    pub sampled: u64,
    /// Those that are free.
    pub free: u64,
    /// Those that hold movable pages and nothing that stays.
    pub movable: u64,
    /// Those that hold pages of slab caches and nothing else that stays.
    pub slab: u64,
}

impl SampleTally {
    /// Adds a block.
    pub fn add(&mut self, found: Sampled) {
        self.sampled += 1;
        match found {
            Sampled::Free => self.free += 1,
            Sampled::Movable => self.movable += 1,
            Sampled::Slab => self.slab += 1,
            Sampled::Unmovable => {}
        }
    }
}

/// A number of blocks as a sample tells it: with a confidence of 95 % it lies between both ends.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// The lower end.
    pub least: u64,
    /// What is most likely.
    pub likely: u64,
    /// The upper end.
    pub most: u64,
}

impl Estimate {
    /// Estimates how many of `all` blocks are of a kind of which `hits` were found in a random sample.
    ///
    /// It is Wilson's interval, narrower the more of all blocks were looked at.
    pub fn new(hits: u64, sampled: u64, all: u64) -> Self {
        if sampled >= all {
            return Self { least: hits, likely: hits, most: hits };
        }
        // Of what was seen the number is known; the rest is larger than nothing and smaller than all of it.
        let (floor, ceiling) = (hits, all - (sampled - hits));
        if sampled == 0 {
            return Self { least: floor, likely: floor, most: ceiling };
        }
        let (n, total) = (sampled as f64, all as f64);
        let share = hits as f64 / n;
        let effective = n * (total - 1.0) / (total - n);
        let middle = (share + Z * Z / (2.0 * effective)) / (1.0 + Z * Z / effective);
        let half = Z * (share * (1.0 - share) / effective + Z * Z / (4.0 * effective * effective)).sqrt()
            / (1.0 + Z * Z / effective);
        let blocks = |share: f64| (share * total).clamp(floor as f64, ceiling as f64);
        Self {
            least: blocks(middle - half).floor() as u64,
            likely: blocks(share).round() as u64,
            most: blocks(middle + half).ceil() as u64,
        }
    }
}

/// Whether a machine can give the requested blocks, as far as a sample tells.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct QuickVerdict {
    /// How the blocks can be had; unknown if the sample is too small to tell.
    pub state: State,
    /// [`State::exit_code`].
    pub exit_code: u8,
    /// The request.
    pub request: BlockRequest,
    /// The one thing to do, a sentence; `None` if the blocks can be had now.
    pub action: Option<String>,
    /// The reasons, a sentence each.
    pub reason: Vec<String>,
    /// Blocks that are free now.
    pub now: Estimate,
    /// Blocks that are free or hold nothing that stays.
    pub emptied: Estimate,
    /// The most blocks that free memory above the watermarks makes.
    pub room: u64,
    /// What was looked at.
    pub tally: SampleTally,
}

/// Judges a sample. With `slab_is_reclaimable`, reclaim may free pages of slab caches, so that blocks with such pages may
/// come.
pub fn judge_quick(
    zones: &[ZoneSnapshot],
    free: &[ZoneFreeBlocks],
    request: &BlockRequest,
    tally: SampleTally,
    slab_is_reclaimable: bool,
) -> QuickVerdict {
    let wanted = wanted_of(zones, request);
    let room = |zone: &ZoneSnapshot| allowed(zone, request.order, zone.free, request.protection(zone, zones));
    let listed = |zone: &ZoneSnapshot| {
        let blocks = free.iter().find(|free| free.node == zone.node && free.name == zone.name);
        let blocks = blocks.map_or(0, |free| free.blocks_from(usize::from(request.order)));
        blocks.min(room(zone))
    };
    let room = wanted.clone().map(room).sum();
    let now = if request.contiguous {
        Estimate::new(tally.free, tally.sampled, tally.all)
    } else {
        let known = wanted.map(listed).sum();
        Estimate { least: known, likely: known, most: known }
    };
    let emptied = Estimate::new(tally.free + tally.movable, tally.sampled, tally.all);
    let slab = if slab_is_reclaimable { tally.slab } else { 0 };
    let may_come = Estimate::new(tally.free + tally.movable + slab, tally.sampled, tally.all);
    let state = if now.least >= request.blocks {
        State::AvailableNow
    } else if emptied.least.min(room) >= request.blocks {
        State::AfterCompaction
    } else if may_come.most.max(now.most) < request.blocks {
        State::NotBeforeFreed
    } else {
        State::Unknown
    };
    let reason = reason(request, state, now, emptied, room, tally);
    let nodes: BTreeSet<u32> = wanted_of(zones, request).map(|zone| zone.node).collect();
    let action = advise(&Advice {
        request,
        state,
        plan: &plan(request, state, nodes.into_iter().collect(), emptied.least.min(room)),
        now: now.likely,
        relief: Some("run without --quick to see who uses it"),
        look_again: "run without --quick",
        all: Some(tally.all),
        after_repair: None,
        has_no_pool: false,
    });
    QuickVerdict {
        state,
        exit_code: state.exit_code(),
        request: request.clone(),
        action,
        reason,
        now,
        emptied,
        room,
        tally,
    }
}

/// Returns the zones of the request.
fn wanted_of<'z>(
    zones: &'z [ZoneSnapshot],
    request: &BlockRequest,
) -> impl Iterator<Item = &'z ZoneSnapshot> + Clone {
    zones.iter().filter(|zone| request.wants(zone.node, &zone.name))
}

/// Returns what a repair would do, as far as a sample tells.
fn plan(request: &BlockRequest, state: State, nodes: Vec<u32>, predicted: u64) -> RepairPlan {
    match state {
        State::AvailableNow => RepairPlan::Enough,
        State::AfterCompaction if request.contiguous => {
            RepairPlan::Pool { page_kib: request.block_bytes >> 10, predicted }
        }
        State::AfterCompaction => {
            let work = RepairWork::Compact { nodes };
            RepairPlan::Steps { steps: vec![RepairStep { work, predicted, perhaps: false }] }
        }
        State::NotBeforeFreed => RepairPlan::Impossible,
        _ => RepairPlan::Unknown,
    }
}

fn reason(
    request: &BlockRequest,
    state: State,
    now: Estimate,
    emptied: Estimate,
    room: u64,
    tally: SampleTally,
) -> Vec<String> {
    let between = |estimate: Estimate| {
        if estimate.least == estimate.most {
            estimate.likely.to_string()
        } else {
            format!("{} ({} to {})", estimate.likely, estimate.least, estimate.most)
        }
    };
    let what = if request.contiguous { request.words() } else { request.short() };
    let free = format!("{what}: {} free now", between(now));
    let head = match state {
        State::AvailableNow => free,
        State::AfterCompaction => format!("{free}, more once pages are moved"),
        State::NotBeforeFreed => format!("{free}, and too few that moving pages would free"),
        _ if emptied.most < request.blocks => {
            format!("{free}; --quick does not tell what reclaim of slab caches would free")
        }
        _ if tally.sampled < tally.all => {
            format!("{free}; the sample does not say whether the machine has them")
        }
        _ => format!("{free}; --quick does not tell what reclaim would free"),
    };
    let confidence = if tally.sampled < tally.all { ", with a confidence of 95 %" } else { "" };
    let sample = format!(
        "of {} aligned blocks {} were looked at: {} hold nothing unmovable{confidence}; free memory has room for {room}",
        tally.all,
        tally.sampled,
        between(emptied)
    );
    vec![head, sample]
}

#[cfg(test)]
mod tests {
    use super::super::forecast::Requester;
    use super::super::highest_zone::HighestZone;
    use super::*;

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    #[test]
    fn the_interval_holds_the_number_in_nineteen_of_twenty_samples() {
        let mut state = 1;
        for (all, hits, sampled) in
            [(1000, 300, 100), (1000, 20, 200), (50_000, 25_000, 500), (300, 290, 150)]
        {
            let mut covered = 0;
            for _ in 0..2000 {
                let mut blocks: Vec<bool> = (0..all).map(|at| at < hits).collect();
                let found = (0..sampled).filter(|&at| {
                    let other = at + random(&mut state) as usize % (all - at);
                    blocks.swap(at, other);
                    blocks[at]
                });
                let found = found.count() as u64;
                let estimate = Estimate::new(found, sampled as u64, all as u64);
                covered += u32::from((estimate.least..=estimate.most).contains(&(hits as u64)));
                assert!(estimate.least <= estimate.likely && estimate.likely <= estimate.most);
            }
            assert!(covered >= 1860, "{hits} of {all} by {sampled}: {covered} of 2000");
            assert!(covered < 2000, "an interval that is never wrong tells too little");
        }
    }

    #[test]
    fn what_was_seen_whole_is_known() {
        let exact = |blocks| Estimate { least: blocks, likely: blocks, most: blocks };
        assert_eq!(Estimate::new(3, 7, 7), exact(3));
        assert_eq!(Estimate::new(0, 0, 9), Estimate { least: 0, likely: 0, most: 9 });
        assert_eq!(Estimate::new(0, 0, 0), exact(0));
    }

    #[test]
    fn a_sample_tells_only_what_it_can() {
        let zone = ZoneSnapshot { name: "Normal".to_owned(), free: 1 << 20, ..ZoneSnapshot::default() };
        let request = |blocks| BlockRequest {
            order: 18,
            block_bytes: 1 << 30,
            contiguous: true,
            blocks,
            node: None,
            allowed_nodes: None,
            zone: None,
            highest: HighestZone::default(),
            by: Requester::default(),
        };
        let judge = |request: &BlockRequest, tally, slab_is_reclaimable| {
            judge_quick(std::slice::from_ref(&zone), &[], request, tally, slab_is_reclaimable).state
        };
        let tally = SampleTally { all: 100, sampled: 50, free: 10, movable: 20, slab: 0 };
        let state = |blocks| judge(&request(blocks), tally, false);
        let states = [10, 4, 5, 60, 90].map(state);
        assert_eq!(
            states,
            [
                State::AvailableNow,
                State::AvailableNow,
                State::AvailableNow,
                State::Unknown,
                State::NotBeforeFreed
            ]
        );
        let slab = SampleTally { slab: 15, ..tally };
        let with_slab = [false, true].map(|reclaimable| judge(&request(90), slab, reclaimable));
        assert_eq!(with_slab, [State::NotBeforeFreed, State::Unknown], "reclaim may free slab caches");
        let tally = SampleTally { free: 0, ..tally };
        let state = |blocks| judge(&request(blocks), tally, false);
        assert_eq!([4, 5].map(state), [State::AfterCompaction, State::Unknown], "there is room for four");
    }
}
