//! An analysis as pictures: lifetimes of pages by order, and requests over time.

use freehold_measure::grouped;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::findings::Analysis;
use super::histogram::OCTAVES;
use super::pageblocks::MOBILITIES;
use super::tables::below;
use super::timeline::TimeStep;
use crate::error::LabError;
use crate::palette::COLOURS;

/// Size of a picture in CSS pixels.
const SIZE: (u32, u32) = (960, 420);

/// Colours for orders, from dark to light, distinguishable without colour vision (viridis).
const BY_ORDER: [RGBColor; 11] = [
    RGBColor(68, 1, 84),
    RGBColor(72, 36, 117),
    RGBColor(65, 68, 135),
    RGBColor(53, 95, 141),
    RGBColor(42, 120, 142),
    RGBColor(33, 145, 140),
    RGBColor(34, 168, 132),
    RGBColor(68, 191, 112),
    RGBColor(122, 209, 81),
    RGBColor(189, 223, 38),
    RGBColor(240, 200, 30),
];

/// A colour for each type.
const BY_TYPE: [RGBColor; 3] = [COLOURS[0], COLOURS[2], COLOURS[4]];
const FREED: RGBColor = RGBColor(120, 120, 120);

type Drawn = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnalysisPicture {
    /// The file name, without a folder.
    pub file: &'static str,
    /// An SVG document.
    pub svg: String,
}

impl Analysis {
    /// Returns the pictures `lifetimes.svg`, `lifetimes-cdf.svg` and `allocations.svg`.
    ///
    /// # Errors
    /// [`LabError::Picture`] if the drawing fails.
    pub fn pictures(&self) -> Result<Vec<AnalysisPicture>, LabError> {
        type Draw = fn(&Analysis, &Area<'_>) -> Drawn;
        let all: [(&'static str, Draw); 3] = [
            ("lifetimes.svg", Self::draw_heat),
            ("lifetimes-cdf.svg", Self::draw_shares),
            ("allocations.svg", Self::draw_time),
        ];
        let pictures = all.into_iter().map(|(file, draw)| {
            let mut svg = String::new();
            let drawn = {
                let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
                root.fill(&WHITE).map_err(Into::into).and_then(|()| draw(self, &root))
            };
            drawn.map_err(|error| LabError::Picture { what: error.to_string() })?;
            Ok(AnalysisPicture { file, svg })
        });
        pictures.collect()
    }

    /// Returns freed pages by order, then octave, of all types together.
    fn octaves_by_order(&self) -> Vec<(u8, [u64; OCTAVES])> {
        let mut sums: Vec<(u8, [u64; OCTAVES])> = Vec::new();
        for order in 0..=freehold::Order::MAX.get() {
            let mut sum = [0; OCTAVES];
            for row in self.lifetimes.iter().filter(|row| row.order == order) {
                for (sum, pages) in sum.iter_mut().zip(&row.octaves) {
                    *sum += pages;
                }
            }
            if sum.iter().any(|&pages| pages > 0) {
                sums.push((order, sum));
            }
        }
        sums
    }

    /// Draws a row for each order and a column for each octave. A darker cell means that more of the order's pages
    /// had this lifetime.
    fn draw_heat(&self, root: &Area<'_>) -> Drawn {
        let orders = self.octaves_by_order();
        let (from, to) = used_octaves(&orders);
        let rows = orders.len().max(1);
        let mut chart = ChartBuilder::on(root)
            .caption("Page lifetimes: share of the freed pages of an order", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(64)
            .build_cartesian_2d(from as f64..to as f64, -0.5..rows as f64 - 0.5)?;
        let name = |row: &f64| {
            let order = orders.iter().enumerate().find(|(at, _)| (*at as f64 - row).abs() < 1e-6);
            order.map_or_else(String::new, |(_, (order, _))| format!("order {order}"))
        };
        chart
            .configure_mesh()
            .disable_mesh()
            .x_desc("lifetime")
            .x_labels(12)
            .x_label_formatter(&|octave| below(*octave as usize).replace("below ", ""))
            .y_labels(rows + 1)
            .y_label_formatter(&name)
            .draw()?;
        for (row, (_, octaves)) in orders.iter().enumerate() {
            let all: u64 = octaves.iter().sum();
            for (octave, &pages) in octaves.iter().enumerate().filter(|&(_, &pages)| pages > 0) {
                // The square root makes small shares visible.
                let share = (pages as f64 / all as f64).sqrt();
                let corners = [
                    (octave.saturating_sub(1) as f64, row as f64 - 0.46),
                    (octave.max(1) as f64, row as f64 + 0.46),
                ];
                chart.plotting_area().draw(&Rectangle::new(corners, BY_ORDER[1].mix(share).filled()))?;
            }
        }
        root.present()?;
        Ok(())
    }

    /// Draws a line for each order: the cumulative share of its freed pages by lifetime.
    fn draw_shares(&self, root: &Area<'_>) -> Drawn {
        let orders = self.octaves_by_order();
        let (from, to) = used_octaves(&orders);
        let mut chart = ChartBuilder::on(root)
            .caption("Page lifetimes: cumulative share of the freed pages", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(from as f64..to as f64, 0.0..100.0)?;
        chart
            .configure_mesh()
            .x_desc("lifetime")
            .x_labels(12)
            .x_label_formatter(&|octave| below(*octave as usize).replace("below ", ""))
            .y_desc("% of the order's freed pages")
            .y_label_formatter(&|percent| format!("{percent:.0}"))
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (at, (order, octaves)) in orders.iter().enumerate() {
            let all: u64 = octaves.iter().sum();
            let mut seen = 0;
            let line: Vec<_> = (0..=to)
                .map(|octave| {
                    seen += octaves.get(octave).copied().unwrap_or(0);
                    (octave as f64, 100.0 * seen as f64 / all as f64)
                })
                .skip(from)
                .collect();
            // Colours are as far apart as the number of lines allows.
            let colour = BY_ORDER[at * (BY_ORDER.len() - 1) / (orders.len() - 1).max(1)];
            chart
                .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
                .label(format!("order {order}"))
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        }
        legend(&mut chart)?;
        root.present()?;
        Ok(())
    }

    /// Draws the pages allocated and freed in each second of the trace.
    fn draw_time(&self, root: &Area<'_>) -> Drawn {
        let step_s = self.timeline.step_ns as f64 / 1e9;
        let steps = &self.timeline.steps;
        let line = |pages: &dyn Fn(&TimeStep) -> u64| -> Vec<(f64, f64)> {
            let points = steps.iter().enumerate();
            points.map(|(at, step)| ((at as f64 + 0.5) * step_s, pages(step) as f64 / step_s)).collect()
        };
        let mut lines = vec![("freed", FREED, line(&|step| step.freed))];
        for (at, kind) in MOBILITIES.iter().enumerate() {
            lines.push((kind.name(), BY_TYPE[at], line(&|step| step.allocated[at])));
        }
        let most = lines.iter().flat_map(|(_, _, line)| line).map(|point| point.1).fold(1.0, f64::max);
        let end_s = (steps.len().max(1) as f64 * step_s).max(1e-9);
        let mut chart = ChartBuilder::on(root)
            .caption("Pages allocated by type, and freed", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(80)
            .build_cartesian_2d(0.0..end_s, 0.0..most * 1.05)?;
        chart
            .configure_mesh()
            .x_desc("seconds")
            .y_desc("pages a second")
            .y_label_formatter(&|pages| grouped(*pages as u64))
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (name, colour, line) in lines {
            chart
                .draw_series(LineSeries::new(line, colour.stroke_width(1)))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        }
        legend(&mut chart)?;
        root.present()?;
        Ok(())
    }
}

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

fn legend(chart: &mut Chart<'_>) -> Drawn {
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()?;
    Ok(())
}

/// Returns the first octave's lower edge and the last one's upper edge, as powers of two.
fn used_octaves(orders: &[(u8, [u64; OCTAVES])]) -> (usize, usize) {
    let used = |octave: &usize| orders.iter().any(|(_, octaves)| octaves[*octave] > 0);
    let first = (0..OCTAVES).find(used).unwrap_or(0);
    let last = (0..OCTAVES).rfind(used).unwrap_or(0);
    (first.saturating_sub(1), last.max(1))
}
