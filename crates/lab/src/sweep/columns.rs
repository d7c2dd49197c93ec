//! The rows of a sweep as Parquet and CSV, with a column for each setting and measure.

use super::knobs::Value;
use super::row::SweepRow;
use crate::columns::{Column, Columns};
#[cfg(feature = "report")]
use crate::columns_file::ColumnsError;

/// Returns all columns: run, trace, error, settings, measures. A missing value is null.
pub fn columns(rows: &[SweepRow]) -> Columns {
    let mut columns = Columns::default();
    columns.push("run", Column::Numbers(rows.iter().map(|row| Some(row.run as i64)).collect()));
    columns.push("trace", Column::texts(rows.iter().map(|row| row.trace.as_str())));
    columns.push("error", Column::Texts(rows.iter().map(|row| row.error.clone()).collect()));
    for name in names(rows.iter().map(|row| &row.settings)) {
        let values: Vec<_> = rows.iter().map(|row| find(&row.settings, &name)).collect();
        columns.push(name, settings_column(&values));
    }
    for name in names(rows.iter().map(|row| &row.measures)) {
        let cells: Vec<_> =
            rows.iter().map(|row| find(&row.measures, &name).copied().unwrap_or_default()).collect();
        columns.push(name, Column::cells(&cells));
    }
    columns
}

/// Returns every name once, in the order of first appearance.
fn names<'r, T: 'r>(lists: impl Iterator<Item = &'r Vec<(String, T)>>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in lists.flatten() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn find<'r, T>(list: &'r [(String, T)], name: &str) -> Option<&'r T> {
    list.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

fn settings_column(values: &[Option<&Value>]) -> Column {
    if values.iter().flatten().all(|value| matches!(value, Value::Number(_))) {
        let number = |value: Option<&Value>| match value {
            Some(Value::Number(number)) => Some(number.cast_signed()),
            _ => None,
        };
        Column::Numbers(values.iter().copied().map(number).collect())
    } else {
        Column::Texts(values.iter().map(|value| value.map(ToString::to_string)).collect())
    }
}

/// Returns the rows as a Parquet file.
///
/// # Errors
/// [`ColumnsError`] if the rows cannot be written: a bug in Freehold.
#[cfg(feature = "report")]
pub fn to_parquet(rows: &[SweepRow]) -> Result<Vec<u8>, ColumnsError> {
    columns(rows).to_parquet("sweep")
}

/// Returns the rows as CSV with one header line (RFC 4180). A missing value is an empty field.
pub fn to_csv(rows: &[SweepRow]) -> String {
    columns(rows).to_csv()
}

#[cfg(test)]
mod tests {
    use freehold_measure::Cell;

    use super::*;

    #[test]
    fn values_that_a_row_lacks_are_null() {
        let row = |run, error: Option<&str>, measures: Vec<(String, Cell)>| SweepRow {
            run,
            trace: "t".to_owned(),
            settings: vec![("era".to_owned(), Value::Word("freehold".to_owned()))],
            error: error.map(str::to_owned),
            measures,
        };
        let measures = vec![("a".to_owned(), Cell::Count(7)), ("b".to_owned(), Cell::Real(0.5))];
        let rows = [row(0, None, measures), row(1, Some("no, not"), Vec::new())];
        assert_eq!(
            to_csv(&rows),
            "run,trace,error,era,a,b\r\n0,t,,freehold,7,0.5\r\n1,t,\"no, not\",freehold,,\r\n"
        );
        let file = to_parquet(&rows).expect("a file");
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
        assert_eq!(to_parquet(&rows).expect("a file"), file, "the same rows, the same file");
        assert!(to_parquet(&[]).is_ok());
    }
}
