//! Text for notebooks.

use freehold_measure::foreign;

/// Returns a text that a browser shows as it is.
pub(super) fn escaped(text: &str) -> String {
    foreign::lines(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
