//! Text that comes from a machine, a trace or a file's name, made harmless for whoever reads it.
//!
//! A terminal obeys control characters, and shows text after a bidirectional control in another order than it stands.
//! None of them is ever printed: in their place stands what they are, as `\u{1b}`.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns true if a terminal would obey `c` instead of showing it, or would show what follows in another order.
fn is_obeyed(c: char) -> bool {
    // The marks and controls of direction, the separators of lines and paragraphs, and characters without width.
    let unseen = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    c.is_control() || unseen
}

/// Returns a text of one line: a name, a path, a message. Ends of lines and tabs are shown as `\n`, `\r` and `\t`.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_, _| false, push_shown)
}

/// Returns a text of several lines. Tabs and ends of lines stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    let stays = |c, next| matches!(c, '\n' | '\t') || (c == '\r' && next == Some('\n'));
    escaped(text, stays, push_shown)
}

/// Returns JSON in which no string holds such a character as it is; the values are the same.
pub fn json(text: &str) -> Cow<'_, str> {
    // Outside strings JSON has no such characters but ends of lines and tabs.
    escaped(
        text,
        |c, _| c.is_ascii_whitespace(),
        |out, c| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing into a string does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

/// Replaces by `push` the characters that are obeyed, but for those that `stays`, which is told the next one.
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
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(one_line(NASTY), r"a\u{1b}]0;title\u{7}\u{9b}2J\u{202e}b\u{200b}\r\tc\n");
        assert_eq!(lines(NASTY), "a\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{202e}b\\u{200b}\\r\tc\n");
        assert_eq!(lines("a\r\nb\rc"), "a\r\nb\\rc", "as CSV has it");
        for c in ['\0'..='\u{1f}', '\u{7f}'..='\u{9f}', '\u{2066}'..='\u{2069}'].into_iter().flatten() {
            assert!(!one_line(&c.to_string()).contains(c), "{c:?}");
        }
    }

    #[test]
    fn what_is_harmless_stays() {
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
