//! Tables as comma-separated values.

use freehold_measure::Table;

/// Formats every table below a line with its title.
pub(crate) fn csv(tables: &[Table]) -> String {
    let blocks: Vec<_> =
        tables.iter().map(|table| format!("# {}\r\n{}", table.title, table.to_csv())).collect();
    blocks.join("\r\n")
}
