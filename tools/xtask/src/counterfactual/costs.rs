//! The state after the work of each side, and its cost: free pageblocks, time, kcompactd's time, pages moved, stalls.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::cases::Side;
use super::guest::cost_of;
use super::recordings::{Recordings, Sided};
use super::workloads::Workload;

/// A guest's numbers: the growth of `/proc/vmstat` counters, the state after the work, and `kcompactd_ns`.
type Cost = BTreeMap<String, f64>;

/// A column of a table of sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) title: &'static str,
    /// The names of the guest's numbers, which are added up.
    names: &'static [&'static str],
    /// The divisor of the sum.
    unit: f64,
}

const fn column(title: &'static str, names: &'static [&'static str]) -> Column {
    Column { title, names, unit: 1.0 }
}

/// The state after the work.
pub(super) const LEFT: [Column; 6] = [
    column("free pageblocks, mean over time", &["mean_pageblocks"]),
    column("free pageblocks at the end", &["end_pageblocks"]),
    column("free pageblocks once the lists are empty", &["drained_pageblocks"]),
    column("mixed pageblocks", &["mixed"]),
    column("pages on CPUs' lists at the end", &["end_listed"]),
    column("huge pages refused", &["thp_fault_fallback"]),
];

/// The cost of the work.
pub(super) const COST: [Column; 9] = [
    column("seconds", &["seconds"]),
    Column { title: "kcompactd, ms", names: &["kcompactd_ns"], unit: 1e6 },
    column("pages moved", &["pgmigrate_success"]),
    column("pages not moved", &["pgmigrate_fail"]),
    column("compaction stalls", &["compact_stall"]),
    column(
        "reclaim stalls",
        &["allocstall_dma", "allocstall_dma32", "allocstall_normal", "allocstall_movable"],
    ),
    column("pageblocks retyped", &["tidy_retyped"]),
    column("drains", &["tidy_drained"]),
    column("drains of its own CPU", &["tidy_drained_here"]),
];

/// The guests' numbers of each recording of some sides.
#[derive(Debug)]
pub(crate) struct Costs(Vec<(Sided, Vec<Cost>)>);

impl Costs {
    /// Reads the guests' numbers.
    ///
    /// # Errors
    /// If a guest's numbers cannot be read.
    pub(super) fn read(sides: &[Sided], recordings: &Recordings<'_>) -> Result<Self, String> {
        let of = |&(workload, side): &Sided| {
            let paths = recordings.paths(workload, &side);
            let costs = paths.iter().map(|path| read(&cost_of(&recordings.folder.join(path))));
            Ok(((workload, side), costs.collect::<Result<_, String>>()?))
        };
        sides.iter().map(of).collect::<Result<_, _>>().map(Self)
    }

    #[cfg(test)]
    pub(super) fn of(sides: Vec<(Sided, Vec<Cost>)>) -> Self {
        Self(sides)
    }

    /// Returns the workloads in order, each once.
    pub(super) fn workloads(&self) -> Vec<&'static Workload> {
        let mut workloads: Vec<_> = self.0.iter().map(|((workload, _), _)| *workload).collect();
        workloads.dedup_by_key(|workload| workload.name);
        workloads
    }

    /// Returns the sides of a workload in order.
    pub(super) fn sides(&self, workload: &Workload) -> Vec<Side> {
        let of = self.0.iter().filter(|((other, _), _)| other.name == workload.name);
        of.map(|((_, side), _)| *side).collect()
    }

    /// Returns every workload, side and column.
    pub(super) fn cells(&self) -> impl Iterator<Item = (&'static Workload, Side, &'static Column)> + '_ {
        let columns = || LEFT.iter().chain(&COST);
        self.0
            .iter()
            .flat_map(move |((workload, side), _)| columns().map(|column| (*workload, *side, column)))
    }

    /// Returns a column's value in each recording of a side; empty if the side's kernel does not count it.
    pub(super) fn values(&self, workload: &Workload, side: &Side, column: &Column) -> Vec<f64> {
        let is_it = |((other, of), _): &&(Sided, Vec<Cost>)| {
            other.name == workload.name && of.to_string() == side.to_string()
        };
        self.0.iter().find(is_it).map(|(_, costs)| values(costs, column)).unwrap_or_default()
    }

    /// Returns a table with a row for each side. A cell has the mean ± standard deviation of the side's recordings.
    pub(super) fn table(&self, columns: &[Column]) -> String {
        let titles: Vec<_> = columns.iter().map(|column| column.title).collect();
        let mut text =
            format!("| side | runs | {} |\n|---|---:|{}\n", titles.join(" | "), "---:|".repeat(titles.len()));
        for ((workload, side), costs) in &self.0 {
            let cells: Vec<_> = columns.iter().map(|column| cell(&values(costs, column))).collect();
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "| {}: {side} | {} | {} |", workload.name, costs.len(), cells.join(" | "));
        }
        text
    }
}

fn read(path: &Path) -> Result<Cost, String> {
    let failed = |error: String| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
}

/// Returns a column's number in each run; empty if a run does not have it.
fn values(costs: &[Cost], column: &Column) -> Vec<f64> {
    let of = |cost: &Cost| -> Option<f64> {
        let found: Vec<_> = column.names.iter().filter_map(|name| cost.get(*name)).collect();
        (!found.is_empty()).then(|| found.into_iter().sum::<f64>() / column.unit)
    };
    costs.iter().map(of).collect::<Option<_>>().unwrap_or_default()
}

/// Returns the numbers of some runs as text; `–` if there are none.
fn cell(values: &[f64]) -> String {
    if values.is_empty() {
        return "–".to_owned();
    }
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

    const SECONDS: Column = column("seconds", &["seconds", "other"]);

    fn costs(values: &[f64]) -> Vec<Cost> {
        values.iter().map(|&value| Cost::from([("seconds".to_owned(), value)])).collect()
    }

    #[test]
    fn cell_has_mean_and_deviation() {
        assert_eq!(cell(&values(&costs(&[1.5, 2.5, 3.5]), &SECONDS)), "2.5 ± 1.0");
        assert_eq!(cell(&values(&costs(&[200.0, 202.0]), &SECONDS)), "201 ± 1");
        assert_eq!(cell(&values(&costs(&[3e6]), &Column { unit: 1e6, ..SECONDS })), "3");
    }

    #[test]
    fn uncounted_columns_have_no_number() {
        assert_eq!(cell(&values(&costs(&[1.0]), &COST[6])), "–");
        assert_eq!(cell(&values(&[], &SECONDS)), "–");
    }

    #[test]
    fn invalid_numbers_are_named() {
        let place = std::env::temp_dir().join(format!("freehold-cost-{}.json", std::process::id()));
        fs::write(&place, "{\"seconds\":}").expect("written");
        assert!(read(&place).unwrap_err().contains(&place.display().to_string()));
        fs::remove_file(&place).expect("removed");
    }
}
