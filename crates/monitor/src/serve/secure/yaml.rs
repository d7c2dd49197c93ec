//! Mappings of texts in YAML, with the line of each key.

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};

/// A key and its value.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) value: Value,
}

/// What stands behind a key.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// A text; empty if there is nothing.
    Text(String),
    /// A mapping of the second level.
    Mapping(Vec<Entry>),
}

/// What is wrong, and in which line.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Flaw {
    pub(super) line: usize,
    pub(super) what: String,
}

impl Flaw {
    pub(super) fn new(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }
}

/// Returns the mapping that a text is; an empty text is an empty one.
///
/// # Errors
/// Anything that is no mapping of texts and of mappings of texts, and a key that comes twice.
pub(super) fn mapping(text: &str) -> Result<Vec<Entry>, Flaw> {
    let mut reader = Reader { events: Parser::new_from_str(text), line: 1 };
    let entries = match reader.next()? {
        None => return Ok(Vec::new()),
        Some(Event::Scalar(value, style, ..)) if is_nothing(&value, style) => Vec::new(),
        Some(Event::MappingStart(..)) => reader.entries(true)?,
        Some(_) => return Err(reader.flaw("names with values are expected, such as `basic_auth_users:`")),
    };
    match reader.next()? {
        None => Ok(entries),
        Some(_) => Err(reader.flaw("a second document begins; one is expected")),
    }
}

/// Returns true if a value is YAML's word for none, which the parser has where nothing is written, too.
fn is_nothing(value: &str, style: ScalarStyle) -> bool {
    style == ScalarStyle::Plain && matches!(value, "" | "~" | "null")
}

struct Reader<I> {
    events: I,
    /// The line of the last event.
    line: usize,
}

impl<'t, I: Iterator<Item = Result<(Event<'t>, Span), ScanError>>> Reader<I> {
    /// Returns the next event that stands for something in the text; `None` at the end.
    fn next(&mut self) -> Result<Option<Event<'t>>, Flaw> {
        for event in self.events.by_ref() {
            let (event, span) = event.map_err(|error| {
                Flaw::new(error.marker().line(), format!("this is no YAML: {}", error.info()))
            })?;
            self.line = span.start.line();
            match event {
                Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {}
                other => return Ok(Some(other)),
            }
        }
        Ok(None)
    }

    /// Returns the entries up to the end of a mapping, which may be mappings themselves if `deep`.
    fn entries(&mut self, deep: bool) -> Result<Vec<Entry>, Flaw> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let key = match self.next()? {
                Some(Event::MappingEnd) => return Ok(entries),
                Some(Event::Scalar(key, ..)) => key.into_owned(),
                _ => return Err(self.flaw("a name is expected")),
            };
            let line = self.line;
            if entries.iter().any(|entry| entry.key == key) {
                return Err(Flaw::new(line, format!("`{key}` comes twice")));
            }
            let value = match self.next()? {
                Some(Event::Scalar(value, style, ..)) if is_nothing(&value, style) => {
                    Value::Text(String::new())
                }
                Some(Event::Scalar(value, ..)) => Value::Text(value.into_owned()),
                Some(Event::MappingStart(..)) if deep => Value::Mapping(self.entries(false)?),
                _ => {
                    return Err(Flaw::new(
                        line,
                        format!("`{key}` has a value of another kind than expected"),
                    ));
                }
            };
            entries.push(Entry { key, line, value });
        }
    }

    fn flaw(&self, what: &str) -> Flaw {
        Flaw::new(self.line, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_levels_are_read_with_their_lines() {
        let text = "# who may\na:\n  b: 'c: d'\n  \"e\": f\ng: h # i\nj:\nk: \"~\"\nl: null\n";
        let entry = |key: &str, line, value| Entry { key: key.to_owned(), line, value };
        let text_of = |text: &str| Value::Text(text.to_owned());
        let expected = vec![
            entry("a", 2, Value::Mapping(vec![entry("b", 3, text_of("c: d")), entry("e", 4, text_of("f"))])),
            entry("g", 5, text_of("h")),
            entry("j", 6, text_of("")),
            entry("k", 7, text_of("~")),
            entry("l", 8, text_of("")),
        ];
        assert_eq!(mapping(text), Ok(expected));
        assert_eq!(mapping(""), Ok(Vec::new()));
        assert_eq!(mapping("# nothing\n"), Ok(Vec::new()));
    }

    #[test]
    fn everything_else_is_a_flaw_in_a_line() {
        for (text, line) in [
            ("- a\n", 1),
            ("text\n", 1),
            ("a: b\na: c\n", 2),
            ("a:\n  b:\n    c: d\n", 2),
            ("a: [1]\n", 1),
            ("a: b\n---\nc: d\n", 3),
            ("a: 'b\n", 1),
            ("a: *b\n", 1),
        ] {
            let flaw = mapping(text).expect_err(text);
            assert!(flaw.line >= line && flaw.line <= line + 1, "{text:?}: {flaw:?}");
        }
    }
}
