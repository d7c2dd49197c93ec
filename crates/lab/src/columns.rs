//! A table as columns, the source of CSV, Parquet and Arrow.

use freehold_measure::{Cell, Table, csv_line};

/// A table as columns of equal lengths.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Columns {
    columns: Vec<(String, Column)>,
}

/// One column, with a value or none for each row.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Text.
    Texts(Vec<Option<String>>),
    /// Whole numbers.
    Numbers(Vec<Option<i64>>),
    /// Numbers with a fraction.
    Reals(Vec<Option<f64>>),
    /// Booleans.
    Flags(Vec<Option<bool>>),
}

impl Column {
    /// Returns a text column with a value in every row.
    pub fn texts(texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::Texts(texts.into_iter().map(|text| Some(text.into())).collect())
    }

    /// Returns a column of cells: whole numbers if all known cells are whole numbers.
    pub fn cells(cells: &[Cell]) -> Self {
        if cells.iter().any(|cell| matches!(cell, Cell::Real(_))) {
            return Self::Reals(cells.iter().map(|cell| cell.real()).collect());
        }
        let number = |cell: &Cell| match *cell {
            Cell::Count(count) => Some(count.cast_signed()),
            Cell::Signed(number) => Some(number),
            Cell::Empty | Cell::Real(_) => None,
        };
        Self::Numbers(cells.iter().map(number).collect())
    }

    fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Numbers(numbers) => numbers.len(),
            Self::Reals(reals) => reals.len(),
            Self::Flags(flags) => flags.len(),
        }
    }

    /// Returns a value in CSV form; empty if the row has none.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn text(&self, row: usize) -> String {
        match self {
            Self::Texts(texts) => texts[row].clone().unwrap_or_default(),
            Self::Numbers(numbers) => numbers[row].map_or_else(String::new, |number| number.to_string()),
            Self::Reals(reals) => reals[row].map_or_else(String::new, |real| real.to_string()),
            Self::Flags(flags) => flags[row].map_or_else(String::new, |flag| flag.to_string()),
        }
    }
}

impl Columns {
    /// Adds a column of the same length as the others.
    ///
    /// # Panics
    /// In builds with debug assertions, if the length differs.
    pub fn push(&mut self, name: impl Into<String>, column: Column) {
        debug_assert!(self.columns.is_empty() || self.rows() == column.len());
        self.columns.push((name.into(), column));
    }

    /// Returns tables of measures in long form: a row for each known cell.
    pub fn long(tables: &[Table]) -> Self {
        let cells = tables.iter().flat_map(|table| {
            table.rows.iter().flat_map(move |row| {
                let cells = table.columns.iter().zip(&row.cells);
                cells.map(move |(name, cell)| (table.title.as_str(), row, name.as_str(), cell.real()))
            })
        });
        let cells: Vec<_> = cells.filter(|(_, _, _, value)| value.is_some()).collect();
        let mut columns = Self::default();
        columns.push("table", Column::texts(cells.iter().map(|(title, ..)| *title)));
        columns.push("group", Column::texts(cells.iter().map(|(_, row, ..)| row.group.as_str())));
        columns.push("measure", Column::texts(cells.iter().map(|(_, row, ..)| row.measure.as_str())));
        columns.push("unit", Column::texts(cells.iter().map(|(_, row, ..)| row.unit.as_str())));
        columns.push("column", Column::texts(cells.iter().map(|(_, _, name, _)| *name)));
        columns.push("value", Column::Reals(cells.iter().map(|(.., value)| *value).collect()));
        columns
    }

    /// Returns the columns with their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Column)> {
        self.columns.iter().map(|(name, column)| (name.as_str(), column))
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Returns the table as CSV with one header line (RFC 4180). A missing value is an empty field.
    pub fn to_csv(&self) -> String {
        let mut text = String::new();
        csv_line(&mut text, self.columns.iter().map(|(name, _)| name.clone()));
        for row in 0..self.rows() {
            csv_line(&mut text, self.columns.iter().map(|(_, column)| column.text(row)));
        }
        text
    }
}

/// A table as columns for group, measure and unit, then one for each column of the table.
impl From<&Table> for Columns {
    fn from(table: &Table) -> Self {
        let mut columns = Self::default();
        columns.push("group", Column::texts(table.rows.iter().map(|row| row.group.as_str())));
        columns.push("measure", Column::texts(table.rows.iter().map(|row| row.measure.as_str())));
        columns.push("unit", Column::texts(table.rows.iter().map(|row| row.unit.as_str())));
        for (at, name) in table.columns.iter().enumerate() {
            let cells: Vec<_> =
                table.rows.iter().map(|row| row.cells.get(at).copied().unwrap_or_default()).collect();
            columns.push(name.as_str(), Column::cells(&cells));
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_converts_to_columns_and_to_long_form() {
        let mut table = Table::new("Small", vec!["a".into(), "b".into()]);
        table.push("work", "holds", "", vec![Cell::Count(7), Cell::Real(0.5)]);
        table.push("work", "share", "%", vec![Cell::Empty, Cell::Signed(-2)]);
        let columns = Columns::from(&table);
        assert_eq!(columns.to_csv(), table.to_csv());
        assert_eq!((columns.rows(), columns.iter().len()), (2, 5));
        let long = Columns::long(&[table]).to_csv();
        let expected = "table,group,measure,unit,column,value\r\nSmall,work,holds,,a,7\r\n\
                        Small,work,holds,,b,0.5\r\nSmall,work,share,%,b,-2\r\n";
        assert_eq!(long, expected);
    }
}
