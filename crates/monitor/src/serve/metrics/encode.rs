//! The text of the metrics in the `OpenMetrics` format.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::{Registry, Unit};

use super::metric::{Kind, Metric};
use super::scrape::{Rows, Scrape, Value};
use super::series::Series;
use super::table::table;

/// Returns the text of the metrics of `series` that have a value.
pub(super) fn text(scrape: Scrape, series: Series) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Chosen(scrape, series)));
    let mut text = String::new();
    // Writing to a `String` cannot fail, and every value here fits the format.
    let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
    text
}

/// The metrics of some series as the one collector of a registry.
struct Chosen(Scrape, Series);

impl std::fmt::Debug for Chosen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Chosen")
    }
}

impl Collector for Chosen {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        for metric in table().iter().filter(|metric| self.1.have(metric)) {
            let mut rows = Rows::default();
            metric.fill(&self.0, &mut rows);
            if !rows.0.is_empty() {
                write(&mut encoder, metric, &rows)?;
            }
        }
        Ok(())
    }
}

fn write(encoder: &mut DescriptorEncoder, metric: &Metric, rows: &Rows) -> Result<(), std::fmt::Error> {
    let kind = match metric.kind {
        Kind::Counter => MetricType::Counter,
        Kind::Gauge => MetricType::Gauge,
        Kind::Info => MetricType::Info,
    };
    // The encoder adds the format's suffixes.
    let name = metric.name.strip_suffix(metric.kind.ending()).unwrap_or(&metric.name);
    let (name, unit) = match (name.strip_suffix("_seconds"), name.strip_suffix("_bytes")) {
        (Some(name), _) => (name, Some(Unit::Seconds)),
        (_, Some(name)) => (name, Some(Unit::Bytes)),
        _ => (name, None),
    };
    let mut family = encoder.encode_descriptor(name, &metric.help, unit.as_ref(), kind)?;
    for (labels, value) in &rows.0 {
        let labels: Vec<(&str, &str)> =
            metric.labels.iter().copied().zip(labels.iter().map(String::as_str)).collect();
        match metric.kind {
            Kind::Info => family.encode_info(&labels)?,
            kind if labels.is_empty() => write_value(&mut family, kind, *value)?,
            kind => write_value(&mut family.encode_family(&labels)?, kind, *value)?,
        }
    }
    Ok(())
}

fn write_value(encoder: &mut MetricEncoder, kind: Kind, value: Value) -> Result<(), std::fmt::Error> {
    let none = None::<&Exemplar<NoLabelSet, f64>>;
    match (kind, value) {
        (Kind::Counter, Value::Whole(value)) => encoder.encode_counter(&value, none),
        (Kind::Counter, Value::Real(value)) => encoder.encode_counter(&value, none),
        (_, Value::Whole(value)) => encoder.encode_gauge(&value),
        (_, Value::Real(value)) => encoder.encode_gauge(&value),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use freehold_linux::procfs::Machine;

    use super::*;
    use crate::model::{Holds, Map, Model, ZoneMap};
    use crate::sample_tests::sample;
    use crate::series::History;
    use crate::serve::publishing::{Published, Tally};

    fn of(map: Option<Map>) -> String {
        let mut model = Model::new(&Machine::default(), None, &sample(1, "Normal", 4));
        model.map = map.map(Arc::new);
        let published = Published::new(model, History::default(), Tally::default(), 500, None);
        text(Scrape::new(Arc::new(published), 3, 0), Series::All)
    }

    #[test]
    fn a_map_is_counted_and_its_absence_is_no_zero() {
        let blocks = vec![Holds::Mixed, Holds::Free, Holds::Free, Holds::Absent];
        let zone = ZoneMap { node: 1, name: "Normal".to_owned(), blocks, ..ZoneMap::default() };
        let with = of(Some(Map { zones: vec![zone], age_ms: 1500, ..Map::default() }));
        for line in [
            "freehold_pageblocks_holding{node=\"1\",zone=\"Normal\",holds=\"free\"} 2\n",
            "freehold_pageblocks_holding{node=\"1\",zone=\"Normal\",holds=\"mixed\"} 1\n",
            "freehold_pageblocks_holding{node=\"1\",zone=\"Normal\",holds=\"stuck\"} 0\n",
            "freehold_map_age_seconds 1.5\n",
        ] {
            assert!(with.contains(line), "{line} is not in {with}");
        }
        assert!(!with.contains("holds=\"no memory\""));
        assert!(!of(None).contains("freehold_pageblocks_holding"));
    }

    #[test]
    fn the_formats_endings_come_once() {
        let text = of(None);
        for line in [
            "# TYPE freehold_samples counter\nfreehold_samples_total 0\n",
            "# UNIT freehold_sample_interval_seconds seconds\nfreehold_sample_interval_seconds 0.5\n",
            "# TYPE freehold_machine info\nfreehold_machine_info{",
            "freehold_connections 3\n",
            "freehold_extfrag_index{node=\"0\",zone=\"Normal\",order=\"0\"} -1.0\n",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }
}
