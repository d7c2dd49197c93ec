//! The series that a scrape gets.

use super::metric::Metric;

/// The metrics that a fleet is watched by: verdicts, pressure, what is free, rates that alerts and dashboards use, and whether the
/// numbers can be believed. None has a label whose values grow with the machine.
const DEFAULT: [&str; 32] = [
    "freehold_verdict_blocks",
    "freehold_verdict_state",
    "freehold_need_blocks",
    "freehold_need_exit_code",
    "freehold_need_probability",
    "freehold_verdict_age_seconds",
    "freehold_verdict_block_bytes",
    "freehold_vmstat_pgalloc_total",
    "freehold_vmstat_allocstall_total",
    "freehold_vmstat_pgscan_total",
    "freehold_vmstat_pgsteal_total",
    "freehold_vmstat_compact_stall_total",
    "freehold_vmstat_compact_success_total",
    "freehold_vmstat_compact_fail_total",
    "freehold_vmstat_thp_fault_alloc_total",
    "freehold_vmstat_thp_fault_fallback_total",
    "freehold_machine_free_pages",
    "freehold_machine_percpu_pages",
    "freehold_machine_managed_pages",
    "freehold_memory_pressure_seconds_total",
    "freehold_memory_bytes",
    "freehold_page_size_bytes",
    "freehold_machine_info",
    "freehold_up",
    "freehold_sensor_source",
    "freehold_sample_age_seconds",
    "freehold_sample_interval_seconds",
    "freehold_samples_total",
    "freehold_sample_errors_total",
    "freehold_sensor_read_seconds_total",
    "freehold_process_cpu_seconds_total",
    "freehold_process_resident_memory_bytes",
];

/// The series that a scrape gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Series {
    /// What a fleet needs: at most 60 with two needs.
    Default,
    /// Everything, by zone, order and migratetype.
    All,
}

impl Series {
    /// Returns the series that the query of a request's address asks for.
    ///
    /// # Errors
    /// If the query asks for anything else than `all`, what it asks for.
    pub(in crate::serve) fn requested(query: &str) -> Result<Self, &str> {
        let mut series = Self::Default;
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part {
                // Prometheus writes a parameter without a value with its sign.
                "all" | "all=" => series = Self::All,
                other => return Err(other),
            }
        }
        Ok(series)
    }

    /// Returns true if a metric is among them.
    pub(super) fn have(self, metric: &Metric) -> bool {
        self == Self::All || metric.is_default()
    }
}

impl Metric {
    /// Returns true if a scrape gets it without asking for all.
    pub fn is_default(&self) -> bool {
        DEFAULT.contains(&self.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::table;
    use super::*;

    #[test]
    fn the_default_is_made_of_metrics_that_there_are() {
        let known: Vec<_> = table().into_iter().map(|metric| metric.name).collect();
        for name in DEFAULT {
            assert!(known.iter().any(|known| known == name), "{name} is no metric");
        }
    }

    #[test]
    fn the_default_does_not_grow_with_the_machine() {
        for metric in table().iter().filter(|metric| metric.is_default()) {
            for label in ["node", "zone", "order", "migratetype"] {
                assert!(!metric.labels.contains(&label), "{}", metric.name);
            }
        }
    }

    #[test]
    fn all_is_the_one_thing_to_ask_for() {
        for (query, series) in
            [("", Series::Default), ("all", Series::All), ("all=", Series::All), ("&all&", Series::All)]
        {
            assert_eq!(Series::requested(query), Ok(series), "{query}");
        }
        for wrong in ["al", "all=0", "ALL", "zone=Normal"] {
            assert_eq!(Series::requested(wrong), Err(wrong));
        }
        assert_eq!(Series::requested("all&x=1"), Err("x=1"));
    }
}
