//! Escapes text from a machine, a trace or a file name, so that it cannot harm the reader's terminal.
//!
//! A terminal obeys control characters, and reorders text after a bidirectional control character. These characters are
//! never printed. An escape such as `\u{1b}` is printed instead.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns true if a terminal would obey `c` instead of showing it, or would reorder the text after it.
fn is_obeyed(c: char) -> bool {
    // Direction marks and controls, separators of lines and paragraphs, and characters without width.
    let unseen = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    c.is_control() || unseen
}

/// Escapes a text for one line, such as a name, a path or a message. Line ends and tabs become `\n`, `\r` and `\t`.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_, _| false, push_shown)
}

/// Escapes a text of several lines. Tabs and line ends are kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    let stays = |c, next| matches!(c, '\n' | '\t') || (c == '\r' && next == Some('\n'));
    escaped(text, stays, push_shown)
}

/// Escapes the strings of a JSON text. The JSON values do not change.
pub fn json(text: &str) -> Cow<'_, str> {
    // Outside strings, JSON has none of these characters except line ends and tabs.
    escaped(
        text,
        |c, _| c.is_ascii_whitespace(),
        |out, c| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing into a string never fails.
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

/// Replaces the characters that a terminal obeys. `stays` keeps a character; its second argument is the next character.
/// `push` writes the replacement.
fn escaped(
    text: &str,
    stays: impl Fn(char, Option<char>) -> bool,
    push: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if is_obeyed(c) && !stays(c, rest.clone().next()) { push(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

fn push_shown(out: &mut String, c: char) {
    out.extend(c.escape_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "a\u{1b}]0;title\u{7}\u{9b}2J\u{202e}b\u{200b}\r\tc\n";

    #[test]
    fn terminal_controls_are_escaped() {
        assert_eq!(one_line(NASTY), r"a\u{1b}]0;title\u{7}\u{9b}2J\u{202e}b\u{200b}\r\tc\n");
        assert_eq!(lines(NASTY), "a\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{202e}b\\u{200b}\\r\tc\n");
        assert_eq!(lines("a\r\nb\rc"), "a\r\nb\\rc", "as CSV has it");
        for c in ['\0'..='\u{1f}', '\u{7f}'..='\u{9f}', '\u{2066}'..='\u{2069}'].into_iter().flatten() {
            assert!(!one_line(&c.to_string()).contains(c), "{c:?}");
        }
    }

    #[test]
    fn harmless_text_is_unchanged() {
        let text = "Größe 1\u{202f}234 − \u{2026} 日本 \\ \"";
        assert!(matches!(one_line(text), Cow::Borrowed(same) if same == text));
        assert!(matches!(lines("a\n\tb\n"), Cow::Owned(same) if same == "a\n\tb\n"));
    }

    #[test]
    fn json_keeps_its_values() {
        let value = serde_json::json!({ NASTY: ["\u{e0041}", "\u{7f}"] });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let safe = json(&text);
        assert!(!safe.chars().any(|c| is_obeyed(c) && c != '\n'), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}
