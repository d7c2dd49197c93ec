//! A table of the runs of a sweep, with a few measures.

use freehold_measure::Table;

use super::row::SweepRow;

/// The columns of the measures in the table, and their names.
const SHOWN: [(&str, &str); 7] = [
    ("failures_all_orders", "failures"),
    ("fallback_fallback_searches", "fallback searches"),
    ("fallback_requests_answered_from_another_type_s_block", "from another type's block"),
    ("pageblocks_mixed_pageblocks_at_the_end", "mixed pageblocks"),
    ("zone_lock_holds", "lock holds"),
    ("zone_lock_longest_hold_touched_pages", "longest hold, pages"),
    ("watermarks_boosts", "boosts"),
];

/// Returns a table of the runs that succeeded, with a few measures.
pub fn summary(rows: &[SweepRow]) -> Table {
    let of_one_trace = rows.iter().all(|row| row.trace == rows[0].trace);
    let mut table = Table::new("Runs", SHOWN.map(|(_, title)| title.to_owned()).to_vec());
    for row in rows.iter().filter(|row| row.error.is_none()) {
        let cell = |name: &str| row.measures.iter().find(|(known, _)| known == name).map(|(_, cell)| *cell);
        let cells = SHOWN.iter().map(|(name, _)| cell(name).unwrap_or_default());
        let settings = row.settings_text();
        let name = if of_one_trace { settings } else { format!("{}: {settings}", row.trace) };
        table.push("", &name, "", cells.collect());
    }
    table
}
