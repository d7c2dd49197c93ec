//! Measures in long form, with a row for each variant and measure.

use freehold_measure::Table;

use crate::columns::{Column, Columns};

/// The name of the recorded machine among the variants.
pub(super) const MACHINE: &str = "machine";

/// One measure of one variant.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MeasuredRow {
    /// The era with the parts that differ from it, or `machine`.
    pub(super) variant: String,
    pub(super) group: String,
    pub(super) measure: String,
    pub(super) unit: String,
    pub(super) value: f64,
    /// The standard deviation of a single replay; `None` if it is unknown.
    pub(super) sd: Option<f64>,
    /// The number of replays in the mean; `None` for the machine.
    pub(super) replays: Option<u32>,
}

/// Returns the cells of an overview of single replays, then `means`: the means and standard deviations of all replays.
pub(super) fn measured_rows(overview: &Table, means: Vec<MeasuredRow>) -> Columns {
    let mut rows = Vec::new();
    for row in &overview.rows {
        for (variant, cell) in overview.columns.iter().zip(&row.cells) {
            rows.extend(cell.real().map(|value| MeasuredRow {
                variant: variant.clone(),
                group: row.group.clone(),
                measure: row.measure.clone(),
                unit: row.unit.clone(),
                value,
                sd: None,
                replays: (variant != MACHINE).then_some(1),
            }));
        }
    }
    rows.extend(means);
    let mut columns = Columns::default();
    columns.push("variant", Column::texts(rows.iter().map(|row| row.variant.as_str())));
    columns.push("group", Column::texts(rows.iter().map(|row| row.group.as_str())));
    columns.push("measure", Column::texts(rows.iter().map(|row| row.measure.as_str())));
    columns.push("unit", Column::texts(rows.iter().map(|row| row.unit.as_str())));
    columns.push("value", Column::Reals(rows.iter().map(|row| Some(row.value)).collect()));
    columns.push("standard_deviation", Column::Reals(rows.iter().map(|row| row.sd).collect()));
    columns.push("replays", Column::Numbers(rows.iter().map(|row| row.replays.map(i64::from)).collect()));
    columns
}
