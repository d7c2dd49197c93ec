//! The plan of a repair: the least that is enough by the forecasts.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::answer::{NodeVerdict, Verdict};
use super::extra_steps::ExtraSteps;
use super::step::{RepairPlan, RepairStep, RepairWork};

/// Plans the steps that make the requested blocks.
///
/// What loses nothing comes before what loses cached data: compaction, then write-back, then the drop of
/// page cache, and of each no more than is needed.
pub(super) fn plan(verdict: &Verdict, further: &ExtraSteps) -> RepairPlan {
    let (supply, wanted) = (&verdict.supply, verdict.request.blocks);
    let enough = |blocks: Option<u64>| blocks.filter(|&blocks| blocks >= wanted);
    if verdict.zones.is_empty() {
        return RepairPlan::Unknown;
    }
    if supply.now >= wanted {
        return RepairPlan::Enough;
    }
    if verdict.request.contiguous {
        return match (enough(supply.after_reclaim_and_compaction), supply.after_reclaim_and_compaction) {
            (Some(predicted), _) => {
                RepairPlan::Pool { page_kib: verdict.request.block_bytes >> 10, predicted }
            }
            (None, Some(_)) => RepairPlan::Impossible,
            (None, None) => RepairPlan::Unknown,
        };
    }
    let step = |work, predicted| RepairStep { work, predicted, perhaps: false };
    let write_back = || step(RepairWork::WriteBack { pages: further.dirty_pages }, supply.now);
    let all = || nodes(verdict);
    let missing = (wanted - supply.now).saturating_mul(1 << verdict.request.order.min(32));
    let compact = |predicted| step(RepairWork::Compact { nodes: all() }, predicted);
    let drop = |pages| RepairWork::DropPageCache { pages, nodes: all() };
    let perhaps = |work, predicted| RepairStep { work, predicted, perhaps: true };
    let drained = further.drained.filter(|_| further.listed_pages > 0);
    // The kernel leaves some pages on lists (`high_min`), so that not all come back.
    let drain = || RepairStep {
        work: RepairWork::DrainLists { pages: further.listed_pages },
        predicted: drained.unwrap_or(supply.now),
        perhaps: drained.is_some(),
    };
    let compacted_at_most = enough(supply.after_compaction_at_most);
    let with_lists = |steps: &[RepairStep]| {
        let lists = (further.listed_pages > 0).then(drain);
        lists.iter().chain(steps).cloned().collect::<Vec<_>>()
    };
    let compact_perhaps = |most| perhaps(RepairWork::Compact { nodes: all() }, most);
    let steps = if enough(drained).is_some() {
        vec![drain()]
    } else if enough(supply.after_compaction).is_some() {
        let (nodes, predicted) = least_nodes(verdict);
        vec![step(RepairWork::Compact { nodes }, predicted)]
    } else if let Some(most) = compacted_at_most.filter(|_| further.listed_pages > 0) {
        with_lists(&[compact_perhaps(most)])
    } else if let Some(written) = enough(further.written) {
        vec![write_back(), compact(written)]
    } else if let Some(reclaimed) = enough(supply.after_reclaim).filter(|_| further.drops_all) {
        vec![step(drop(missing), reclaimed)]
    } else if enough(supply.after_reclaim_and_compaction).is_some() {
        vec![step(drop(further.drop_pages), supply.now), compact(further.dropped)]
    } else if let Some(most) = compacted_at_most {
        vec![compact_perhaps(most)]
    } else if let Some(most) = enough(further.written_and_dropped) {
        vec![write_back(), perhaps(drop(missing), supply.now), compact_perhaps(most)]
    } else if let Some(most) = enough(supply.after_reclaim_and_compaction_at_most) {
        with_lists(&[perhaps(drop(missing), supply.now), compact_perhaps(most)])
    } else if supply.after_reclaim_and_compaction.is_none() {
        return RepairPlan::Unknown;
    } else {
        return RepairPlan::Impossible;
    };
    RepairPlan::Steps { steps }
}

/// Returns the nodes of the requested zones.
fn nodes(verdict: &Verdict) -> Vec<u32> {
    let nodes: BTreeSet<u32> = verdict.zones.iter().map(|zone| zone.node).collect();
    nodes.into_iter().collect()
}

/// Returns the fewest nodes whose compaction suffices, and the blocks after it.
fn least_nodes(verdict: &Verdict) -> (Vec<u32>, u64) {
    let supply = &verdict.supply;
    if verdict.nodes.is_empty() {
        return (nodes(verdict), supply.after_compaction.unwrap_or(supply.now));
    }
    let gain = |node: &NodeVerdict| {
        let after = node.supply.after_compaction.unwrap_or(node.supply.now);
        after.saturating_sub(node.supply.now)
    };
    let mut ranked: Vec<_> = verdict.nodes.iter().collect();
    ranked.sort_by_key(|node| Reverse(gain(node)));
    let (mut chosen, mut blocks) = (Vec::new(), supply.now);
    for node in ranked {
        if blocks >= verdict.request.blocks {
            break;
        }
        chosen.push(node.node);
        blocks = blocks.saturating_add(gain(node));
    }
    chosen.sort_unstable();
    (chosen, blocks)
}

#[cfg(test)]
mod tests {
    use super::super::answer::State;
    use super::super::forecast::Requester;
    use super::super::highest_zone::HighestZone;
    use super::super::request::BlockRequest;
    use super::super::supply::{Supply, ZoneSupply};
    use super::*;

    fn verdict(wanted: u64, [now, compacted, reclaimed, both]: [u64; 4]) -> Verdict {
        Verdict {
            state: State::Unknown,
            exit_code: 0,
            request: BlockRequest {
                order: 9,
                block_bytes: 2 << 20,
                contiguous: false,
                blocks: wanted,
                node: None,
                allowed_nodes: None,
                zone: None,
                highest: HighestZone::default(),
                by: Requester::default(),
            },
            action: None,
            reason: Vec::new(),
            supply: Supply {
                now,
                deferred: 0,
                after_compaction: Some(compacted),
                after_compaction_at_most: Some(compacted),
                after_reclaim: Some(reclaimed),
                after_reclaim_and_compaction: Some(both),
                after_reclaim_and_compaction_at_most: Some(both),
            },
            forecast: None,
            undecided: None,
            plan: RepairPlan::Unknown,
            relief: Vec::new(),
            zones: vec![ZoneSupply::default()],
            nodes: Vec::new(),
            ranges: None,
            holders: Vec::new(),
            charges: Vec::new(),
            missing: Vec::new(),
        }
    }

    fn shown(plan: &RepairPlan) -> String {
        let RepairPlan::Steps { steps } = plan else { return format!("{plan:?}") };
        let of = |step: &RepairStep| {
            let what = match &step.work {
                RepairWork::DrainLists { pages } => format!("drain {pages}"),
                RepairWork::WriteBack { pages } => format!("write {pages}"),
                RepairWork::DropPageCache { pages, .. } => format!("drop {pages}"),
                RepairWork::Compact { nodes } => format!("compact {nodes:?}"),
            };
            format!("{what} -> {}{}", step.predicted, if step.perhaps { "?" } else { "" })
        };
        steps.iter().map(of).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_least_that_is_enough_is_planned() {
        let supply = [10, 20, 30, 40];
        let further = ExtraSteps {
            drop_pages: 99,
            drops_all: false,
            dropped: 38,
            listed_pages: 0,
            drained: None,
            dirty_pages: 7,
            written: Some(25),
            written_and_dropped: Some(50),
        };
        for (wanted, expected) in [
            (10, "Enough"),
            (11, "compact [0] -> 20"),
            (20, "compact [0] -> 20"),
            (21, "write 7 -> 10, compact [0] -> 25"),
            (26, "drop 99 -> 10, compact [0] -> 38"),
            (31, "drop 99 -> 10, compact [0] -> 38"),
            (40, "drop 99 -> 10, compact [0] -> 38"),
            (41, "write 7 -> 10, drop 15872 -> 10?, compact [0] -> 50?"),
            (51, "Impossible"),
        ] {
            assert_eq!(shown(&plan(&verdict(wanted, supply), &further)), expected, "{wanted}");
        }
        let all = ExtraSteps { drops_all: true, ..further };
        assert_eq!(
            shown(&plan(&verdict(30, supply), &all)),
            "drop 10240 -> 30",
            "compaction would not save any"
        );
        // What per-CPU lists may hold comes before anything is lost.
        let mut listed = verdict(23, supply);
        listed.supply.after_compaction_at_most = Some(24);
        listed.supply.after_reclaim_and_compaction_at_most = Some(44);
        let further = ExtraSteps { listed_pages: 6, ..further };
        assert_eq!(shown(&plan(&listed, &further)), "drain 6 -> 10, compact [0] -> 24?");
        let known = ExtraSteps { drained: Some(23), ..further };
        assert_eq!(shown(&plan(&listed, &known)), "drain 6 -> 23?", "the kernel keeps some");
        let not_enough = ExtraSteps { drained: Some(12), ..further };
        assert_eq!(shown(&plan(&listed, &not_enough)), "drain 6 -> 12?, compact [0] -> 24?");
        assert_eq!(
            shown(&plan(&listed, &ExtraSteps { listed_pages: 0, ..known })),
            "write 7 -> 10, compact [0] -> 25"
        );
        let nothing_written = ExtraSteps { listed_pages: 0, written: None, ..further };
        let promised = "drop 99 -> 10, compact [0] -> 38";
        assert_eq!(
            shown(&plan(&listed, &nothing_written)),
            promised,
            "what is promised comes before what may be"
        );
        let mut perhaps = listed.clone();
        perhaps.supply.after_reclaim_and_compaction = Some(20);
        perhaps.supply.after_reclaim = Some(20);
        assert_eq!(shown(&plan(&perhaps, &nothing_written)), "compact [0] -> 24?");
        listed.request.blocks = 44;
        let none_written = ExtraSteps { written_and_dropped: None, ..further };
        let last = "drain 6 -> 10, drop 17408 -> 10?, compact [0] -> 44?";
        assert_eq!(shown(&plan(&listed, &none_written)), last);
        listed.request.blocks = 45;
        assert_eq!(shown(&plan(&listed, &none_written)), "Impossible");
        let nothing = ExtraSteps::default();
        assert_eq!(shown(&plan(&verdict(41, supply), &nothing)), "Impossible");
        assert_eq!(shown(&plan(&verdict(u64::MAX, supply), &further)), "Impossible");
        let mut unread = verdict(11, supply);
        unread.supply = Supply { now: 10, ..Supply::default() };
        assert_eq!(shown(&plan(&unread, &nothing)), "Unknown");
        unread.zones.clear();
        assert_eq!(shown(&plan(&unread, &nothing)), "Unknown");
    }

    #[test]
    fn ranges_are_made_by_a_pool_alone() {
        let mut ranges = verdict(3, [1, 4, 1, 4]);
        ranges.request.contiguous = true;
        let nothing = ExtraSteps::default();
        assert_eq!(plan(&ranges, &nothing), RepairPlan::Pool { page_kib: 2048, predicted: 4 });
        ranges.request.blocks = 5;
        assert_eq!(plan(&ranges, &nothing), RepairPlan::Impossible);
        ranges.supply.after_reclaim_and_compaction = None;
        assert_eq!(plan(&ranges, &nothing), RepairPlan::Unknown);
    }

    #[test]
    fn the_fewest_nodes_are_compacted() {
        let nodes = |wanted: u64| {
            let mut verdict = verdict(wanted, [10, 35, 35, 35]);
            verdict.nodes = [(0, 2, 7), (1, 5, 20), (2, 3, 8)]
                .map(|(node, now, after)| NodeVerdict {
                    node,
                    state: State::Unknown,
                    supply: Supply { now, after_compaction: Some(after), ..Supply::default() },
                })
                .to_vec();
            shown(&plan(&verdict, &ExtraSteps::default()))
        };
        assert_eq!(nodes(12), "compact [1] -> 25");
        assert_eq!(nodes(26), "compact [0, 1] -> 30");
        assert_eq!(nodes(35), "compact [0, 1, 2] -> 35");
    }
}
