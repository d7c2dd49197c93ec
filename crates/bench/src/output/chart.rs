//! Lines over points that have names, and how much room they take.

use serde::Serialize;

/// Size of one picture in CSS pixels, what is below its points left out.
pub(super) const SIZE: (u32, u32) = (960, 336);

/// How much of its width has the names of the lines.
pub(super) const LEGEND: u32 = 280;

/// Height of one of those.
pub(super) const LEGEND_LINE: i32 = 18;

/// Size of the letters, and how wide one is at most.
pub(super) const FONT: i32 = 12;
const LETTER: f64 = 6.5;

/// Lines over points that have names; the height is a logarithmic scale.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What the height is, with its unit.
    pub height: String,
    /// The points from left to right.
    pub points: Vec<String>,
    /// The lines: a name, and a value a point.
    pub lines: Vec<(String, Vec<f64>)>,
}

impl Chart {
    /// Returns true if the names of the points have room side by side.
    pub(super) fn has_room(&self) -> bool {
        let room = f64::from(SIZE.0 - LEGEND - 96) / self.points.len().max(1) as f64;
        self.longest_name() < room
    }

    fn longest_name(&self) -> f64 {
        let letters = self.points.iter().map(|name| name.chars().count()).max();
        letters.unwrap_or(0) as f64 * LETTER
    }

    /// Returns room for the names of the points.
    pub(super) fn label_height(&self) -> u32 {
        if self.has_room() { 24 } else { 16 + self.longest_name() as u32 }
    }

    pub(super) fn total_height(&self) -> u32 {
        let names = 72 + self.lines.len() as u32 * LEGEND_LINE as u32;
        (SIZE.1 + self.label_height()).max(names)
    }
}
