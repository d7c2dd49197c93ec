//! Styles that the pictures of a report share.

use freehold::Migratetype;
use freehold_measure::grouped;
use plotters::prelude::*;

use crate::palette::COLOURS;

/// An error of drawing a picture.
pub(super) type Trouble = Box<dyn std::error::Error>;

/// Returns the colour of a type. The page has the same colours.
pub(super) fn colour_of(kind: Migratetype) -> RGBColor {
    COLOURS[match kind {
        Migratetype::Unmovable => 0,
        Migratetype::Movable => 2,
        Migratetype::Reclaimable => 1,
        Migratetype::HighAtomic => 5,
        Migratetype::Cma => 4,
        Migratetype::Isolate => 6,
    }]
}

/// Returns a number as the label of an axis.
pub(super) fn mark(value: f64) -> String {
    if value.fract().abs() > 0.01 { format!("{value:.1}") } else { grouped(value.round() as u64) }
}

/// Returns the mark of a line in a legend.
pub(super) fn swatch(colour: RGBColor) -> impl Fn((i32, i32)) -> Rectangle<(i32, i32)> {
    move |(x, y)| Rectangle::new([(x, y - 4), (x + 14, y + 4)], colour.filled())
}
