//! Zone lock holds: the number of holds of at least a given size, with a line for each era.

use freehold_measure::histogram::ByPowerOfTwo;
use plotters::prelude::*;

use super::style::{Trouble, mark, swatch};
use crate::palette::{COLOURS, line_width};
use crate::replay::Measures;

const SIZE: (u32, u32) = (960, 420);

/// The meaning of the size of a hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// The time of the hold, in nanoseconds.
    Time,
    /// The pages and list nodes that the hold touched.
    Touched,
}

pub(super) fn picture(eras: &[Measures], size: Size) -> Result<String, Trouble> {
    let holds = |era: &Measures| match size {
        Size::Time => era.timing.holds_ns,
        Size::Touched => era.holds_touched,
    };
    let lines: Vec<_> = eras.iter().map(|era| at_least(&holds(era))).collect();
    let most = lines.iter().flatten().map(|point| point.1).fold(10.0, f64::max);
    let widest = lines.iter().flatten().map(|point| point.0).fold(2.0, f64::max);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (caption, unit) = match size {
            Size::Time => ("Zone lock holds of at least this time", "nanoseconds"),
            Size::Touched => ("Zone lock holds that touched at least this many", "pages and list nodes"),
        };
        let mut chart = ChartBuilder::on(&root)
            .caption(caption, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(64)
            .build_cartesian_2d((1.0..widest * 2.0).log_scale(), (0.8..most * 1.3).log_scale())?;
        let mut mesh = chart.configure_mesh();
        mesh.x_label_formatter(&|value| mark(*value))
            .y_label_formatter(&|value| mark(*value))
            .light_line_style(TRANSPARENT);
        mesh.x_desc(unit).y_desc("holds").draw()?;
        let coloured = eras.iter().zip(lines).zip(COLOURS.into_iter().cycle());
        for (number, ((era, line), colour)) in coloured.enumerate() {
            let width = line_width(number, eras.len());
            chart
                .draw_series(LineSeries::new(line, colour.stroke_width(width)))?
                .label(&era.variant)
                .legend(swatch(colour));
        }
        let mut labels = chart.configure_series_labels();
        labels.background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()?;
        root.present()?;
    }
    Ok(svg)
}

/// Returns the points of a line: a size, and the number of holds of at least that size.
fn at_least(holds: &ByPowerOfTwo) -> Vec<(f64, f64)> {
    let sums = (0..holds.len()).map(|power| holds[power..].iter().sum::<u64>());
    let points = sums.enumerate().filter(|(_, sum)| *sum > 0);
    points.map(|(power, sum)| ((1_u64 << power) as f64, sum as f64)).collect()
}
