//! The page for terminals with ASCII only.

use ratatui::buffer::Buffer;

/// Characters and their replacements; every other character becomes `*`.
const STANDS_FOR: [(&str, &str); 22] = [
    ("≥", ">"),
    ("µ", "u"),
    ("…", "."),
    ("↑", "^"),
    ("↓", "v"),
    ("×", "x"),
    ("─", "-"),
    ("│", "|"),
    ("┌", "+"),
    ("└", "+"),
    ("┐", "+"),
    ("┘", "+"),
    ("┼", "+"),
    ("┤", "+"),
    ("▁", "_"),
    ("▂", "."),
    ("▃", ":"),
    ("▄", "-"),
    ("▅", "="),
    ("▆", "+"),
    ("▇", "%"),
    ("█", "#"),
];

/// Replaces each character that is not ASCII by one that is, so that columns keep their places.
pub(in crate::top) fn replace(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let known = STANDS_FOR.iter().find(|(symbol, _)| *symbol == cell.symbol());
            let blank = cell.symbol() == "\u{2800}" || ["▏", "▎", "▍"].contains(&cell.symbol());
            cell.set_symbol(known.map_or(if blank { " " } else { "*" }, |(_, ascii)| ascii));
        }
    }
}
