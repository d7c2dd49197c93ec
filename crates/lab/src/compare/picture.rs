//! A comparison as a picture: the unusable index over time, with a line for each era.

use freehold::Order;
use plotters::prelude::*;

use super::comparison::Comparison;
use crate::error::LabError;
use crate::palette::{COLOURS, line_width};
use crate::replay::Measures;

/// Size of the picture in CSS pixels.
const SIZE: (u32, u32) = (960, 420);

impl Comparison {
    /// Returns an SVG document with the unusable index over time, for the largest zone and the order of a huge page.
    ///
    /// # Errors
    /// [`LabError::Picture`] if the drawing fails.
    pub fn picture(&self) -> Result<String, LabError> {
        let zones = 0..self.machine.zones.len();
        let zone = zones.max_by_key(|&zone| self.machine.zones[zone].managed).unwrap_or(0);
        let zone = Place { name: &self.machine.zone_name(zone), rank: self.machine.engine_rank(zone) };
        unusable_index(&self.eras, zone, self.machine.pageblock_order)
    }
}

/// A zone: its name and its index in the engine.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) name: &'a str,
    pub(crate) rank: usize,
}

/// Returns a picture of the unusable index of a zone at an order over time, with a line for each era.
pub(crate) fn unusable_index(eras: &[Measures], zone: Place<'_>, order: Order) -> Result<String, LabError> {
    let mut svg = String::new();
    let drawn = draw(eras, zone, order, &mut svg);
    drawn.map_err(|error| LabError::Picture { what: error.to_string() })?;
    Ok(svg)
}

fn draw(
    eras: &[Measures],
    zone: Place<'_>,
    order: Order,
    svg: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let Place { name, rank } = zone;
    let lines: Vec<Vec<(f64, f64)>> = eras.iter().map(|era| line(era, rank, order)).collect();
    let end_s = lines.iter().flatten().map(|point| point.0).fold(1e-9, f64::max);
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let caption = format!("{name}: free memory that no request of order {order} can use");
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..end_s, span(lines.iter().flatten().map(|point| point.1)))?;
    chart.configure_mesh().x_desc("seconds").y_desc("unusable index").light_line_style(TRANSPARENT).draw()?;
    for (number, ((era, line), colour)) in eras.iter().zip(lines).zip(COLOURS).enumerate() {
        let width = line_width(number, eras.len());
        chart
            .draw_series(LineSeries::new(line, colour.stroke_width(width)))?
            .label(&era.variant)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(width)));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()?;
    root.present()?;
    Ok(())
}

/// Returns the range of the index with a margin, so that neighbouring lines are distinguishable.
fn span(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (least, most) =
        values.fold((1.0, 0.0), |(least, most): (f64, f64), value| (least.min(value), most.max(value)));
    let room = ((most - least) * 0.1).max(0.005);
    (least - room).max(0.0)..(most + room).min(1.0).max(least)
}

/// Returns the points of a line: seconds since the trace began, and the index.
fn line(era: &Measures, zone: usize, order: Order) -> Vec<(f64, f64)> {
    let first = era.samples.first().map_or(0, |sample| sample.time_ns);
    let points = era.samples.iter().filter_map(|sample| {
        let index = sample.zones.get(zone)?.unusable_index[order.index()];
        Some(((sample.time_ns - first) as f64 / 1e9, index as f64 / 1000.0))
    });
    points.collect()
}
