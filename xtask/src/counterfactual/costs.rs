//! What the work of each side cost: time, the daemon's time, pages moved, stalls.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::cases::Case;
use super::guest::cost_of;
use super::recordings::{Recordings, Sided};

/// What a guest says of its work: the growth of counters of `/proc/vmstat`, `seconds`, and `kcompactd_ns`.
type Cost = BTreeMap<String, f64>;

/// A column: see [`COLUMNS`].
type Column = (&'static str, &'static [&'static str], f64);

/// What is told of a side's end besides, where the CPUs' lists are emptied then, and how often kcompactd emptied them.
const CONTROL_COLUMNS: [Column; 8] = [
    ("seconds", &["seconds"], 1.0),
    ("kcompactd, ms", &["kcompactd_ns"], 1e6),
    ("pages moved", &["pgmigrate_success"], 1.0),
    ("drains", &["tidy_drained"], 1.0),
    ("drains of its own CPU", &["tidy_drained_here"], 1.0),
    ("free pageblocks", &["end_pageblocks"], 1.0),
    ("pages on CPUs' lists", &["end_listed"], 1.0),
    ("free pageblocks once the lists are empty", &["drained_pageblocks"], 1.0),
];

/// The columns: a title, and the names whose numbers are added up, each divided by this.
const COLUMNS: [Column; 8] = [
    ("seconds", &["seconds"], 1.0),
    ("kcompactd, ms", &["kcompactd_ns"], 1e6),
    ("pages moved", &["pgmigrate_success"], 1.0),
    ("pages not moved", &["pgmigrate_fail"], 1.0),
    ("huge pages refused", &["thp_fault_fallback"], 1.0),
    ("compaction stalls", &["compact_stall"], 1.0),
    (
        "reclaim stalls",
        &["allocstall_dma", "allocstall_dma32", "allocstall_normal", "allocstall_movable"],
        1.0,
    ),
    ("pageblocks retyped", &["tidy_retyped"], 1.0),
];

/// Returns a table of what the sides of some cases cost, mean ± standard deviation of their recordings.
///
/// # Errors
/// A sentence, if a guest's numbers cannot be read.
pub(super) fn table(cases: &[Case], recordings: &Recordings<'_>) -> Result<String, String> {
    table_of(&super::recordings::sides(cases), recordings, &COLUMNS)
}

/// Returns a table of what the sides of the control came to, as [`table`] has it.
///
/// # Errors
/// A sentence, if a guest's numbers cannot be read.
pub(super) fn control_table(sides: &[Sided], recordings: &Recordings<'_>) -> Result<String, String> {
    table_of(sides, recordings, &CONTROL_COLUMNS)
}

fn table_of(sides: &[Sided], recordings: &Recordings<'_>, columns: &[Column]) -> Result<String, String> {
    let titles: Vec<_> = columns.iter().map(|(title, ..)| *title).collect();
    let mut text =
        format!("| side | runs | {} |\n|---|---:|{}\n", titles.join(" | "), "---:|".repeat(titles.len()));
    for (workload, side) in sides {
        let paths = recordings.paths(workload, side);
        let costs = paths.iter().map(|path| read(&cost_of(&recordings.folder.join(path))));
        let costs = costs.collect::<Result<Vec<_>, _>>()?;
        let cells: Vec<_> = columns.iter().map(|(_, names, unit)| cell(&costs, names, *unit)).collect();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "| {}: {side} | {} | {} |", workload.name, costs.len(), cells.join(" | "));
    }
    Ok(text)
}

fn read(path: &Path) -> Result<Cost, String> {
    let failed = |error: String| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
}

/// Returns a column's numbers of some runs as text; `–` if a kernel does not have them.
fn cell(costs: &[Cost], names: &[&str], unit: f64) -> String {
    let of = |cost: &Cost| -> Option<f64> {
        let found: Vec<_> = names.iter().filter_map(|name| cost.get(*name)).collect();
        (!found.is_empty()).then(|| found.into_iter().sum::<f64>() / unit)
    };
    let values: Option<Vec<_>> = costs.iter().map(of).collect();
    let Some(values) = values.filter(|values| !values.is_empty()) else { return "–".to_owned() };
    let runs = values.len() as f64;
    let mean = values.iter().sum::<f64>() / runs;
    let spread = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let digits = usize::from(mean.abs() < 99.95 && values.iter().any(|value| value.fract() != 0.0));
    if values.len() < 2 {
        return format!("{mean:.digits$}");
    }
    format!("{mean:.digits$} ± {:.digits$}", (spread / (runs - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(values: &[f64]) -> Vec<Cost> {
        values.iter().map(|&value| Cost::from([("seconds".to_owned(), value)])).collect()
    }

    #[test]
    fn a_cell_is_a_mean_with_its_deviation() {
        assert_eq!(cell(&costs(&[1.5, 2.5, 3.5]), &["seconds"], 1.0), "2.5 ± 1.0");
        assert_eq!(cell(&costs(&[200.0, 202.0]), &["seconds", "other"], 1.0), "201 ± 1");
        assert_eq!(cell(&costs(&[3e6]), &["seconds"], 1e6), "3");
    }

    #[test]
    fn what_a_kernel_does_not_count_has_no_number() {
        assert_eq!(cell(&costs(&[1.0]), &["tidy_retyped"], 1.0), "–");
        assert_eq!(cell(&[], &["seconds"], 1.0), "–");
    }

    #[test]
    fn numbers_that_are_broken_are_named() {
        let place = std::env::temp_dir().join(format!("freehold-cost-{}.json", std::process::id()));
        fs::write(&place, "{\"seconds\":}").expect("written");
        assert!(read(&place).unwrap_err().contains(&place.display().to_string()));
        fs::remove_file(&place).expect("removed");
    }
}
