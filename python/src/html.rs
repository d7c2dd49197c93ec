//! Text for notebooks.

use freehold_measure::foreign;

/// Escapes a text for HTML.
pub(super) fn escaped(text: &str) -> String {
    foreign::lines(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
