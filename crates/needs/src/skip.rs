//! The message that a test is skipped.

use std::fmt::Display;
use std::io::{self, Write};

/// Prints on standard error that `test` is skipped, and why.
///
/// The test harness hides what a passing test prints; it does not hide this message.
pub fn skip(test: &str, why: impl Display) {
    // Without standard error the message is lost.
    let _ = writeln!(io::stderr(), "SKIPPED {test}: {why}");
}
