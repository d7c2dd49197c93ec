//! An outcome in words.

use freehold_monitor::verdict::{BlockRequest, RepairPlan, RepairStep, RepairWork, SizeText};

use super::outcome::{DoneStep, Outcome};

/// Formats the outcome: the answer first, then the steps, then the owners of the memory.
pub(super) fn outcome(outcome: &Outcome) -> String {
    let mut lines = vec![outcome.answer.clone()];
    match &outcome.plan {
        RepairPlan::Steps { steps } if outcome.steps.is_empty() => lines.extend(plan(steps)),
        _ => {}
    }
    if !outcome.steps.is_empty() {
        lines.push(String::new());
        lines.extend(table(&outcome.steps));
        lines.extend(remarks(&outcome.steps));
    }
    // The answer has the first.
    lines.extend(outcome.relief.iter().skip(1).map(|relief| format!("{relief}.")));
    lines.extend(outcome.missing.iter().map(|missing| format!("Not read: {missing}.")));
    lines.join("\n")
}

/// Says what a repair is for.
pub(super) fn goal(request: &BlockRequest) -> String {
    format!(
        "To make {} free blocks of {}; it stops when there are enough:",
        request.blocks,
        SizeText(request.block_bytes)
    )
}

/// Formats planned steps, a line each.
pub(super) fn plan(steps: &[RepairStep]) -> Vec<String> {
    let line = |(at, step): (usize, &RepairStep)| {
        let perhaps = if step.perhaps { " at most" } else { " at least" };
        format!("{}. {}: {} blocks predicted after it,{perhaps}", at + 1, what(&step.work), step.predicted)
    };
    steps.iter().enumerate().map(line).collect()
}

fn what(work: &RepairWork) -> String {
    let of = |nodes: &[u32]| {
        let all: Vec<_> = nodes.iter().map(u32::to_string).collect();
        format!("{} {}", if all.len() == 1 { "node" } else { "nodes" }, all.join(", "))
    };
    match work {
        RepairWork::DrainLists { pages } => format!("drain {pages} pages from per-CPU lists"),
        RepairWork::WriteBack { pages } => format!("write back {pages} dirty pages"),
        RepairWork::DropPageCache { pages, nodes } => {
            format!("drop page cache of {}, {pages} pages or more", of(nodes))
        }
        RepairWork::Compact { nodes } => format!("compact {}", of(nodes)),
    }
}

/// Formats what was done as a table.
fn table(steps: &[DoneStep]) -> Vec<String> {
    let head = ["step", "before", "predicted", "observed", "ms", "migrated", "dropped"].map(str::to_owned);
    let row = |step: &DoneStep| {
        let perhaps = if step.step.perhaps { "<=" } else { "" };
        [
            what(&step.step.work),
            step.before.to_string(),
            format!("{perhaps}{}", step.step.predicted),
            format!("{}{}", step.observed, if step.stopped_early { "*" } else { "" }),
            format!("{:.0}", step.took_ms),
            step.pages_migrated.to_string(),
            step.pages_dropped.to_string(),
        ]
    };
    let rows: Vec<_> = std::iter::once(head).chain(steps.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let line = |row: &[String; 7]| {
        let cells = row.iter().enumerate().skip(1).map(|(at, cell)| format!("{cell:>0$}", width(at)));
        format!("  {:<1$}  {2}", row[0], width(0), cells.collect::<Vec<_>>().join("  "))
    };
    rows.iter().map(line).collect()
}

/// Returns what the table does not say.
fn remarks(steps: &[DoneStep]) -> Vec<String> {
    let mut remarks = Vec::new();
    let any = |is_true: fn(&DoneStep) -> bool| steps.iter().any(is_true);
    if any(|step| step.stopped_early) {
        remarks.push(
            "* stopped early, with enough blocks free; the prediction is for the whole step.".to_owned(),
        );
    }
    let parts = steps.iter().filter_map(|step| Some((step.parts?, step.longest_part_ms?)));
    let in_parts = parts.filter(|&(parts, _)| parts > 1);
    if let Some((parts, longest)) = in_parts.reduce(|all, one| (all.0 + one.0, all.1.max(one.1))) {
        remarks.push(format!("Compacted in {parts} parts, the longest of {longest:.1} ms."));
    }
    if any(|step| step.gave_up) {
        remarks.push(
            "Parts of compaction freed nothing: the kernel begins each at the zone's start. Use a longer \
             --stall-budget, or none."
                .to_owned(),
        );
    }
    if any(|step| step.dropped_all) {
        remarks.push(
            "All clean page cache was dropped: this kernel cannot drop a given amount, or the amount did \
             not suffice."
                .to_owned(),
        );
    }
    if let Some(waited) = steps.iter().filter_map(|step| step.others_waited_ms).reduce(|all, one| all + one) {
        remarks.push(format!("During compaction other tasks waited {waited:.1} ms for memory (PSI some)."));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compaction(waited_ms: f64, parts: u64) -> DoneStep {
        DoneStep {
            step: RepairStep { work: RepairWork::Compact { nodes: vec![0] }, predicted: 9, perhaps: false },
            before: 1,
            observed: 5,
            stopped_early: false,
            took_ms: 12.0,
            pages_migrated: 3,
            pages_dropped: 0,
            parts: Some(parts),
            longest_part_ms: Some(4.0 * parts as f64),
            gave_up: true,
            dropped_all: false,
            others_waited_ms: Some(waited_ms),
        }
    }

    #[test]
    fn what_holds_of_several_steps_is_said_once() {
        let remarks = remarks(&[compaction(1.25, 1), compaction(1.0, 2), compaction(1.25, 3)]);
        let starts: Vec<_> = remarks.iter().map(|line| line.split(':').next().unwrap_or_default()).collect();
        assert_eq!(
            starts,
            [
                "Compacted in 5 parts, the longest of 12.0 ms.",
                "Parts of compaction freed nothing",
                "During compaction other tasks waited 3.5 ms for memory (PSI some)."
            ]
        );
    }
}
