//! Draws charts.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::chart::{Chart, FONT, LEGEND, LEGEND_LINE, SIZE};
use super::report::Report;
use crate::error::BenchError;

/// Colours that people with colour-blindness can tell apart (Okabe and Ito's palette).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
];

/// Draws all charts of all reports below each other in one SVG document.
///
/// # Errors
/// [`BenchError::Picture`] if drawing fails.
pub fn draw(reports: &[Report]) -> Result<String, BenchError> {
    let charts: Vec<&Chart> = reports.iter().flat_map(|report| &report.charts).collect();
    let mut svg = String::new();
    draw_all(&charts, &mut svg).map_err(|error| BenchError::Picture { what: error.to_string() })?;
    Ok(svg)
}

fn draw_all(charts: &[&Chart], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let height: u32 = charts.iter().map(|chart| chart.total_height()).sum();
    let mut rest = SVGBackend::with_string(svg, (SIZE.0, height.max(1))).into_drawing_area();
    rest.fill(&WHITE)?;
    for chart in charts {
        let (area, below) = rest.split_vertically(chart.total_height());
        let (plot, legend) = area.split_horizontally(SIZE.0 - LEGEND);
        draw_one(&plot, chart)?;
        draw_legend(&legend, chart)?;
        rest = below;
    }
    rest.present()?;
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
        .x_label_area_size(chart.label_height())
        .y_label_area_size(72)
        .build_cartesian_2d(-0.2..last as f64 + 0.2, heights(chart).log_scale())?;
    canvas
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(if chart.has_room() { chart.points.len().max(2) } else { 0 })
        .x_label_formatter(&|at| point_name(&chart.points, *at))
        .y_desc(&chart.height)
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (number, (_, values)) in chart.lines.iter().enumerate() {
        let (line_style, point_style) = styles(number);
        let points: Vec<_> = values.iter().enumerate().map(|(at, &value)| (at as f64, value)).collect();
        // A line has a gap at a missing value.
        for part in points.split(|point| point.1 <= 0.0).filter(|part| !part.is_empty()) {
            canvas.draw_series(LineSeries::new(part.iter().copied(), line_style))?;
            canvas.draw_series(part.iter().map(|&point| Circle::new(point, 3, point_style)))?;
        }
    }
    if !chart.has_room() {
        let style = ("sans-serif", FONT).into_font().transform(FontTransform::Rotate90);
        let style = style.into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
        let (left, top) = area.get_base_pixel();
        for (at, name) in chart.points.iter().enumerate() {
            let (x, y) = canvas.backend_coord(&(at as f64, heights(chart).start));
            area.draw_text(name, &style, (x - left, y - top + 8))?;
        }
    }
    Ok(())
}

/// Draws the names of the lines beside the plot.
fn draw_legend(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    chart: &Chart,
) -> Result<(), Box<dyn std::error::Error>> {
    for (number, (name, _)) in chart.lines.iter().enumerate() {
        let (line_style, point_style) = styles(number);
        let y = 48 + number as i32 * LEGEND_LINE;
        area.draw(&PathElement::new([(4, y), (24, y)], line_style))?;
        area.draw(&Circle::new((14, y), 3, point_style))?;
        area.draw(&Text::new(name.as_str(), (30, y - FONT / 2), ("sans-serif", FONT)))?;
    }
    Ok(())
}

/// Returns the styles of a line and of its points. If there are more lines than colours, points become
/// hollow.
fn styles(number: usize) -> (ShapeStyle, ShapeStyle) {
    let colour = COLOURS[number % COLOURS.len()];
    let line = colour.stroke_width(if number < COLOURS.len() { 2 } else { 1 });
    (line, if number < COLOURS.len() { colour.filled() } else { line })
}

/// Returns the range of the vertical axis; values that are not above 0 are ignored.
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
