//! Pictures of the tables.

use plotters::coord::Shift;
use plotters::prelude::*;
use serde::Serialize;

use crate::{BenchError, Report};

/// Size of one picture in CSS pixels.
const SIZE: (u32, u32) = (960, 360);

/// Colours that are told apart also without colour vision (Okabe and Ito's palette).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
];

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

/// All charts of all reports below each other, as an SVG document.
///
/// # Errors
/// [`BenchError::Picture`] where the drawing fails.
pub fn draw(reports: &[Report]) -> Result<String, BenchError> {
    let charts: Vec<&Chart> = reports.iter().flat_map(|report| &report.charts).collect();
    let mut svg = String::new();
    draw_all(&charts, &mut svg).map_err(|error| BenchError::Picture { what: error.to_string() })?;
    Ok(svg)
}

fn draw_all(charts: &[&Chart], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let rows = charts.len().max(1);
    let root = SVGBackend::with_string(svg, (SIZE.0, SIZE.1 * rows as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, chart) in root.split_evenly((rows, 1)).iter().zip(charts) {
        draw_one(area, chart)?;
    }
    root.present()?;
    Ok(())
}

fn draw_one(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    chart: &Chart,
) -> Result<(), Box<dyn std::error::Error>> {
    let last = chart.points.len().saturating_sub(1).max(1);
    let mut canvas = ChartBuilder::on(area)
        .caption(&chart.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(72)
        .build_cartesian_2d(-0.2..last as f64 + 0.2, heights(chart).log_scale())?;
    canvas
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(chart.points.len().max(2))
        .x_label_formatter(&|at| point_name(&chart.points, *at))
        .y_desc(&chart.height)
        .light_line_style(TRANSPARENT)
        .draw()?;
    for ((name, values), colour) in chart.lines.iter().zip(COLOURS.iter().cycle()) {
        let line: Vec<(f64, f64)> = values
            .iter()
            .enumerate()
            .filter(|value| *value.1 > 0.0)
            .map(|(at, value)| (at as f64, *value))
            .collect();
        canvas
            .draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(2)))?
            .label(name)
            .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        canvas.draw_series(line.into_iter().map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    canvas.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()?;
    Ok(())
}

/// What the values range over, with some room; values that are not above 0 have no place.
fn heights(chart: &Chart) -> std::ops::Range<f64> {
    let values = chart.lines.iter().flat_map(|line| &line.1).copied().filter(|value| *value > 0.0);
    let (least, most) =
        values.fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    if most > 0.0 { least / 1.5..most * 1.5 } else { 0.1..10.0 }
}

fn point_name(points: &[String], at: f64) -> String {
    let nearest = at.round();
    let name = points.get(nearest as usize).filter(|_| (at - nearest).abs() < 0.01 && nearest >= 0.0);
    name.cloned().unwrap_or_default()
}
