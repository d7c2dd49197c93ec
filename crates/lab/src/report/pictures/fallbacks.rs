//! Fallbacks over time: a row of bars for the machine and for each era.

use plotters::prelude::*;

use super::style::{Trouble, mark, swatch};
use crate::palette::COLOURS;
use crate::recorded::FallbackCount;
use crate::report::trace_report::TraceReport;

const WIDTH: u32 = 960;
const ROW_HEIGHT: u32 = 150;

/// The steals and claims of one sample.
type Events = (u64, u64);

pub(super) fn picture(report: &TraceReport) -> Result<String, Trouble> {
    let comparison = &report.comparison;
    let mut rows: Vec<(&str, Vec<Events>)> = Vec::new();
    if comparison.recorded.has_fallbacks {
        rows.push(("machine", report.machine_fallbacks.iter().map(|counts| events(counts)).collect()));
    }
    for era in &comparison.eras {
        rows.push((&era.variant, era.samples.iter().map(|sample| events(&sample.fallbacks)).collect()));
    }
    let end_s = report.times_s.last().copied().unwrap_or(0.0).max(1e-9);
    let sums = rows.iter().flat_map(|(_, row)| row).map(|(steals, claims)| steals + claims);
    let most = sums.max().unwrap_or(0).max(1) as f64;
    let mut svg = String::new();
    {
        let size = (WIDTH, ROW_HEIGHT * rows.len().max(1) as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        for ((name, row), area) in rows.iter().zip(root.split_evenly((rows.len(), 1))) {
            let mut chart = ChartBuilder::on(&area)
                .caption(format!("{name}: fallbacks"), ("sans-serif", 15))
                .margin(8)
                .x_label_area_size(28)
                .y_label_area_size(64)
                .build_cartesian_2d(0.0..end_s, 0.0..most * 1.05)?;
            let mut mesh = chart.configure_mesh();
            mesh.y_label_formatter(&|value| mark(*value))
                .disable_x_mesh()
                .y_labels(4)
                .x_desc("seconds")
                .y_desc("events")
                .light_line_style(TRANSPARENT);
            mesh.draw()?;
            let spans = report.times_s.windows(2).zip(row.iter().skip(1));
            let bars = |of: fn(Events) -> (u64, u64), colour: RGBColor| {
                spans.clone().filter_map(move |(span, &events)| {
                    let (from, to) = of(events);
                    let bar = [(span[0], from as f64), (span[1], to as f64)];
                    (from < to).then(|| Rectangle::new(bar, colour.filled()))
                })
            };
            let steals = bars(|(steals, _)| (0, steals), COLOURS[2]);
            chart.draw_series(steals)?.label("steals").legend(swatch(COLOURS[2]));
            let claims = bars(|(steals, claims)| (steals, steals + claims), COLOURS[0]);
            chart.draw_series(claims)?.label("claims").legend(swatch(COLOURS[0]));
            chart.configure_series_labels().background_style(WHITE.mix(0.8)).draw()?;
        }
        root.present()?;
    }
    Ok(svg)
}

fn events(counts: &[FallbackCount]) -> Events {
    let sum = |claimed: bool| counts.iter().filter(|c| c.claimed == claimed).map(|c| c.events).sum();
    (sum(false), sum(true))
}
