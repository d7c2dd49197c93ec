//! The property of the explainer: any log has an answer or none, each report's of at most 20 lines of 100 columns, and it
//! does not depend on the pieces in which the log is read.

use std::io::{self, Read};

use freehold_explain::{Answer, Log};

/// The most lines of the answer about one report, and the most columns.
const MAX_LINES: usize = 20;
const MAX_COLUMNS: usize = 100;

/// Gives a few bytes at a time.
struct Slow<'t>(&'t [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = buffer.len().min(61);
        self.0.read(&mut buffer[..size])
    }
}

/// Checks the property for these bytes.
///
/// # Panics
/// If the property is violated.
pub fn body(bytes: &[u8]) {
    let log = Log::read(bytes).expect("memory is readable");
    let Some(answer) = Answer::new(&log) else {
        assert!(log.nothing_found().contains("Looked for"));
        return;
    };
    let text = answer.text();
    for part in text.split("\n\n") {
        // The table of kinds stands before the first answer.
        let table = part.lines().filter(|line| {
            line.starts_with(' ') && line.trim_start().starts_with(|c: char| c.is_ascii_digit())
        });
        let head = if part.starts_with("Reports in this log") { 1 + table.count() } else { 0 };
        assert!(part.lines().count() <= MAX_LINES + head, "{part}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= MAX_COLUMNS), "{text}");
    let json = answer.json().to_string();
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok_and(|json| json.is_object()), "{json}");
    let slow = Log::read(Slow(bytes)).expect("memory is readable");
    assert!(Answer::new(&slow).is_some_and(|other| other.text() == text), "{text}");
}
