//! A line chart, and the size of its parts.

use serde::Serialize;

/// The size of one picture in CSS pixels, without the names below its points.
pub(super) const SIZE: (u32, u32) = (960, 336);

/// The width of the legend.
pub(super) const LEGEND: u32 = 280;

/// The height of a line of the legend.
pub(super) const LEGEND_LINE: i32 = 18;

/// The size of letters, and the greatest width of one.
pub(super) const FONT: i32 = 12;
const LETTER: f64 = 6.5;

/// A line chart over named points, with a logarithmic vertical scale.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The label of the vertical axis, with its unit.
    pub height: String,
    /// The points from left to right.
    pub points: Vec<String>,
    /// The lines: a name, and a value for each point.
    pub lines: Vec<(String, Vec<f64>)>,
}

impl Chart {
    /// Returns true if the names of the points fit side by side.
    pub(super) fn has_room(&self) -> bool {
        let room = f64::from(SIZE.0 - LEGEND - 96) / self.points.len().max(1) as f64;
        self.longest_name() < room
    }

    fn longest_name(&self) -> f64 {
        let letters = self.points.iter().map(|name| name.chars().count()).max();
        letters.unwrap_or(0) as f64 * LETTER
    }

    /// Returns the height for the names of the points.
    pub(super) fn label_height(&self) -> u32 {
        if self.has_room() { 24 } else { 16 + self.longest_name() as u32 }
    }

    pub(super) fn total_height(&self) -> u32 {
        let names = 72 + self.lines.len() as u32 * LEGEND_LINE as u32;
        (SIZE.1 + self.label_height()).max(names)
    }
}
