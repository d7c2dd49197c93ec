//! The messages of tests that are skipped, or find the machine too busy.

use std::fmt::Display;
use std::io::{self, Write};

/// Prints on standard error that `test` is skipped, with the reason.
///
/// The test harness hides the output of a passing test, but not this message.
pub fn skip(test: &str, why: impl Display) {
    // Without standard error the message is lost.
    let _ = writeln!(io::stderr(), "SKIPPED {test}: {why}");
}

/// Prints on standard error that the machine is too busy for `test` to judge, with the reason. The test then has no
/// result.
///
/// The test harness hides the output of a passing test, but not this message.
pub fn too_busy(test: &str, why: impl Display) {
    // Without standard error the message is lost.
    let _ = writeln!(io::stderr(), "TOO BUSY {test}: {why}");
}
