//! A table of measures, written as text, JSON or CSV.

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};
use serde::{Deserialize, Serialize};

use crate::foreign;

/// A table of measures: a column for each side, a row for each measure.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Table {
    /// The title of the table.
    pub title: String,
    /// Names of the columns that follow the measure and its unit.
    pub columns: Vec<String>,
    /// The rows. Rows of a group are consecutive.
    pub rows: Vec<Row>,
}

/// One measure.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Row {
    /// The group of the row.
    pub group: String,
    /// The name of the measure.
    pub measure: String,
    /// The unit of the cells, or empty.
    pub unit: String,
    /// One cell for each column.
    pub cells: Vec<Cell>,
}

/// One value.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// The value is not known.
    #[default]
    Empty,
    /// A count.
    Count(u64),
    /// A difference.
    Signed(i64),
    /// A measured or derived quantity, shown with up to three decimal places.
    Real(f64),
}

/// The space between groups of three digits: a narrow no-break space.
const THIN_SPACE: char = '\u{202f}';

/// Returns a time with its unit: `850 ns`, `41 µs`, `1.2 ms`.
pub fn duration(ns: u64) -> String {
    let (scaled, unit) = match ns {
        0..1000 => return format!("{ns} ns"),
        1000..1_000_000 => (ns as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    if scaled < 9.95 { format!("{scaled:.1} {unit}") } else { format!("{scaled:.0} {unit}") }
}

/// Returns a number with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(THIN_SPACE);
        }
        text.push(digit);
    }
    text
}

impl Cell {
    /// Returns the value as text for human readers.
    pub fn text(self) -> String {
        match self {
            Self::Empty => "–".to_owned(),
            Self::Count(value) => grouped(value),
            Self::Signed(value) => {
                let sign = if value < 0 { "−" } else { "" };
                format!("{sign}{}", grouped(value.unsigned_abs()))
            }
            Self::Real(value) if value.abs() >= 100.0 => Self::Signed(value.round() as i64).text(),
            Self::Real(value) if value.abs() >= 10.0 => format!("{value:.1}"),
            Self::Real(value) => format!("{value:.3}"),
        }
    }

    /// Returns the value as a floating-point number, or `None` if it is not known.
    pub fn real(self) -> Option<f64> {
        match self {
            Self::Empty => None,
            Self::Count(value) => Some(value as f64),
            Self::Signed(value) => Some(value as f64),
            Self::Real(value) => Some(value),
        }
    }

    /// Returns the value as text for programs. It is empty if the value is not known.
    fn plain(self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Count(value) => value.to_string(),
            Self::Signed(value) => value.to_string(),
            Self::Real(value) => value.to_string(),
        }
    }
}

impl Table {
    /// Returns a table without rows.
    pub fn new(title: impl Into<String>, columns: Vec<String>) -> Self {
        Self { title: title.into(), columns, rows: Vec::new() }
    }

    /// Adds a row, with one cell for each column.
    ///
    /// # Panics
    /// In builds with debug assertions, if there are more or fewer cells than columns.
    pub fn push(&mut self, group: &str, measure: &str, unit: &str, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(Row {
            group: group.to_owned(),
            measure: measure.to_owned(),
            unit: unit.to_owned(),
            cells,
        });
    }

    /// Returns the cell of a measure in a column, or `None` if the table has no such row or column.
    pub fn cell(&self, measure: &str, column: &str) -> Option<Cell> {
        let at = self.columns.iter().position(|name| name == column)?;
        let row = self.rows.iter().find(|row| row.measure == measure)?;
        row.cells.get(at).copied()
    }

    /// Returns the table as text. It has no colour codes, so that it is the same in a pipe.
    pub fn to_text(&self) -> String {
        let mut grid = Grid::new();
        grid.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let line = |text: &str| foreign::one_line(text).into_owned();
        let head = ["", ""].into_iter().map(str::to_owned).chain(self.columns.iter().map(|name| line(name)));
        grid.set_header(head);
        let mut group = "";
        for row in &self.rows {
            if row.group != group && !row.group.is_empty() {
                grid.add_row([line(&row.group).to_uppercase()]);
            }
            group = &row.group;
            let cells = row.cells.iter().map(|cell| cell.text());
            let names = [format!("  {}", line(&row.measure)), line(&row.unit)];
            grid.add_row(names.into_iter().chain(cells));
        }
        for column in grid.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let body = grid.trim_fmt();
        if self.title.is_empty() { body } else { format!("{}\n\n{body}", line(&self.title)) }
    }

    /// Returns the table as JSON: an object with `title`, `columns` and `rows`. Unknown values are null.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the table as comma-separated values with one header line (RFC 4180).
    pub fn to_csv(&self) -> String {
        let mut text = String::new();
        let names = ["group", "measure", "unit"].into_iter().chain(self.columns.iter().map(String::as_str));
        csv_line(&mut text, names.map(str::to_owned));
        for row in &self.rows {
            let names = [&row.group, &row.measure, &row.unit].into_iter().cloned();
            csv_line(&mut text, names.chain(row.cells.iter().map(|cell| cell.plain())));
        }
        text
    }
}

/// Adds one line of comma-separated values to a text (RFC 4180).
pub fn csv_line(text: &mut String, fields: impl Iterator<Item = String>) {
    for (number, field) in fields.enumerate() {
        let field = foreign::lines(&field);
        let comma = if number == 0 { "" } else { "," };
        // Writing into a string never fails.
        let _ = if field.contains([',', '"', '\n', '\r']) {
            write!(text, "{comma}\"{}\"", field.replace('"', "\"\""))
        } else {
            write!(text, "{comma}{field}")
        };
    }
    text.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("Small", vec!["a".into(), "b, c".into()]);
        table.push("work", "holds", "number", vec![Cell::Count(1_234_567), Cell::Empty]);
        table.push("work", "share", "%", vec![Cell::Real(0.5), Cell::Signed(-1234)]);
        table
    }

    #[test]
    fn times_have_units() {
        assert_eq!(
            [850, 41_200, 1_240_000, 3_000_000_000].map(duration),
            ["850 ns", "41 µs", "1.2 ms", "3.0 s"]
        );
    }

    #[test]
    fn numbers_are_grouped_only_in_text() {
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(12_345), "12\u{202f}345");
        assert_eq!(Cell::Signed(-1234).text(), "−1\u{202f}234");
        assert_eq!(Cell::Real(12.345).text(), "12.3");
        let csv = table().to_csv();
        let expected =
            "group,measure,unit,a,\"b, c\"\r\nwork,holds,number,1234567,\r\nwork,share,%,0.5,-1234\r\n";
        assert_eq!(csv, expected);
    }

    #[test]
    fn text_has_one_line_per_row_and_no_colour() {
        let text = table().to_text();
        assert!(text.starts_with("Small\n"), "{text}");
        assert!(
            text.contains("WORK") && text.contains("1\u{202f}234\u{202f}567") && !text.contains('\u{1b}')
        );
        assert_eq!(text.lines().count(), 6, "{text}");
    }

    #[test]
    fn foreign_names_are_escaped() {
        let mut table = Table::new("T\u{1b}[2J", vec!["c\u{9b}1m\nx".into()]);
        table.push("g\u{202e}", "m\u{7}", "u\r", vec![Cell::Count(1)]);
        let (text, csv) = (table.to_text(), table.to_csv());
        for c in ['\u{1b}', '\u{9b}', '\u{202e}', '\u{7}'] {
            assert!(!text.contains(c) && !csv.contains(c), "{c:?}");
        }
        assert!(text.starts_with("T\\u{1b}[2J\n") && !text.contains('\r'), "{text}");
        assert_eq!(text.lines().count(), 5, "{text}");
    }

    #[test]
    fn json_keeps_numbers() {
        let json = table().to_json();
        assert_eq!(json["rows"][0]["cells"][0], 1_234_567);
        assert!(json["rows"][0]["cells"][1].is_null());
        assert_eq!(table().cell("share", "a"), Some(Cell::Real(0.5)));
    }
}
