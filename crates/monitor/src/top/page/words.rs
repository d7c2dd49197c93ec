//! The pages of text: the help and the notes.

use ratatui::text::{Line, Span};

use crate::model::Model;
use crate::top::keys::{BINDINGS, Key};
use crate::top::text::rows::{Rows, fit, wrap};
use crate::top::theme::Theme;
use crate::top::view::View;

/// Columns of the names of keys.
const KEYS: usize = 18;

/// The meaning of the table's numbers, below the keys.
const WORDS: [(&str, &str); 5] = [
    ("avail", "blocks that the free ones of the order and above make up"),
    ("unusable", "share of free memory in smaller blocks: 0 best, 1 worst"),
    ("extfrag", "why it would fail: 0 lack of memory, 1 fragmentation"),
    ("map", ". free  m movable  x movable beside what stays  S what stays"),
    ("≥  ~", "the kernel stopped counting: at least this, about this"),
];

/// Draws the keys and the meaning of the numbers.
pub(super) fn help(rows: &mut Rows<'_>, view: &View) {
    let width = rows.width();
    let explain = |name: String, what: &str| {
        let text = fit(what, width.saturating_sub(KEYS + 2));
        Line::from(vec![Span::styled(format!("  {name:<KEYS$}"), Theme::chosen()), Span::raw(text)])
    };
    for binding in &BINDINGS {
        let names: Vec<_> = binding.keys.iter().map(|key: &Key| key.name()).collect();
        rows.line(&explain(names.join("  "), binding.does));
    }
    rows.line(&Line::styled(format!("{:width$}", "  numbers"), view.theme.head()));
    for (word, meaning) in WORDS {
        rows.line(&explain(word.to_owned(), meaning));
    }
}

/// Draws everything that could not be read: the reason, and what to do about it.
pub(super) fn notes(rows: &mut Rows<'_>, model: &Model, view: &View) {
    let width = rows.width();
    rows.line(&Line::styled(format!("{:width$}", "  notes"), view.theme.head()));
    if model.notes.is_empty() {
        rows.line(&Line::raw("  none: everything could be read"));
    }
    for note in &model.notes {
        for (at, text) in wrap(note, width.saturating_sub(4)).into_iter().enumerate() {
            let mark = if at == 0 { '-' } else { ' ' };
            rows.line(&Line::raw(format!("{mark:>2} {text}")));
        }
    }
}
