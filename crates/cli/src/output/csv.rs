//! Tables as comma-separated values.

use freehold_measure::Table;

/// Every table, each below a line with its title.
pub(crate) fn csv(tables: &[Table]) -> String {
    let blocks: Vec<_> =
        tables.iter().map(|table| format!("# {}\r\n{}", table.title, table.to_csv())).collect();
    blocks.join("\r\n")
}
