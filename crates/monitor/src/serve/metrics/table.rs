//! Every metric, in the order of the text.

use super::machine_metrics::OF_MACHINE;
use super::metric::{Fill, Kind, Metric, Row};
use super::phrases::{DRIFTS, TEXT};
use super::server_metrics::OF_SERVER;
use super::verdict_metrics::OF_VERDICTS;
use super::zone_metrics::OF_ZONES;
use crate::model::{RATED, Rated};

/// Returns every metric, in the order of the text.
pub fn table() -> Vec<Metric> {
    let metric = |row: &Row| {
        let ((name, kind, unit, labels), help, (source, exactness, cost), fill) = *row;
        let (name, help) = (name.to_owned(), help.to_owned());
        Metric { name, kind, unit, labels, help, source, exactness, cost, fill: Fill::By(fill) }
    };
    let rate = |rated: &'static Rated| Metric {
        name: format!("freehold_vmstat_{}_total", rated.name),
        kind: Kind::Counter,
        // A huge page counts as one event, and a fault is no page.
        unit: if rated.meaning.starts_with("pages ") { "pages" } else { "events" },
        labels: &[],
        help: format!("Since the boot: {}.", rated.meaning),
        source: "`/proc/vmstat`",
        exactness: DRIFTS,
        cost: TEXT,
        fill: Fill::Rate(rated),
    };
    let before = OF_ZONES.iter().chain(&OF_VERDICTS).map(metric);
    before.chain(RATED.iter().map(rate)).chain(OF_MACHINE.iter().chain(&OF_SERVER).map(metric)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_huge_pages_and_faults_is_not_in_pages() {
        for metric in table().iter().filter(|metric| metric.name.contains("_vmstat_thp_")) {
            assert_eq!(metric.unit, "events", "{}", metric.name);
        }
    }

    #[test]
    fn names_follow_prometheus() {
        let table = table();
        for metric in &table {
            assert!(metric.name.starts_with("freehold_"), "{}", metric.name);
            assert!(metric.name.ends_with(metric.kind.ending()), "{}", metric.name);
            let stem = metric.name.strip_suffix(metric.kind.ending()).unwrap();
            for base in ["seconds", "bytes"] {
                assert_eq!(metric.unit == base, stem.ends_with(base), "{}", metric.name);
            }
            assert!(!stem.ends_with("_total") && metric.help.ends_with('.'), "{}", metric.name);
        }
        let mut names: Vec<_> = table.iter().map(|metric| &metric.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), table.len(), "each name once");
    }
}
