//! The page for terminals that know ASCII only.

use ratatui::buffer::Buffer;

/// What stands for what; everything else is a `*`.
const STANDS_FOR: [(&str, &str); 20] = [
    ("≥", ">"),
    ("µ", "u"),
    ("…", "."),
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

/// Replaces what is not ASCII, a character by a character, so that every column stays where it is.
pub(in crate::top) fn replace(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let known = STANDS_FOR.iter().find(|(symbol, _)| *symbol == cell.symbol());
            let blank = cell.symbol() == "\u{2800}" || ["▏", "▎", "▍"].contains(&cell.symbol());
            cell.set_symbol(known.map_or(if blank { " " } else { "*" }, |(_, ascii)| ascii));
        }
    }
}
