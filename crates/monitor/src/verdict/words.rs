//! Words about blocks and about ranges.

use super::answer::{NodeVerdict, Verdict};
use super::holders::Named;

/// Says what each node can give by itself, where there are several. `moving` is what empties blocks.
pub(super) fn nodes(verdict: &Verdict, moving: &str) -> Vec<String> {
    let of_node = |node: &NodeVerdict| {
        let supply = &node.supply;
        let then =
            |blocks: Option<u64>, what: &str| blocks.map_or(String::new(), |n| format!(", {n} by {what}"));
        format!(
            "node {} alone: {} free now{}{}",
            node.node,
            supply.now,
            then(supply.after_compaction, moving),
            then(supply.after_reclaim_and_compaction, &format!("reclaim and {moving}"))
        )
    };
    verdict.nodes.iter().map(of_node).collect()
}

/// Returns a number with what is counted.
pub(super) fn plural(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Adds who the largest of a kind are, in pages. `what` says of which.
pub(super) fn with_names(text: String, what: &str, named: &[Named]) -> String {
    if named.is_empty() {
        return text;
    }
    let named: Vec<_> = named.iter().map(|one| format!("{} {}", one.name, one.pages)).collect();
    format!("{text} ({what}, in pages: {})", named.join(", "))
}
