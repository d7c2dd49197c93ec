//! The pageblock map at the start and at the end, side by side.

use std::fmt::Write;

use freehold::Migratetype;

use super::style::colour_of;
use crate::replay::{MapCell, Measures, ReplaySample};
use crate::report::trace_report::TraceReport;

/// The edge of a cell in CSS pixels.
const EDGE: usize = 4;
/// The number of cells in a row of a map.
const COLUMNS: usize = 128;
/// The margin around and between the maps.
const MARGIN: usize = 16;
/// The height of a line of text.
const LINE: usize = 22;

/// Returns the picture. The colour of a cell is that of the pageblock's type, and paler if more of the pageblock is
/// free. Mixed pageblocks have a dark dash.
pub(super) fn picture(report: &TraceReport, era: &Measures) -> String {
    let mapped: Vec<_> = era.samples.iter().filter(|sample| sample.map.is_some()).collect();
    let ends: Vec<_> = mapped.first().into_iter().chain(mapped.last()).collect();
    let (mut body, mut height) = (String::new(), 0);
    for ((sample, when), column) in ends.iter().zip(["start", "end"]).zip(0..) {
        let left = MARGIN + column * (COLUMNS * EDGE + MARGIN);
        let mut top = MARGIN + LINE;
        text(&mut body, left, top, &format!("{}, {when}", era.variant));
        for zone in &report.zones {
            top += LINE;
            text(&mut body, left, top, &format!("zone {}", zone.name));
            top += 6;
            top += cells(&mut body, left, top, cells_of(sample, zone.rank));
        }
        height = height.max(top);
    }
    height += LINE;
    legend(&mut body, height);
    let width = 2 * COLUMNS * EDGE + 3 * MARGIN;
    let height = height + LINE;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\" shape-rendering=\"crispEdges\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

fn cells_of(sample: &ReplaySample, rank: usize) -> &[MapCell] {
    sample.map.as_ref().and_then(|map| map.zones.get(rank)).map_or(&[], Vec::as_slice)
}

/// Draws the cells. Returns their height.
fn cells(body: &mut String, left: usize, top: usize, cells: &[MapCell]) -> usize {
    for (row, cells) in cells.chunks(COLUMNS).enumerate() {
        let y = top + row * EDGE;
        let mut column = 0;
        for run in cells.chunk_by(|one, next| one == next) {
            if let Some(kind) = run[0].migratetype() {
                let x = left + column * EDGE;
                let width = run.len() * EDGE;
                let _ = writeln!(
                    body,
                    "<path fill=\"{}\" d=\"M{x} {y}h{width}v{EDGE}h-{width}z\"/>",
                    tone(kind, run[0].fill())
                );
                if run[0].is_mixed() {
                    let y = y + EDGE / 2;
                    // A dash of 2 pixels in the middle of each cell.
                    let _ = writeln!(
                        body,
                        "<path stroke=\"#000\" stroke-width=\"2\" stroke-dasharray=\"2 2\" d=\"M{} {y}h{}\"/>",
                        x + 1,
                        width - 1
                    );
                }
            }
            column += run.len();
        }
    }
    cells.len().div_ceil(COLUMNS) * EDGE
}

/// Returns the colour of a type; paler if more of the pageblock is free.
fn tone(kind: Migratetype, fill: u8) -> String {
    let colour = colour_of(kind);
    let share = 0.2 + 0.8 * f64::from(fill) / 7.0;
    let mixed = |part: u8| (255.0 - share * (255.0 - f64::from(part))).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mixed(colour.0), mixed(colour.1), mixed(colour.2))
}

fn legend(body: &mut String, top: usize) {
    let mut left = MARGIN;
    for kind in Migratetype::ALL {
        let _ = writeln!(
            body,
            "<rect x=\"{left}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{}\"/>",
            top - 10,
            tone(kind, 7)
        );
        text(body, left + 15, top, kind.name());
        left += 110;
    }
    text(body, left, top, "paler: more free pages · dark dash: mixed");
}

fn text(body: &mut String, x: usize, y: usize, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    // Writing into a string does not fail.
    let _ = writeln!(body, "<text x=\"{x}\" y=\"{y}\">{words}</text>");
}
