//! The table of metrics for `docs/reference/metrics.md`.

use std::fmt::Write;

use super::table::table;

/// Returns every metric as a table in Markdown.
pub fn document() -> String {
    let mut text = String::from(
        "| metric | default | labels | unit | meaning | source | exactness | cost |\n|---|---|---|---|---|---|---|---|\n",
    );
    for metric in table() {
        let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let labels = if labels.is_empty() { "–".to_owned() } else { labels.join(", ") };
        let default = if metric.is_default() { "yes" } else { "–" };
        let help = metric.help.trim_end_matches('.');
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "| `{}` ({}) | {default} | {labels} | {} | {help} | {} | {} | {} |",
            metric.name,
            metric.kind.name(),
            metric.unit,
            metric.source,
            metric.exactness,
            metric.cost
        );
    }
    text
}
