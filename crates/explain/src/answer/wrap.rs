//! Lines of at most 100 columns.

/// The most columns of a line.
const COLUMNS: usize = 100;

/// Returns a text as lines behind a label. Further lines are indented.
pub(super) fn wrapped(label: &str, text: &str) -> Vec<String> {
    let mut lines = vec![label.trim_end().to_owned()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("one line at least");
        let is_first = last.trim().is_empty();
        let columns = last.chars().count() + word.chars().count() + usize::from(!is_first);
        if columns > COLUMNS && !is_first {
            lines.push(cut(format!("{}{word}", if label.is_empty() { "" } else { "  " })));
            continue;
        }
        if !is_first {
            last.push(' ');
        }
        last.push_str(word);
        *last = cut(std::mem::take(last));
    }
    lines
}

/// Returns a text as lines that are all indented.
pub(super) fn indented(text: &str) -> Vec<String> {
    // The blanks that a label leaves are part of the columns.
    let lines = wrapped("-", text);
    lines
        .iter()
        .enumerate()
        .map(|(number, line)| if number == 0 { format!(" {}", &line[1..]) } else { format!("  {line}") })
        .map(cut)
        .collect()
}

/// Returns a line, its end replaced by `…` if it is too long.
pub(super) fn cut(line: String) -> String {
    if line.chars().count() <= COLUMNS {
        return line;
    }
    line.chars().take(COLUMNS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_wrapped() {
        let lines = wrapped("Label: ", &"word ".repeat(30));
        assert!(
            lines.len() == 2 && lines[0].starts_with("Label: word word") && lines[1].starts_with("  word")
        );
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS));
        assert_eq!(wrapped("", &"é".repeat(300))[0].chars().count(), COLUMNS);
        assert_eq!(wrapped("", ""), [""]);
    }
}
