//! The rows of the screen, and texts that fit into them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Columns before the numbers of a labelled line.
pub(in crate::top) const LABEL: usize = 10;

/// An area that is filled row by row from the top.
pub(in crate::top) struct Rows<'a> {
    buffer: &'a mut Buffer,
    rest: Rect,
}

impl<'a> Rows<'a> {
    pub(in crate::top) fn new(buffer: &'a mut Buffer, area: Rect) -> Self {
        Self { rest: area.intersection(buffer.area), buffer }
    }

    /// Returns the number of columns.
    pub(in crate::top) fn width(&self) -> usize {
        usize::from(self.rest.width)
    }

    /// Returns the number of rows left.
    pub(in crate::top) fn left(&self) -> usize {
        usize::from(self.rest.height)
    }

    /// Fills the next row; does nothing if none is left.
    pub(in crate::top) fn line(&mut self, line: &Line<'_>) {
        let row = self.take(1);
        if row.height > 0 {
            self.buffer.set_line(row.x, row.y, line, row.width);
        }
    }

    /// Fills the next row with a bar over the whole width.
    pub(in crate::top) fn bar(&mut self, line: &Line<'_>, style: Style) {
        self.buffer.set_style(Rect { height: self.rest.height.min(1), ..self.rest }, style);
        self.line(line);
    }

    /// Takes the next `rows` rows for other drawing.
    pub(in crate::top) fn take(&mut self, rows: usize) -> Rect {
        let height = rows.min(self.left()) as u16;
        let taken = Rect { height, ..self.rest };
        self.rest.y += height;
        self.rest.height -= height;
        taken
    }

    /// Takes the last `rows` rows for other drawing.
    pub(in crate::top) fn keep_for_last(&mut self, rows: usize) -> Rect {
        let height = rows.min(self.left()) as u16;
        self.rest.height -= height;
        Rect { y: self.rest.y + self.rest.height, height, ..self.rest }
    }

    /// Returns the buffer to draw on.
    pub(in crate::top) fn buffer(&mut self) -> &mut Buffer {
        self.buffer
    }
}

/// Returns as many whole words of a text as fit into `width` characters, with `…` if words are left out.
pub(in crate::top) fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let room: String = text.chars().take(width.saturating_sub(1)).collect();
    let cut_in_word = text.chars().nth(room.chars().count()).is_some_and(|next| next != ' ');
    let whole = if cut_in_word { room.rsplit_once(' ').map_or("", |(words, _)| words) } else { &room };
    if width == 0 { String::new() } else { format!("{}…", whole.trim_end()) }
}

/// Breaks a text into lines of whole words; words longer than a line are broken.
pub(in crate::top) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut letters = word.chars().peekable();
        while letters.peek().is_some() {
            let piece: String = letters.by_ref().take(width).collect();
            let used = lines.last().map_or(0, |line| line.chars().count());
            let blank = usize::from(used > 0);
            if used + blank + piece.chars().count() > width {
                lines.push(piece);
            } else if let Some(line) = lines.last_mut() {
                line.extend((blank > 0).then_some(' '));
                line.push_str(&piece);
            }
        }
    }
    lines
}

/// Returns as many of the pieces as fit into `width`, none of them cut.
pub(in crate::top) fn whole<'a>(pieces: impl IntoIterator<Item = Span<'a>>, width: usize) -> Line<'a> {
    let mut line = Line::default();
    let mut used = 0;
    for piece in pieces {
        used += piece.width();
        if used > width {
            break;
        }
        line.push_span(piece);
    }
    line
}

/// Returns a line with `left` at the left edge and `right` at the right edge. If both do not fit, `right`
/// is left out.
pub(in crate::top) fn both<'a>(left: Line<'a>, right: Line<'a>, width: usize) -> Line<'a> {
    let free = width.saturating_sub(left.width());
    if right.width() + 2 > free {
        return left;
    }
    let gap = free - right.width();
    let mut line = left;
    line.push_span(Span::raw(" ".repeat(gap)));
    line.spans.extend(right.spans);
    line
}

/// Returns the word before a line's numbers.
pub(in crate::top) fn label(word: &'static str, style: Style) -> Span<'static> {
    Span::styled(format!("{word:LABEL$}"), style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        assert_eq!(fit("free blocks by type", 19), "free blocks by type");
        assert_eq!(fit("free blocks by type", 15), "free blocks by…");
        assert_eq!(fit("free blocks by type", 14), "free blocks…");
        assert_eq!(fit("unbreakable", 5), "…");
        assert_eq!(fit("word", 0), "");
    }

    #[test]
    fn wrapped_lines_fit_and_lose_nothing() {
        let text = "the first words and averyveryverylongone that follows";
        for width in 1..60 {
            let lines = wrap(text, width);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:?}");
            let letters = |text: &str| text.chars().filter(|letter| *letter != ' ').collect::<String>();
            assert_eq!(letters(&lines.concat()), letters(text));
        }
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn pieces_stay_whole() {
        let pieces = || ["alloc 12", " free 34", " scan 5"].map(Span::raw);
        assert_eq!(whole(pieces(), 16).to_string(), "alloc 12 free 34");
        assert_eq!(whole(pieces(), 15).to_string(), "alloc 12");
        assert_eq!(both(Line::raw("left"), Line::raw("right"), 12).to_string(), "left   right");
        assert_eq!(both(Line::raw("left"), Line::raw("right"), 10).to_string(), "left");
    }
}
