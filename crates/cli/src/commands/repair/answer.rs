//! The answer of a repair in a sentence, which comes first.

use freehold_monitor::verdict::{BlockRequest, RepairPlan, SizeText, Verdict};

use super::outcome::Ending;

/// Returns the answer in a sentence. `verdict` is the last, and `now` the blocks that are free.
pub(super) fn answer(verdict: &Verdict, ending: Ending, now: u64) -> String {
    let free = free(&verdict.request, now);
    match ending {
        Ending::Enough => format!("DONE: nothing to do: {free}."),
        Ending::Done => format!("DONE: {free}."),
        Ending::Planned => format!("PLANNED: {free}. {}.", action(verdict)),
        Ending::Declined => format!("NOT DONE: {free}. {}.", action(verdict)),
        Ending::Cannot => format!("CANNOT: {free}; {}.", cannot(verdict)),
        Ending::Short => format!("CANNOT: {free}, after every step that helps; {}.", cannot(verdict)),
        Ending::Interrupted => format!("STOPPED by a signal: {free}."),
        Ending::Unknown => format!("UNKNOWN: {free}; {}.", action(verdict)),
    }
}

/// Returns the answer where `observed` blocks were enough after the last step, and others took some of them.
pub(super) fn taken(request: &BlockRequest, observed: u64, now: u64) -> String {
    format!(
        "CANNOT: {}; {observed} were free after the last step, and other tasks have taken some since. Run it again, or request \
         more than are needed.",
        free(request, now)
    )
}

/// Says how many blocks are free and how many were requested.
fn free(request: &BlockRequest, now: u64) -> String {
    let (wanted, size) = (request.blocks, SizeText(request.block_bytes));
    let are = if now == 1 { format!("block of {size} is") } else { format!("blocks of {size} are") };
    format!("{now} {are} free now, {wanted} requested")
}

fn action(verdict: &Verdict) -> &str {
    verdict.action.as_deref().unwrap_or("there are enough now")
}

/// Returns why nothing is done, and what helps instead.
fn cannot(verdict: &Verdict) -> String {
    if let RepairPlan::Pool { .. } = verdict.plan {
        return format!(
            "blocks larger than the buddy allocator's largest are made only on request. {}",
            action(verdict)
        );
    }
    if let RepairPlan::Steps { steps } = &verdict.plan {
        let predicted = steps.last().map_or(0, |step| step.predicted);
        if steps.last().is_some_and(|step| step.perhaps) {
            return format!("at most {predicted} were predicted in all, and fewer became free");
        }
        return format!(
            "{predicted} were predicted in all, and fewer became free: compaction ends where it meets page cache that others \
             make dirty, and at each part's time. Try again when less is written, or with a longer --stall-budget"
        );
    }
    let supply = &verdict.supply;
    let certain = supply.after_reclaim_and_compaction.unwrap_or(supply.now);
    let are = if certain == 1 { "is" } else { "are" };
    format!("only {certain} {are} certain after reclaim and compaction. {}", action(verdict))
}

#[cfg(test)]
mod tests {
    use freehold_monitor::verdict::{HighestZone, Requester};

    use super::*;

    #[test]
    fn what_others_took_is_said() {
        let request = BlockRequest {
            order: 9,
            block_bytes: 2 << 20,
            contiguous: false,
            blocks: 1787,
            node: None,
            allowed_nodes: None,
            zone: None,
            highest: HighestZone::default(),
            by: Requester::default(),
        };
        let answer = taken(&request, 1811, 1779);
        let starts = "CANNOT: 1779 blocks of 2 MiB are free now, 1787 requested; 1811 were free after the last step, and";
        assert!(answer.starts_with(starts), "{answer}");
    }
}
