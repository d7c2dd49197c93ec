//! The rates of the machine's counters.

use freehold_trace::FreeCount;
use ratatui::text::{Line, Span};

use crate::model::{Model, RATED, Rate};
use crate::top::text::numbers::{Figures, rate};
use crate::top::text::rows::{Rows, label, whole, wrap};
use crate::top::theme::Theme;
use crate::top::view::View;

/// The two lines of a small screen: the word before each line, then names and short names of its rates.
const SHORT: [(&str, &[(&str, &str)]); 2] = [
    (
        "a second",
        &[
            ("alloc", "pgalloc"),
            ("free", "pgfree"),
            ("stall", "allocstall"),
            ("scan", "pgscan"),
            ("steal", "pgsteal"),
            ("wake", "kcompactd_wake"),
        ],
    ),
    (
        "compact",
        &[
            ("stall", "compact_stall"),
            ("ok", "compact_success"),
            ("fail", "compact_fail"),
            ("moved", "pgmigrate_success"),
            ("THP", "thp_fault_alloc"),
            ("fallback", "thp_fault_fallback"),
        ],
    ),
];

/// Columns of a rate.
const RATE: usize = 6;

/// Columns of a counter's name, and of its total, in a row of its own.
const NAME: usize = 25;
const TOTAL: usize = 13;

/// Columns of a name and its rate side by side with others.
const CELL: usize = 38;

/// Draws the most important rates in two rows.
pub(super) fn short(rows: &mut Rows<'_>, model: &Model, view: &View) {
    for (word, shown) in SHORT {
        let cells = shown.iter().flat_map(|(name, of)| {
            let rate = model.rates.iter().find(|rate| rate.name == *of);
            [Span::raw(format!("{name} ")), number(rate, view, RATE - 1), Span::raw(" ")]
        });
        let mut line = whole([label(word, view.theme.label())].into_iter().chain(cells), rows.width());
        // A name whose number does not fit is removed.
        if line.spans.len() % 3 == 2 {
            line.spans.pop();
        }
        rows.line(&line);
    }
}

fn number(found: Option<&Rate>, view: &View, width: usize) -> Span<'static> {
    match found.and_then(|rate| rate.per_second) {
        Some(per_second) if per_second > 0.0 => {
            Span::styled(format!("{:>width$}", rate(per_second)), Theme::chosen())
        }
        Some(_) => Span::styled(format!("{:>width$}", "0"), view.theme.faint()),
        None => Span::styled(format!("{:>width$}", "-"), view.theme.faint()),
    }
}

/// Returns how many rows [`draw`] needs in `width` columns.
pub(super) fn rows_of(model: &Model, width: usize) -> usize {
    1 + model.rates.len().div_ceil(across(width))
}

fn across(width: usize) -> usize {
    (width / CELL).max(1)
}

/// Draws every rate, several in a row.
pub(super) fn draw(rows: &mut Rows<'_>, model: &Model, view: &View) {
    let width = rows.width();
    rows.line(&Line::styled(format!("{:width$}", "  changes a second"), view.theme.head()));
    let high = model.rates.len().div_ceil(across(width));
    for row in 0..high {
        let cells = model.rates.iter().skip(row).step_by(high.max(1)).flat_map(|rate| {
            let name = format!("  {:<w$}", rate.name, w = CELL - RATE - 6);
            [Span::raw(name), number(Some(rate), view, RATE + 4)]
        });
        rows.line(&whole(cells, width));
    }
}

/// Draws every rate in a row of its own, with its total and its meaning.
pub(super) fn page(rows: &mut Rows<'_>, model: &Model, view: &View) {
    let width = rows.width();
    let meaning_room = width.saturating_sub(NAME + RATE + 2 + TOTAL + 2);
    let head = format!("  {:<w$}{:>8}{:>TOTAL$}  meaning", "counter", "a second", "since boot", w = NAME - 2);
    rows.line(&Line::styled(format!("{head:width$}"), view.theme.head()));
    if model.rates.is_empty() {
        rows.line(&Line::raw("  - (/proc/vmstat cannot be read)"));
    }
    for known in &model.rates {
        let total = Figures::new(TOTAL, [FreeCount { blocks: known.total, capped: false }].into_iter());
        let rated = RATED.iter().find(|rated| rated.name == known.name);
        let mut meaning = wrap(rated.map_or("", |rated| rated.meaning), meaning_room).into_iter();
        let said = |text: String| Span::styled(format!("  {text}"), view.theme.faint());
        rows.line(&Line::from(vec![
            Span::raw(format!("  {:<w$}", known.name, w = NAME - 2)),
            number(Some(known), view, RATE + 2),
            Span::raw(total.number(known.total)),
            said(meaning.next().unwrap_or_default()),
        ]));
        for more in meaning {
            let before = Span::raw(" ".repeat(NAME + RATE + 2 + TOTAL));
            rows.line(&Line::from(vec![before, said(more)]));
        }
    }
}
