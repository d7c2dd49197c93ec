//! The pictures of a report as SVG documents.

mod blocks;
mod fallbacks;
mod holds;
mod map;

use freehold::Migratetype;
use freehold_measure::grouped;
use plotters::prelude::*;

use super::traced::TraceReport;
use crate::LabError;
use crate::picture::unusable_index;

/// Why a picture could not be drawn.
type Trouble = Box<dyn std::error::Error>;

/// Colours that are told apart also without colour vision (Okabe and Ito's palette).
const COLOURS: [RGBColor; 8] = [
    RGBColor(213, 94, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 114, 178),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(102, 102, 102),
    RGBColor(0, 0, 0),
];

/// Every picture of a trace with its name, without an ending.
pub(super) fn pictures(report: &TraceReport) -> Result<Vec<(String, String)>, LabError> {
    let eras = &report.comparison.eras;
    let drawn =
        |svg: Result<String, Trouble>| svg.map_err(|error| LabError::Picture { what: error.to_string() });
    let mut pictures = Vec::new();
    for zone in &report.zones {
        let svg = unusable_index(eras, zone.place(), report.pageblock_order)?;
        pictures.push((format!("unusable-index-{}", file_name(&zone.name)), svg));
    }
    if let Some(zone) = report.main_zone() {
        for era in eras {
            let name = format!("free-blocks-{}-{}", file_name(&zone.name), file_name(&era.variant));
            pictures.push((name, drawn(blocks::picture(report, era, zone))?));
        }
    }
    pictures.push(("lock-holds-time".to_owned(), drawn(holds::picture(eras, holds::Size::Time))?));
    pictures.push(("lock-holds-touched".to_owned(), drawn(holds::picture(eras, holds::Size::Touched))?));
    pictures.push(("fallbacks".to_owned(), drawn(fallbacks::picture(report))?));
    for era in eras {
        pictures.push((format!("pageblocks-{}", file_name(&era.variant)), map::picture(report, era)));
    }
    Ok(pictures)
}

/// A name as a part of a file's.
fn file_name(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-', "-").to_lowercase()
}

/// The colour of a type: as on the page.
fn colour_of(kind: Migratetype) -> RGBColor {
    COLOURS[match kind {
        Migratetype::Unmovable => 0,
        Migratetype::Movable => 2,
        Migratetype::Reclaimable => 1,
        Migratetype::HighAtomic => 5,
        Migratetype::Cma => 4,
        Migratetype::Isolate => 6,
    }]
}

/// A number on an axis.
fn mark(value: f64) -> String {
    if value.fract().abs() > 0.01 { format!("{value:.1}") } else { grouped(value.round() as u64) }
}

/// How wide the line of a series is: each later one is thinner, so that lines that lie on each
/// other all show.
fn line_width(number: usize, of: usize) -> u32 {
    (1 + 2 * of.saturating_sub(number + 1)) as u32
}

/// The line of a legend.
fn swatch(colour: RGBColor) -> impl Fn((i32, i32)) -> Rectangle<(i32, i32)> {
    move |(x, y)| Rectangle::new([(x, y - 4), (x + 14, y + 4)], colour.filled())
}
