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
    let path = file("docs/reference/metrics.md");
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
        "docs/reference/metrics.md has another table than the code. Rewrite it with `{REWRITE}=1 cargo test -p \
         freehold-monitor --test metrics_documents`"
    );
}

/// Every word in `text` that looks like a metric.
fn named(text: &str) -> BTreeSet<&str> {
    words(text).filter(|word| word.starts_with("freehold_")).collect()
}

/// Every word in `text` that looks like what a rule has recorded.
fn recorded(text: &str) -> BTreeSet<&str> {
    words(text).filter(|word| word.contains(":freehold_")).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))
}

#[test]
fn dashboards_and_rules_name_only_metrics_that_there_are() {
    let known: BTreeSet<_> = table().into_iter().map(|metric| metric.name).collect();
    let rules = fs::read_to_string(file("contrib/prometheus/freehold-fleet.rules.yml")).unwrap();
    let rules: BTreeSet<_> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("- record: ")).collect();
    for name in [
        "contrib/grafana/freehold.json",
        "contrib/grafana/freehold-fleet.json",
        "contrib/prometheus/freehold.rules.yml",
        "contrib/prometheus/freehold.rules.test.yml",
        "contrib/prometheus/freehold-fleet.rules.yml",
        "contrib/prometheus/freehold-fleet.rules.test.yml",
        "docs/reference/metrics.md",
    ] {
        let text = fs::read_to_string(file(name)).unwrap();
        let (named, recorded) = (named(&text), recorded(&text));
        assert!(named.len() + recorded.len() > 5, "{name} names {named:?}, {recorded:?}");
        for metric in named {
            assert!(known.contains(metric), "{name} names {metric}, which is no metric");
        }
        for record in recorded {
            assert!(rules.contains(record), "{name} names {record}, which no rule records");
        }
    }
}

#[test]
fn a_fleet_needs_nothing_but_the_default() {
    let default: BTreeSet<_> = table()
        .into_iter()
        .filter(freehold_monitor::serve::metrics::Metric::is_default)
        .map(|metric| metric.name)
        .collect();
    for name in [
        "contrib/grafana/freehold-fleet.json",
        "contrib/prometheus/freehold.rules.yml",
        "contrib/prometheus/freehold-fleet.rules.yml",
    ] {
        let text = fs::read_to_string(file(name)).unwrap();
        for metric in named(&text) {
            assert!(default.contains(metric), "{name} needs {metric}, which is not in the default");
        }
    }
}

#[test]
fn dashboards_are_json_whose_panels_do_not_overlap() {
    for name in ["contrib/grafana/freehold.json", "contrib/grafana/freehold-fleet.json"] {
        let text = fs::read_to_string(file(name)).unwrap();
        let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (mut taken, mut ids) = (BTreeSet::new(), BTreeSet::new());
        for panel in dashboard["panels"].as_array().unwrap() {
            assert!(ids.insert(panel["id"].as_u64()), "{name}: {} has another's number", panel["title"]);
            let [x, y, w, h] = ["x", "y", "w", "h"].map(|edge| panel["gridPos"][edge].as_u64().unwrap());
            for place in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
                assert!(place.0 < 24 && taken.insert(place), "{name}: {}", panel["title"]);
            }
        }
    }
}
