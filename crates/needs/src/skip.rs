//! The messages that a test is skipped or judges nothing.

use std::fmt::Display;
use std::io::{self, Write};

/// Prints on standard error that `test` is skipped, and why.
///
/// The test harness hides what a passing test prints; it does not hide this message.
pub fn skip(test: &str, why: impl Display) {
    // Without standard error the message is lost.
    let _ = writeln!(io::stderr(), "SKIPPED {test}: {why}");
}

/// Prints on standard error that the machine is too busy for `test` to judge, and why. This is no result of the test.
///
/// The test harness hides what a passing test prints; it does not hide this message.
pub fn too_busy(test: &str, why: impl Display) {
    // Without standard error the message is lost.
    let _ = writeln!(io::stderr(), "TOO BUSY {test}: {why}");
}
