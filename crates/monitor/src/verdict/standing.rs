//! Verdicts that stand: what a sample says of the blocks that are needed, and of the sizes that most programs request.

use freehold_linux::procfs::Machine;
use freehold_linux::sample::Sample;
use serde::Serialize;

use super::answer::{State, Verdict};
use super::compaction::Mobility;
use super::doubt::Doubt;
use super::evidence::{Evidence, Names};
use super::forecast::{Forecast, Requester};
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

/// A number of blocks that somebody needs of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NeededBlocks {
    /// The order of a block.
    pub order: u8,
    /// The number of blocks.
    pub blocks: u64,
    /// Who requests them.
    pub by: Requester,
}

/// What a machine can give of one size, as of a sample.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Standing {
    /// The size of a block in bytes.
    pub block_bytes: u64,
    /// The order of a block.
    pub order: u8,
    /// True if a block is larger than the buddy allocator's largest.
    pub contiguous: bool,
    /// The number of blocks that is needed; `None` if nobody named one.
    pub need: Option<u64>,
    /// How the needed blocks can be had, or one block if nobody named a number.
    pub state: State,
    /// The blocks that requests can have.
    pub supply: Supply,
    /// How many blocks a request gets; `None` for contiguous ranges, and if pageblocks are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Why the result of compaction is not known within 5 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Doubt>,
    /// The answer, such as `WARNING: 500 x 2M, 84 % likely`; without a need only the size, such as `2M`.
    pub title: String,
    /// What is free, and what work would make of it.
    pub numbers: String,
    /// The one thing to do, a sentence, as [`super::Verdict::action`]; `None` if the blocks can be had now.
    pub action: Option<String>,
    /// The time of the sample in milliseconds since 1970.
    pub unix_ms: u64,
    /// How much older the oldest of the pageblocks and their types is that forecasts were made from; `None` where pageblocks were not
    /// read, and only what is free now is known.
    pub survey_age_ms: Option<u64>,
}

/// Judges what a machine can give: the needed blocks first, then the sizes that most programs request, a pageblock's and, where
/// pageblocks are known and the machine has as much, 1 GiB.
///
/// Pageblocks that are not all read yet give no prediction. Who holds memory is not looked up for a sample: the action then
/// names the command that does.
pub fn standing(machine: &Machine, sample: &Sample, needs: &[NeededBlocks]) -> Vec<Standing> {
    let surveyed = sample.pageblocks.as_ref().filter(|surveyed| surveyed.first_round.is_none());
    let types = surveyed.and_then(|surveyed| surveyed.types.as_ref());
    let counted = Names::counted(&sample.counters, &sample.zones, machine.page_bytes, machine.drains_lists);
    let names = Names { unread: true, swap_pages: sample.swap_pages, ..counted };
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
    let page_bytes = machine.page_bytes.max(1);
    let of = |(order, need): (u8, Option<NeededBlocks>)| {
        let by = need.map_or_else(Requester::default, |need| need.by);
        let request = BlockRequest {
            order,
            block_bytes: page_bytes << order,
            contiguous: order > largest,
            blocks: need.map_or(1, |need| need.blocks),
            node: None,
            allowed_nodes: None,
            zone: None,
            highest: by.highest_zone(),
            by,
        };
        let survey = Survey {
            is_running: sample.pageblocks.is_some() && surveyed.is_none(),
            age_ms: surveyed.map(|s| s.round_ms.max(types.map_or(0, |known| known.age_ms))),
        };
        Standing::new(judge(&evidence, &request), need.is_some(), &survey, sample.unix_ms)
    };
    let needed = needs.iter().map(|need| (need.order, Some(*need)));
    let usual = usual_orders(machine, sample, largest, surveyed.is_some()).into_iter();
    let usual =
        usual.filter(|order| needs.iter().all(|need| need.order != *order)).map(|order| (order, None));
    needed.chain(usual).map(of).collect()
}

/// Returns the orders of the sizes that most programs request.
fn usual_orders(machine: &Machine, sample: &Sample, largest: u8, is_surveyed: bool) -> Vec<u8> {
    let huge = sample.free.pageblock_order.unwrap_or(USUAL_PAGEBLOCK_ORDER).min(largest);
    let gigantic = GIGANTIC_BYTES / machine.page_bytes.max(1);
    let gigantic = gigantic.checked_ilog2().map_or(0, |order| order as u8);
    let has_gigantic = is_surveyed && gigantic > huge && machine.memory_bytes >= GIGANTIC_BYTES;
    [Some(huge), has_gigantic.then_some(gigantic)].into_iter().flatten().collect()
}

/// How far the pageblocks of a sample are known.
struct Survey {
    /// True if its first round has not ended.
    is_running: bool,
    age_ms: Option<u64>,
}

/// Returns what compaction may move: a kernel without compaction counts none.
fn mobility(sample: &Sample) -> Mobility {
    let compaction = sample.counters.is_empty() || sample.counters.contains_key("compact_stall");
    Mobility { compaction, ..Mobility::default() }
}

/// Returns the answer: the state, the number needed and its probability, or the size alone.
fn title(verdict: &Verdict, is_needed: bool) -> String {
    if !is_needed {
        return SizeText(verdict.request.block_bytes).short();
    }
    let word = verdict.state.word();
    let likely = verdict.forecast.filter(|_| verdict.state != State::AvailableNow);
    let likely = likely.map_or_else(String::new, |forecast| format!(", {}", forecast.words()));
    format!("{word}: {}{likely}", verdict.request.short())
}

/// Returns what is free, and what work would make of it, such as `300 free now, 520 (480 to 560) expected`.
fn numbers(verdict: &Verdict, is_surveying: bool) -> String {
    let supply = &verdict.supply;
    let free = format!("{} free now", supply.now);
    match (verdict.forecast, supply.after_compaction, supply.after_reclaim_and_compaction) {
        _ if verdict.zones.is_empty() => format!("{free}, no zone is known"),
        (Some(forecast), ..) => format!("{free}, {} expected", forecast.range()),
        (None, Some(compacted), Some(both)) => {
            format!("{free}, {compacted} after compaction, {both} after reclaim and compaction")
        }
        _ if is_surveying => format!("{free}, pageblocks are being read"),
        _ => format!("{free}, unknown after compaction and reclaim"),
    }
}

impl Standing {
    fn new(verdict: Verdict, is_needed: bool, survey: &Survey, unix_ms: u64) -> Self {
        Self {
            block_bytes: verdict.request.block_bytes,
            order: verdict.request.order,
            contiguous: verdict.request.contiguous,
            need: is_needed.then_some(verdict.request.blocks),
            state: verdict.state,
            supply: verdict.supply,
            forecast: verdict.forecast,
            undecided: verdict.undecided,
            title: title(&verdict, is_needed),
            numbers: numbers(&verdict, survey.is_running),
            action: match verdict.state {
                State::Unknown if survey.is_running => Some(SURVEYING.to_owned()),
                _ => verdict.action,
            },
            unix_ms,
            survey_age_ms: survey.age_ms,
        }
    }

    /// Returns the size as options and labels have it, such as `2M`.
    pub fn size(&self) -> String {
        SizeText(self.block_bytes).short()
    }

    /// Returns the state of the need; `None` if nobody named one.
    pub fn state_of_need(&self) -> Option<State> {
        self.need.map(|_| self.state)
    }

    /// Returns the age of the oldest number in it at `unix_ms`, in milliseconds.
    pub fn age_ms(&self, unix_ms: u64) -> u64 {
        unix_ms.saturating_sub(self.unix_ms).saturating_add(self.survey_age_ms.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_tests::sample;

    #[test]
    fn a_state_is_that_of_a_need() {
        let machine = Machine { page_bytes: 4096, ..Machine::default() };
        // 1000 pages of order 0, and no block of order 9.
        let sample = sample(0, "Normal", 1000);
        let need = |order, blocks| NeededBlocks { order, blocks, by: Requester::Hugetlb };
        let found = standing(&machine, &sample, &[need(0, 3), need(9, 500)]);
        let shown: Vec<_> = found.iter().map(|of| (of.title.as_str(), of.state_of_need())).collect();
        assert_eq!(shown[1], ("UNKNOWN: 500 x 2M", Some(State::Unknown)), "{found:?}");
        assert_eq!(found[1].numbers, "0 free now, no zone is known");
        assert_eq!(found.len(), 2, "a size that is needed is not shown twice");
        let found = standing(&machine, &sample, &[]);
        assert_eq!((found[0].title.as_str(), found[0].state_of_need()), ("4K", None));
    }
}
