//! Finds the function or struct around each hunk of `diff -U0`.

use std::fs;
use std::path::Path;

use crate::kernel::process::{command, require};
use crate::series::error::{SeriesError, SeriesResult};
use crate::series::place::{TOP, is_name};

/// Returns the holders of the hunks between two files, in order, by the lines of the first file.
pub(super) fn changed(before: &Path, after: &Path) -> SeriesResult<Vec<String>> {
    require("diff", "diffutils")?;
    let failed = |said: String| SeriesError::Failed { command: "diff".to_owned(), said };
    let output = command("diff").arg("-U0").arg("--").args([before, after]).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.code().is_none_or(|code| code > 1) {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let text = fs::read_to_string(before).map_err(SeriesError::file(before))?;
    let holders = holders(&text);
    let diff = String::from_utf8_lossy(&output.stdout);
    Ok(diff.lines().filter_map(hunk).map(|hunk| hunk.holder(&holders)).collect())
}

/// The old side of a hunk: its first line, from 1, and the number of lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OldSide {
    start: usize,
    lines: usize,
}

fn hunk(line: &str) -> Option<OldSide> {
    let words = line.strip_prefix("@@ -")?.split(' ').next()?;
    let (start, lines) = words.split_once(',').unwrap_or((words, "1"));
    Some(OldSide { start: start.parse().ok()?, lines: lines.parse().ok()? })
}

impl OldSide {
    /// Returns the holder. Added lines belong to a function if the lines around them do.
    fn holder(self, holders: &[Option<String>]) -> String {
        let at = |line: usize| line.checked_sub(1).and_then(|line| holders.get(line)?.as_deref());
        let holder = match self.lines {
            0 => at(self.start).filter(|holder| at(self.start + 1) == Some(holder)),
            _ => at(self.start),
        };
        holder.unwrap_or(TOP).to_owned()
    }
}

/// A definition that has started.
struct Open {
    start: usize,
    holder: String,
    has_body: bool,
}

/// Returns the holder of each line: a definition holds the lines from its first one to its closing brace.
///
/// This relies on the kernel's style: definitions start, and their braces close, in the first column.
fn holders(text: &str) -> Vec<Option<String>> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut holders = vec![None; lines.len()];
    let mut open: Option<Open> = None;
    for (number, line) in lines.iter().enumerate() {
        if !open.as_ref().is_some_and(|open| open.has_body) && starts_word(line) {
            open = definition(line).map(|holder| {
                let typed = number.checked_sub(1).filter(|before| is_type_alone(lines[*before]));
                Open { start: typed.unwrap_or(number), holder, has_body: false }
            });
        }
        let Some(begun) = &mut open else { continue };
        let is_closed = if begun.has_body {
            line.starts_with('}')
        } else {
            begun.has_body = line.ends_with('{');
            line.contains('{') && line.trim_end_matches(';').ends_with('}')
        };
        if is_closed {
            holders[begun.start..=number].fill(Some(begun.holder.clone()));
        }
        // This was a declaration or a macro call.
        if is_closed || (!begun.has_body && line.ends_with(';')) {
            open = None;
        }
    }
    holders
}

fn starts_word(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Returns true if a line can be a return type on a line of its own, before the function's name.
fn is_type_alone(line: &str) -> bool {
    starts_word(line) && !line.contains('(') && !line.ends_with([';', ':', '}', '{', ','])
}

/// Returns the name of the function or struct that a line starts to define.
fn definition(line: &str) -> Option<String> {
    let line = line.split('=').next().unwrap_or_default();
    if let Some((before, _)) = line.trim_start_matches("typedef ").split_once('{')
        && let Some(name) = before.strip_prefix("struct ")
        && !before.contains('(')
    {
        return Some(format!("struct {}", name.split_whitespace().next()?));
    }
    let mut calls = line.match_indices('(').filter_map(|(at, _)| {
        let before = &line[..at];
        let name =
            &before[before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |i| i + 1)..];
        (is_name(name) && !["__attribute__", "__printf", "__aligned", "__section"].contains(&name))
            .then_some(name)
    });
    calls.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#include <x.h>\n\
        struct shelf {\n\
        \tint books;\n\
        };\n\
        \n\
        static int count(struct shelf *shelf);\n\
        static const struct shelf empty = {\n\
        \t.books = zero(0),\n\
        };\n\
        static struct shelf *\n\
        first(struct shelf *shelf,\n\
        \tint from)\n\
        {\n\
        #ifdef X\n\
        again:\n\
        \treturn shelf;\n\
        }\n\
        EXPORT_SYMBOL(first);\n\
        \n\
        static inline int none(void) { return 0; }\n\
        void __init last(void) {\n\
        \tcount(0);\n\
        }\n";

    fn holder(line: usize) -> String {
        OldSide { start: line, lines: 1 }.holder(&holders(TEXT))
    }

    #[test]
    fn lines_belong_to_the_function_or_struct_around_them() {
        let found: Vec<_> = (1..=24).map(holder).collect();
        let (s, f, t) = ("struct shelf", "first", TOP);
        let wanted =
            [t, s, s, s, t, t, t, t, t, f, f, f, f, f, f, f, f, t, t, "none", "last", "last", "last", t];
        assert_eq!(found, wanted);
    }

    #[test]
    fn added_lines_belong_to_the_enclosing_definition() {
        let holders = holders(TEXT);
        let added = |start| OldSide { start, lines: 0 }.holder(&holders);
        assert_eq!((added(0), added(1), added(2)), (TOP.into(), TOP.into(), "struct shelf".into()));
        assert_eq!((added(16), added(17), added(20)), ("first".into(), TOP.into(), TOP.into()));
    }

    #[test]
    fn hunks_are_read_from_a_diff() {
        assert_eq!(hunk("@@ -12 +13,2 @@ int x"), Some(OldSide { start: 12, lines: 1 }));
        assert_eq!(hunk("@@ -12,0 +13 @@"), Some(OldSide { start: 12, lines: 0 }));
        assert_eq!(hunk("-@@ no"), None);
    }
}
