//! Free blocks over time: a chart for each order, with a line for each type.

use freehold::Migratetype;
use plotters::prelude::*;

use super::style::{Trouble, colour_of, mark, swatch};
use crate::replay::{Measures, ReplaySample};
use crate::report::trace_report::{TraceReport, ZoneOfReport};

const WIDTH: u32 = 1120;
/// The number of charts in a row.
const COLUMNS: usize = 4;

/// The height of a row of charts.
const ROW: u32 = 240;

pub(super) fn picture(report: &TraceReport, era: &Measures, zone: &ZoneOfReport) -> Result<String, Trouble> {
    let mut svg = String::new();
    let orders = report.orders;
    // One more place for the legend.
    let rows = (orders + 1).div_ceil(COLUMNS);
    {
        let size = (WIDTH, 40 + ROW * rows as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        let caption = format!("{}, zone {}: free blocks by order and type", era.variant, zone.name);
        let root = root.titled(&caption, ("sans-serif", 18))?;
        let end_s = report.times_s.last().copied().unwrap_or(0.0).max(1e-9);
        let areas = root.split_evenly((rows, COLUMNS));
        for (order, area) in (0..orders).zip(&areas) {
            let series = |kind: Migratetype| -> Vec<(f64, f64)> {
                let values = era.samples.iter().zip(&report.times_s);
                let of = |(sample, &time_s): (&ReplaySample, &f64)| {
                    Some((time_s, sample.zones.get(zone.rank)?.blocks.of(order)[kind.index()] as f64))
                };
                values.filter_map(of).collect()
            };
            let lines = Migratetype::ALL.map(series);
            let most = lines.iter().flatten().map(|point| point.1).fold(1.0, f64::max);
            let mut chart = ChartBuilder::on(area)
                .caption(format!("order {order}"), ("sans-serif", 13))
                .margin(6)
                .x_label_area_size(28)
                .y_label_area_size(52)
                .build_cartesian_2d(0.0..end_s, 0.0..most * 1.05)?;
            let mut mesh = chart.configure_mesh();
            mesh.y_label_formatter(&|value| mark(*value))
                .x_labels(4)
                .y_labels(4)
                .light_line_style(TRANSPARENT)
                .x_desc("seconds")
                .y_desc("blocks")
                .draw()?;
            for (line, kind) in lines.into_iter().zip(Migratetype::ALL) {
                if line.iter().any(|point| point.1 > 0.0) {
                    chart.draw_series(LineSeries::new(line, colour_of(kind).stroke_width(2)))?;
                }
            }
        }
        if let Some(area) = areas.get(orders) {
            legend(area, era, zone)?;
        }
        root.present()?;
    }
    Ok(svg)
}

/// Draws a legend of the types' colours in the free place of the grid.
fn legend(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    era: &Measures,
    zone: &ZoneOfReport,
) -> Result<(), Trouble> {
    let mut y = 40;
    for kind in Migratetype::ALL {
        let blocks = era.samples.iter().filter_map(|sample| sample.zones.get(zone.rank));
        if blocks.flat_map(|zone| &zone.blocks).any(|types| types[kind.index()] > 0) {
            area.draw(&swatch(colour_of(kind))((30, y)))?;
            area.draw(&Text::new(kind.name(), (52, y - 6), ("sans-serif", 13).into_font()))?;
            y += 22;
        }
    }
    Ok(())
}
