//! The differences between two comparisons that should be equal.

use freehold_measure::{Row, Table};

use crate::compare::Comparison;

/// A measure that differs between two comparisons.
#[derive(Clone, PartialEq, Debug)]
pub struct Differing {
    /// The table, the measure and the column.
    pub what: String,
    /// The value in each comparison; `None` if the comparison has none.
    pub values: [Option<f64>; 2],
}

/// Returns the number of measures of `before`, and the measures that differ or that only one comparison has. Compares
/// all tables, except times that were measured during the replay.
pub fn differing(before: &Comparison, after: &Comparison) -> (usize, Vec<Differing>) {
    let [before, after] = [before, after].map(measures);
    let mut differ = Vec::new();
    for at in 0..before.len().max(after.len()) {
        let (old, new) = (before.get(at), after.get(at));
        let bits = |side: Option<&(String, Option<f64>)>| {
            side.map(|(what, value)| (what.clone(), value.map(f64::to_bits)))
        };
        if bits(old) != bits(new)
            && let Some((what, _)) = old.or(new)
        {
            let values = [old, new].map(|side| side.and_then(|(_, value)| *value));
            differ.push(Differing { what: what.clone(), values });
        }
    }
    (before.len(), differ)
}

/// Returns each cell of each table with its name.
fn measures(comparison: &Comparison) -> Vec<(String, Option<f64>)> {
    let cells = |table: &Table, row: &Row| {
        let name = format!("{}, {} {}", table.title, row.group, row.measure);
        let cells = table.columns.iter().zip(&row.cells);
        cells.map(|(column, cell)| (format!("{name}, {column}"), cell.real())).collect::<Vec<_>>()
    };
    let tables = comparison.tables();
    let rows = tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    // Lock holds and the speed of the replay are timed on the machine that replays.
    let rows = rows.filter(|(_, row)| !matches!(row.unit.as_str(), "ns" | "million events/s"));
    rows.flat_map(|(table, row)| cells(table, row)).collect()
}
