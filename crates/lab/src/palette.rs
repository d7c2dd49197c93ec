//! Colours of lines in pictures.

use plotters::style::RGBColor;

/// Colours that are distinguishable without colour vision (the palette of Okabe and Ito).
pub(crate) const COLOURS: [RGBColor; 8] = [
    RGBColor(213, 94, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 114, 178),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(102, 102, 102),
    RGBColor(0, 0, 0),
];

/// Returns the width of line `number` of `of` lines. Later lines are thinner, so that lines on top of each other stay
/// visible.
pub(crate) fn line_width(number: usize, of: usize) -> u32 {
    (1 + 2 * of.saturating_sub(number + 1)) as u32
}
