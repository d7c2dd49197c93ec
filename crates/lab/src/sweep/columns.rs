//! The rows of a sweep as a Parquet file and as comma-separated values, with a column for each setting and
//! measure.

use std::sync::Arc;

use freehold_measure::{Cell, csv_line};
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::schema::types::Type;

use super::knobs::Value;
use super::row::SweepRow;
use crate::parquet_file::{optional, write_file};

/// A Parquet file cannot be made: an error in Freehold.
#[derive(Debug, thiserror::Error)]
#[error("the results cannot be written as Parquet")]
pub struct SweepError(#[from] ParquetError);

/// One column: a value or none for each row.
enum Column {
    Texts(Vec<Option<String>>),
    Numbers(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
}

/// Returns every column: run, trace, error, settings, measures. A row without a value is null there.
fn columns(rows: &[SweepRow]) -> Vec<(String, Column)> {
    let mut columns = vec![
        ("run".to_owned(), Column::Numbers(rows.iter().map(|row| Some(row.run as i64)).collect())),
        ("trace".to_owned(), Column::Texts(rows.iter().map(|row| Some(row.trace.clone())).collect())),
        ("error".to_owned(), Column::Texts(rows.iter().map(|row| row.error.clone()).collect())),
    ];
    for name in names(rows.iter().map(|row| &row.settings)) {
        let values: Vec<_> = rows.iter().map(|row| find(&row.settings, &name)).collect();
        columns.push((name, settings_column(&values)));
    }
    for name in names(rows.iter().map(|row| &row.measures)) {
        let cells: Vec<_> =
            rows.iter().map(|row| find(&row.measures, &name).copied().unwrap_or_default()).collect();
        columns.push((name, measures_column(&cells)));
    }
    columns
}

/// Returns every name once, in the order in which the names appear first.
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

fn measures_column(cells: &[Cell]) -> Column {
    if cells.iter().any(|cell| matches!(cell, Cell::Real(_))) {
        let real = |cell: &Cell| match *cell {
            Cell::Empty => None,
            Cell::Count(count) => Some(count as f64),
            Cell::Signed(number) => Some(number as f64),
            Cell::Real(real) => Some(real),
        };
        return Column::Reals(cells.iter().map(real).collect());
    }
    let number = |cell: &Cell| match *cell {
        Cell::Count(count) => Some(count.cast_signed()),
        Cell::Signed(number) => Some(number),
        Cell::Empty | Cell::Real(_) => None,
    };
    Column::Numbers(cells.iter().map(number).collect())
}

/// Returns the rows as a Parquet file.
///
/// # Errors
/// [`SweepError`] if the rows cannot be written: an error in Freehold.
pub fn to_parquet(rows: &[SweepRow]) -> Result<Vec<u8>, SweepError> {
    let columns = columns(rows);
    let fields: Result<Vec<_>, ParquetError> = columns
        .iter()
        .map(|(name, column)| {
            let (physical, converted) = match column {
                Column::Texts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
                Column::Numbers(_) => (Physical::INT64, ConvertedType::NONE),
                Column::Reals(_) => (Physical::DOUBLE, ConvertedType::NONE),
            };
            let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
            field.with_converted_type(converted).build().map(Arc::new)
        })
        .collect();
    let schema = Type::group_type_builder("sweep").with_fields(fields?).build()?;
    let file = write_file(schema, |group| {
        for (_, column) in columns {
            match column {
                Column::Texts(texts) => {
                    let texts = texts.iter().map(|text| text.as_deref().map(ByteArray::from));
                    optional::<ByteArrayType>(group, texts)?;
                }
                Column::Numbers(numbers) => optional::<Int64Type>(group, numbers.into_iter())?,
                Column::Reals(reals) => optional::<DoubleType>(group, reals.into_iter())?,
            }
        }
        Ok(())
    });
    Ok(file?)
}

/// Returns the rows as comma-separated values with one header line (RFC 4180). A row without a value is empty
/// there.
pub fn to_csv(rows: &[SweepRow]) -> String {
    let columns = columns(rows);
    let mut text = String::new();
    csv_line(&mut text, columns.iter().map(|(name, _)| name.clone()));
    for row in 0..rows.len() {
        let fields = columns.iter().map(|(_, column)| match column {
            Column::Texts(texts) => texts[row].clone().unwrap_or_default(),
            Column::Numbers(numbers) => numbers[row].map_or_else(String::new, |number| number.to_string()),
            Column::Reals(reals) => reals[row].map_or_else(String::new, |real| real.to_string()),
        });
        csv_line(&mut text, fields);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_some_rows_lack_is_null() {
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
