//! The documents about metrics say what the table of metrics says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use freehold_monitor::serve::metrics::{document, table};

const BEGIN: &str = "<!-- metrics: written by a test, see below -->\n";
const END: &str = "<!-- end of metrics -->\n";

/// Set to have the table in the document rewritten.
const REWRITE: &str = "FREEHOLD_REWRITE";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

#[test]
fn the_document_has_the_table() {
    let path = file("docs/metrics.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (table, after) = rest.split_once(END).expect("where the table ends");
    if table == document() {
        return;
    }
    if std::env::var_os(REWRITE).is_some() {
        fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", document())).unwrap();
        return;
    }
    panic!(
        "docs/metrics.md has another table than the code. Rewrite it with `{REWRITE}=1 cargo test -p \
         freehold-monitor --test metrics_documents`"
    );
}

/// Every word in `text` that looks like a metric.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("freehold_")).collect()
}

#[test]
fn dashboard_and_alerts_name_only_metrics_that_there_are() {
    let known: BTreeSet<_> = table().into_iter().map(|metric| metric.name).collect();
    for name in [
        "contrib/grafana/freehold.json",
        "contrib/prometheus/freehold.rules.yml",
        "contrib/prometheus/freehold.rules.test.yml",
        "docs/metrics.md",
    ] {
        let text = fs::read_to_string(file(name)).unwrap();
        let named = named(&text);
        assert!(named.len() > 5, "{name} names {named:?}");
        for metric in named {
            assert!(known.contains(metric), "{name} names {metric}, which is no metric");
        }
    }
}

#[test]
fn the_dashboard_is_json_whose_panels_do_not_overlap() {
    let text = fs::read_to_string(file("contrib/grafana/freehold.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut taken = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|edge| panel["gridPos"][edge].as_u64().unwrap());
        for place in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(place.0 < 24 && taken.insert(place), "{}", panel["title"]);
        }
    }
}
