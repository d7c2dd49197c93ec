//! Verdicts that stand: what a sample says of blocks of the sizes that most programs ask for.

use freehold_linux::procfs::Machine;
use freehold_linux::sample::Sample;
use serde::Serialize;

use super::answer::State;
use super::compaction::Mobility;
use super::doubt::Doubt;
use super::evidence::{Evidence, Names};
use super::forecast::Requester;
use super::judge::judge;
use super::range_rules::RangeRules;
use super::request::BlockRequest;
use super::size::SizeText;
use super::supply::Supply;

/// The order of a huge page where that of a pageblock is unknown: 2 MiB in pages of 4 KiB.
const USUAL_PAGEBLOCK_ORDER: u8 = 9;

/// The size of a gigantic page.
const GIGANTIC_BYTES: u64 = 1 << 30;

/// What to do before the pageblocks were read once.
const SURVEYING: &str = "Action: wait until the pageblocks have been read once";

/// What a machine can give of one size, as of a sample.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Standing {
    /// The size of a block in bytes.
    pub block_bytes: u64,
    /// The order of a block.
    pub order: u8,
    /// True if a block is larger than the buddy allocator's largest.
    pub contiguous: bool,
    /// How one block can be had.
    pub state: State,
    /// The blocks that requests can have.
    pub supply: Supply,
    /// Why the result of compaction is not known within 5 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Doubt>,
    /// The verdict in a sentence.
    pub sentence: String,
    /// The one thing to do, a sentence, as [`super::Verdict::action`]; `None` if a block can be had now.
    pub action: Option<String>,
    /// The time of the sample in milliseconds since 1970.
    pub unix_ms: u64,
    /// How much older the oldest of the pageblocks and their types is that forecasts were made from; `None` where pageblocks were not
    /// read, and only what is free now is known.
    pub survey_age_ms: Option<u64>,
}

/// Judges what a machine can give of a pageblock's size, and of 1 GiB where its pageblocks are known and it has as much.
///
/// Pageblocks that are not all read yet give no prediction. Who holds memory is not looked up for a sample: the action then
/// names the command that does.
pub fn standing(machine: &Machine, sample: &Sample) -> Vec<Standing> {
    let surveyed = sample.pageblocks.as_ref().filter(|surveyed| surveyed.first_round.is_none());
    let types = surveyed.and_then(|surveyed| surveyed.types.as_ref());
    let counted = Names::counted(&sample.counters, &sample.zones, machine.page_bytes, machine.drains_lists);
    let names = Names { unread: true, ..counted };
    let is_surveying = sample.pageblocks.is_some() && surveyed.is_none();
    let evidence = Evidence {
        zones: &sample.zones,
        free: &sample.free.zones,
        map: surveyed.map(|surveyed| &*surveyed.map),
        types: types.map(|known| known.types.as_slice()),
        mobility: mobility(sample),
        ranges: RangeRules::of_release(&machine.kernel_release, false),
        compacting_cpu: None,
        bounds_lists: machine.bounds_lists,
        names: &names,
        slab_of: None,
        missing: &[],
    };
    let largest = sample.free.zones.iter().map(|zone| zone.total.largest().get()).max().unwrap_or(0);
    let huge = sample.free.pageblock_order.unwrap_or(USUAL_PAGEBLOCK_ORDER).min(largest);
    let page_bytes = machine.page_bytes.max(1);
    let gigantic = (GIGANTIC_BYTES / page_bytes).checked_ilog2().map_or(0, |order| order as u8);
    let has_gigantic = surveyed.is_some() && gigantic > huge && machine.memory_bytes >= GIGANTIC_BYTES;
    let orders = [Some(huge), has_gigantic.then_some(gigantic)];
    let of_order = |order: u8| {
        let request = BlockRequest {
            order,
            block_bytes: page_bytes << order,
            contiguous: order > largest,
            blocks: 1,
            node: None,
            allowed_nodes: None,
            zone: None,
            by: Requester::default(),
        };
        let verdict = judge(&evidence, &request);
        Standing {
            block_bytes: request.block_bytes,
            order,
            contiguous: request.contiguous,
            state: verdict.state,
            supply: verdict.supply,
            undecided: verdict.undecided,
            sentence: sentence(&request, verdict.state, &verdict.supply, verdict.undecided.is_some()),
            action: match verdict.state {
                State::Unknown if is_surveying => Some(SURVEYING.to_owned()),
                _ => verdict.action,
            },
            unix_ms: sample.unix_ms,
            survey_age_ms: surveyed
                .map(|surveyed| surveyed.round_ms.max(types.map_or(0, |known| known.age_ms))),
        }
    };
    orders.into_iter().flatten().map(of_order).collect()
}

/// Returns what compaction may move: a kernel without compaction counts none.
fn mobility(sample: &Sample) -> Mobility {
    let compaction = sample.counters.is_empty() || sample.counters.contains_key("compact_stall");
    Mobility { compaction, ..Mobility::default() }
}

/// Returns a sentence such as `2M: available now; 5006 are free, 5900 after compaction, 9000 after reclaim and
/// compaction`. Where the bounds `are_far_apart`, both are shown, such as `5900 to 6400 after compaction`.
fn sentence(request: &BlockRequest, state: State, supply: &Supply, are_far_apart: bool) -> String {
    let how = match state {
        State::AvailableNow => "available now",
        State::AfterSetup => "available once the kernel has set up more memory",
        State::AfterCompaction => "only after compaction",
        State::AfterReclaim => "only after reclaim",
        State::AfterReclaimAndCompaction => "only after reclaim and compaction",
        State::Undecided => "undecided after reclaim and compaction",
        State::NotBeforeFreed => "not before memory is freed",
        State::Unknown => "unknown after compaction and reclaim",
    };
    let are = if supply.now == 1 { "is" } else { "are" };
    let then = |least: Option<u64>, most: Option<u64>, what: &str| match (least, most) {
        (Some(least), Some(most)) if are_far_apart && most > least => {
            format!(", {least} to {most} after {what}")
        }
        (Some(least), _) => format!(", {least} after {what}"),
        (None, _) => String::new(),
    };
    format!(
        "{}: {how}; {} {are} free{}{}",
        SizeText(request.block_bytes).short(),
        supply.now,
        then(supply.after_compaction, supply.after_compaction_at_most, "compaction"),
        then(
            supply.after_reclaim_and_compaction,
            supply.after_reclaim_and_compaction_at_most,
            "reclaim and compaction"
        )
    )
}

impl Standing {
    /// Returns the size as options and labels have it, such as `2M`.
    pub fn size(&self) -> String {
        SizeText(self.block_bytes).short()
    }

    /// Returns the age of the oldest number in it at `unix_ms`, in milliseconds.
    pub fn age_ms(&self, unix_ms: u64) -> u64 {
        unix_ms.saturating_sub(self.unix_ms).saturating_add(self.survey_age_ms.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distant_bounds_are_both_shown() {
        let request = BlockRequest {
            order: 9,
            block_bytes: 2 << 20,
            contiguous: false,
            blocks: 1,
            node: None,
            allowed_nodes: None,
            zone: None,
            by: Requester::default(),
        };
        let supply = Supply {
            now: 1,
            after_compaction: Some(5),
            after_compaction_at_most: Some(9),
            after_reclaim_and_compaction: Some(7),
            after_reclaim_and_compaction_at_most: Some(7),
            ..Supply::default()
        };
        let shown = |are_far_apart| sentence(&request, State::AvailableNow, &supply, are_far_apart);
        let close = "2M: available now; 1 is free, 5 after compaction, 7 after reclaim and compaction";
        assert_eq!(shown(false), close);
        assert_eq!(shown(true), close.replace("5 after", "5 to 9 after"));
    }
}
