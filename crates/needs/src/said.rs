//! What is said of a test that is skipped.

use std::fmt::Display;
use std::io::{self, Write};

/// Says on standard error that `test` is skipped, and why.
///
/// The test harness keeps back what a test prints unless it fails; this it does not keep back.
pub fn skip(test: &str, why: impl Display) {
    // Without standard error there is nobody to tell.
    let _ = writeln!(io::stderr(), "SKIPPED {test}: {why}");
}
