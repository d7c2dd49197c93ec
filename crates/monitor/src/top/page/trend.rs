//! The trend of the selected order's blocks: a sentence, a line of bars, a chart.

use ratatui::layout::Rect;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, GraphType, Widget};

use crate::model::{Model, Trend, ZoneModel, trend};
use crate::series::History;
use crate::series::TREND_SECONDS;
use crate::top::text::numbers::{block_size, grouped, rate, stretch};
use crate::top::text::rows::{LABEL, Rows, fit, label, whole};
use crate::top::view::View;

/// The most seconds that the chart shows.
const CHART_SECONDS: f64 = 900.0;

/// The number of bars in the line of bars.
const BARS: usize = 8;

/// The least rows and columns of a useful chart.
pub(super) const CHART_ROWS: usize = 6;
pub(super) const CHART_COLUMNS: usize = 36;

fn of(history: &History, zone: &ZoneModel, order: usize) -> Option<Trend> {
    trend(&history.blocks_over(zone.node, &zone.name, order, TREND_SECONDS))
}

/// Draws the sentence, after a line of bars if there is room.
pub(super) fn draw(rows: &mut Rows<'_>, model: &Model, history: &History, zone: &ZoneModel, view: &View) {
    let order = view.order(model);
    let room = rows.width().saturating_sub(LABEL);
    let sentences = sentences(model, history, zone, order);
    let last = sentences.last().map_or("", String::as_str);
    let text = sentences.iter().find(|text| text.chars().count() <= room).map_or(last, String::as_str);
    let mut pieces = vec![label("trend", view.theme.label())];
    let bars = bars(history, zone, order);
    if !bars.is_empty() && text.chars().count() + bars.chars().count() < room {
        pieces.push(Span::styled(bars, view.theme.curve()));
        pieces.push(Span::raw(" "));
    }
    pieces.push(Span::raw(fit(text, room)));
    rows.line(&whole(pieces, rows.width()));
}

/// Returns a sentence such as `order 9: 3,061 of 2M, -2.1/s for 5 min`, then shorter ones.
fn sentences(model: &Model, history: &History, zone: &ZoneModel, order: usize) -> Vec<String> {
    let size = block_size(model.machine.page_bytes, order);
    let blocks = grouped(zone.blocks.get(order).copied().unwrap_or_default());
    let start = format!("order {order}: {blocks} of {size}");
    let Some(trend) = of(history, zone, order) else {
        return vec![format!("{start}; three samples make a trend"), start];
    };
    let (over, pace) = (stretch(trend.over_s), pace(trend.per_second));
    if trend.per_second == 0.0 {
        return vec![format!("{start}, level for {over}"), start];
    }
    let short = format!("order {order}: {blocks}, {pace}");
    vec![format!("{start}, {pace} for {over}"), format!("{start}, {pace}"), short]
}

/// Returns `falling`, `rising` or `level`, or `-` if there is no trend.
pub(super) fn heading(history: &History, zone: &ZoneModel, order: usize) -> String {
    let Some(trend) = of(history, zone, order) else { return "-".to_owned() };
    let word = match trend.per_second {
        change if change < 0.0 => "falling",
        change if change > 0.0 => "rising",
        _ => "level",
    };
    word.to_owned()
}

/// Returns a change per second in the most readable unit of time.
fn pace(per_second: f64) -> String {
    let sign = if per_second < 0.0 { "-" } else { "+" };
    let size = per_second.abs();
    let units = [("s", 1.0), ("min", 60.0), ("h", 3600.0)];
    let (unit, seconds) =
        units.into_iter().find(|(_, seconds)| size * seconds >= 0.95).unwrap_or(("day", 86400.0));
    format!("{sign}{}/{unit}", rate(size * seconds))
}

/// Returns the last minutes as a line of bars: the least value of each stretch of time, relative to the
/// largest of all.
fn bars(history: &History, zone: &ZoneModel, order: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let points = history.blocks_over(zone.node, &zone.name, order, TREND_SECONDS);
    let (Some(first), true) = (points.first(), points.len() >= 3) else { return String::new() };
    let span = (-first.0).max(f64::MIN_POSITIVE);
    let mut least: [Option<f64>; BARS] = [None; BARS];
    for (at, value) in &points {
        let bar = (((at + span) / span * BARS as f64) as usize).min(BARS - 1);
        least[bar] = Some(least[bar].map_or(*value, |known| known.min(*value)));
    }
    let most = points.iter().map(|point| point.1).fold(1.0, f64::max);
    let height = |value: f64| HEIGHTS[((value / most * 8.0) as usize).min(7)];
    // A stretch without a sample repeats the value before it.
    let mut last = points[0].1;
    let bars = least.iter().map(|value| {
        last = value.unwrap_or(last);
        height(last)
    });
    bars.collect()
}

/// Draws the blocks of the selected order over time.
pub(super) fn chart(
    rows: &mut Rows<'_>,
    area: Rect,
    model: &Model,
    history: &History,
    zone: &ZoneModel,
    view: &View,
) {
    let order = view.order(model);
    let points = history.blocks_over(zone.node, &zone.name, order, CHART_SECONDS);
    let start = points.first().map_or(-1.0, |first| first.0.min(-1.0));
    let most = points.iter().map(|point| point.1).fold(1.0, f64::max);
    let theme = view.theme;
    let title = format!(" available blocks of order {order}, {} ", zone.title());
    let set = Dataset::default().marker(Marker::Braille).graph_type(GraphType::Line);
    let middle = most / 2.0;
    let middle_label = if middle.fract() == 0.0 { grouped(middle as u64) } else { String::new() };
    let chart = Chart::new(vec![set.style(theme.curve()).data(&points)])
        .block(
            Block::new()
                .borders(Borders::TOP)
                .border_style(theme.faint())
                .title(Line::styled(title, theme.label())),
        )
        .legend_position(None)
        .x_axis(
            Axis::default()
                .bounds([start, 0.0])
                .style(theme.faint())
                .labels([format!("{} ago", stretch(-start)), "now".to_owned()]),
        )
        .y_axis(Axis::default().bounds([0.0, most * 1.05]).style(theme.faint()).labels([
            "0".to_owned(),
            middle_label,
            grouped(most as u64),
        ]));
    chart.render(area, rows.buffer());
}
