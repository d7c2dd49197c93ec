//! The text of the metrics in Prometheus's classic format.

use std::fmt::Write;

use super::metric::Kind;
use super::scrape::{Rows, Scrape, Value};
use super::series::Series;
use super::table::table;

/// Returns the text of the metrics of `series` that have a value.
pub(super) fn text(scrape: &Scrape, series: Series) -> String {
    let mut text = String::new();
    for metric in table().iter().filter(|metric| series.have(metric)) {
        let mut rows = Rows::default();
        metric.fill(scrape, &mut rows);
        if rows.0.is_empty() {
            continue;
        }
        let kind = if metric.kind == Kind::Counter { "counter" } else { "gauge" };
        let help = metric.help.replace('\\', "\\\\").replace('\n', "\\n");
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "# HELP {0} {help}\n# TYPE {0} {kind}", metric.name);
        for (labels, value) in &rows.0 {
            let _ = writeln!(
                text,
                "{}{} {}",
                metric.name,
                in_braces(metric.labels, labels),
                number(metric.kind, *value)
            );
        }
    }
    text
}

fn in_braces(names: &[&str], values: &[String]) -> String {
    let escaped = |value: &String| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels: Vec<_> =
        names.iter().zip(values).map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) }
}

fn number(kind: Kind, value: Value) -> String {
    match (kind, value) {
        (Kind::Info, _) => "1".to_owned(),
        (_, Value::Whole(value)) => value.to_string(),
        (_, Value::Real(value)) => format!("{value:?}"),
    }
}
