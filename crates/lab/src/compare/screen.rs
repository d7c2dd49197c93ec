//! A summary as text that fits a screen.

use super::summary::{Section, Summary};

/// The indent of the clauses of a list.
const BULLET: &str = "    ";

/// The width of a screen in characters, and its height in lines.
pub const SCREEN: (usize, usize) = (100, 40);

impl Summary {
    /// Returns the summary below a headline, as text that fits on a screen.
    pub fn to_screen(mut self, headline: String) -> String {
        let (width, height) = SCREEN;
        self.sections.insert(0, Section { title: headline, ..Section::default() });
        self.to_text(width, height)
    }

    /// Returns the summary as at most `height` lines of at most `width` characters. Shortens lists that do not fit, the
    /// longest first.
    ///
    /// Words are never split: a word longer than `width` gets its own line.
    pub fn to_text(&self, width: usize, height: usize) -> String {
        let longest =
            self.sections.iter().flat_map(|section| &section.lists).map(|(_, clauses)| clauses.len());
        let most = longest.max().unwrap_or(0);
        let of = |most| self.lines(width, most);
        let fitting = (1..=most).rev().map(of).find(|lines| lines.len() <= height);
        fitting.unwrap_or_else(|| of(0)).join("\n")
    }

    /// Returns the lines with at most `most` clauses of each list.
    fn lines(&self, width: usize, most: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for section in &self.sections {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(wrapped(&section.title, "", width));
            lines.extend(section.lines.iter().flat_map(|line| wrapped(line, "  ", width)));
            lists(section, width, most, &mut lines);
            if let Some(table) = &section.table {
                let text = table.to_text();
                let narrow = |line: &str| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned();
                lines.extend(text.lines().map(narrow));
            }
        }
        lines
    }
}

fn lists(section: &Section, width: usize, most: usize, lines: &mut Vec<String>) {
    for (name, clauses) in &section.lists {
        let left_out = clauses.len().saturating_sub(most);
        let more = if left_out > 0 { format!(" (and {left_out} more)") } else { String::new() };
        lines.extend(wrapped(&format!("{name}{more}"), "  ", width));
        lines.extend(clauses.iter().take(most).flat_map(|clause| wrapped(clause, BULLET, width)));
    }
}

/// Wraps a text between words, so that no line is longer than `width` characters, indent included. Lines after the
/// first have a larger indent.
fn wrapped(text: &str, indent: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = indent.to_owned();
    let mut is_empty = true;
    // Thin spaces within numbers do not separate words.
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, format!("{indent}  ")));
            is_empty = true;
        }
        line += if is_empty { "" } else { " " };
        line += word;
        is_empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_not_in_numbers() {
        let number = "1\u{202f}234";
        assert_eq!(
            wrapped(&format!("ab {number} de"), " ", 10),
            [format!(" ab {number}"), "   de".to_owned()]
        );
        assert_eq!(wrapped("wider-than-the-text b", "", 5), ["wider-than-the-text", "  b"]);
    }

    #[test]
    fn a_full_screen_omits_the_least_important_clauses() {
        let clauses = |count: usize| (0..count).map(|number| format!("clause {number}")).collect::<Vec<_>>();
        let lists = vec![("a → b".to_owned(), clauses(9)), ("b → c".to_owned(), clauses(2))];
        let section = Section { title: "All".to_owned(), lists, ..Section::default() };
        let summary = Summary { sections: vec![section] };
        assert_eq!(summary.to_text(80, 40).lines().count(), 3 + 11);
        let text = summary.to_text(80, 7);
        assert_eq!(text.lines().count(), 7, "{text}");
        assert!(
            text.contains("a → b (and 7 more)") && text.contains("clause 1") && !text.contains("clause 2")
        );
    }
}
