//! Places the parts of the page on a screen of any size.

use freehold::Order;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{header, map, rates, table, trend, words, zones};
use crate::model::{Model, ZoneModel};
use crate::series::History;
use crate::top::action::Page;
use crate::top::text::ascii;
use crate::top::text::rows::{Rows, wrap};
use crate::top::theme::Theme;
use crate::top::view::View;

/// The least columns and rows that the page needs.
pub const LEAST: (u16, u16) = (60, 16);

/// The least columns and rows for all zones, all rates and a chart, with the usual orders.
const ROOMY: (usize, usize) = (100, 34);

/// Draws the page as a pure function of its arguments.
pub fn draw(frame: &mut Frame<'_>, model: &Model, history: &History, view: &View) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    let mut rows = Rows::new(buffer, area);
    if area.width < LEAST.0 || area.height < LEAST.1 {
        too_small(&mut rows, area);
    } else {
        whole_page(&mut rows, model, history, view);
    }
    if view.ascii {
        ascii::replace(buffer);
    }
}

fn too_small(rows: &mut Rows<'_>, area: Rect) {
    let text = format!(
        "freehold top needs {} columns and {} rows; here are {} and {}. Make the window larger, or press q.",
        LEAST.0, LEAST.1, area.width, area.height
    );
    for line in wrap(&text, rows.width()) {
        rows.line(&Line::raw(line));
    }
}

fn whole_page(rows: &mut Rows<'_>, model: &Model, history: &History, view: &View) {
    header::title(rows, model, view);
    let last = rows.keep_for_last(1);
    header::hints(&mut Rows::new(rows.buffer(), last), view);
    match view.page {
        Page::Help => return words::help(rows, view),
        Page::Notes => return words::notes(rows, model, view),
        Page::Map => return map::page(rows, model, view),
        Page::Rates => {
            header::pressure(rows, model, view);
            return rates::page(rows, model, view);
        }
        Page::Table => {}
    }
    let Some(zone) = view.zone_index(model).map(|at| &model.zones[at]) else {
        rows.line(&Line::raw("  no zone has memory"));
        return words::notes(rows, model, view);
    };
    let orders = model.largest_order().index().saturating_sub(Order::MAX_PAGE_ORDER.index());
    if rows.width() >= ROOMY.0 && rows.left() + 2 >= ROOMY.1 + orders {
        roomy(rows, model, history, zone, view);
    } else {
        compact(rows, model, history, zone, view);
    }
}

/// Draws the table, and the most important other parts that the rows allow.
fn compact(rows: &mut Rows<'_>, model: &Model, history: &History, zone: &ZoneModel, view: &View) {
    // The first verdict, the zone, the table and the trend are always shown.
    let first = header::verdict_rows(model, 1);
    let table_rows = table::rows_of(model).min(rows.left().saturating_sub(2 + first));
    let mut spare = rows.left().saturating_sub(table_rows + 2 + first);
    let mut grant = |wanted: usize| {
        let granted = spare >= wanted;
        spare -= if granted { wanted } else { 0 };
        granted
    };
    let has_note = !model.notes.is_empty() && grant(1);
    let has_sensor = grant(1);
    let has_rates = grant(2);
    let has_pressure = grant(1);
    let has_marks = grant(1);
    let has_map = grant(1);
    let has_pageblocks = grant(1);
    let others = header::verdict_rows(model, model.verdicts.len()) - first;
    let has_other_verdicts = others > 0 && grant(others);
    header::verdicts(rows, model, view, if has_other_verdicts { model.verdicts.len() } else { 1 });
    if has_sensor {
        header::sensor(rows, model, view);
    }
    if has_pressure {
        header::pressure(rows, model, view);
    }
    zones::tabs(rows, model, zone, view);
    if has_marks {
        zones::marks(rows, zone, view);
    }
    table::draw(rows, model, zone, view, has_pageblocks, table_rows);
    if has_map {
        map::strip(rows, model, zone, view);
    }
    if has_rates {
        rates::short(rows, model, view);
    }
    trend::draw(rows, model, history, zone, view);
    let last = rows.keep_for_last(usize::from(has_note));
    fill_with_chart(rows, true, model, history, zone, view);
    header::note(&mut Rows::new(rows.buffer(), last), model, view);
}

/// Draws all zones, the table with a chart beside or below it, all rates, and the map in the rows that
/// are left.
fn roomy(rows: &mut Rows<'_>, model: &Model, history: &History, zone: &ZoneModel, view: &View) {
    header::verdicts(rows, model, view, model.verdicts.len());
    header::sensor(rows, model, view);
    header::pressure(rows, model, view);
    if !model.notes.is_empty() {
        header::note(rows, model, view);
    }
    rows.take(1);
    let rates_rows = rates::rows_of(model, rows.width());
    // Rows of the table with its pageblocks and its title, the rates and their title, and the trend.
    let fixed = table::rows_of(model) + 3 + rates_rows + 1 + 1;
    let most = rows.left().saturating_sub(fixed).max(3);
    zones::draw(rows, model, history, view, zones::rows_of(model).min(most));
    rows.take(1);
    let beside = rows.take(table::rows_of(model) + 2);
    let chart = table_and_chart(rows.buffer(), beside, model, zone, view);
    if let Some(area) = chart {
        trend::chart(rows, area, model, history, zone, view);
    }
    trend::draw(rows, model, history, zone, view);
    rows.take(1);
    rates::draw(rows, model, view);
    rows.take(1);
    let chart_rows = if chart.is_some() { 0 } else { trend::CHART_ROWS.max(rows.left() / 3) };
    let Some(map) = &model.map else {
        map::strip(rows, model, zone, view);
        fill_with_chart(rows, chart.is_none(), model, history, zone, view);
        return other_tables(rows, model, zone, view);
    };
    if rows.left() >= map::page_rows(map) + chart_rows {
        let below = rows.keep_for_last(chart_rows);
        map::page(rows, model, view);
        fill_with_chart(&mut Rows::new(rows.buffer(), below), chart.is_none(), model, history, zone, view);
    } else {
        map::strips(rows, map, view);
        fill_with_chart(rows, chart.is_none(), model, history, zone, view);
    }
}

/// Draws the chart in the rows that are left, if they are enough.
fn fill_with_chart(
    rows: &mut Rows<'_>,
    wanted: bool,
    model: &Model,
    history: &History,
    zone: &ZoneModel,
    view: &View,
) {
    if wanted && rows.left() >= trend::CHART_ROWS {
        let area = rows.take(rows.left());
        trend::chart(rows, area, model, history, zone, view);
    }
}

/// Draws the tables of the other zones in the rows that are left.
fn other_tables(rows: &mut Rows<'_>, model: &Model, chosen: &ZoneModel, view: &View) {
    for zone in model.zones.iter().filter(|&zone| !std::ptr::eq(zone, chosen)) {
        if rows.left() < table::rows_of(model) + 2 {
            return;
        }
        rows.take(1);
        rows.line(&Line::styled(format!("  {}", zone.title()), Theme::chosen()));
        table::draw(rows, model, zone, view, false, table::rows_of(model));
    }
}

/// Draws the table, and a chart beside it if the columns are enough.
fn table_and_chart(
    buffer: &mut Buffer,
    area: Rect,
    model: &Model,
    zone: &ZoneModel,
    view: &View,
) -> Option<Rect> {
    let all = usize::from(area.width);
    let beside = all.saturating_sub(trend::CHART_COLUMNS + 2);
    let narrow = table::width(beside, model, zone);
    let has_chart = all >= 150 && narrow + trend::CHART_COLUMNS + 2 <= all;
    let width = if has_chart { narrow as u16 } else { area.width };
    let most = table::rows_of(model);
    table::draw(&mut Rows::new(buffer, Rect { width, ..area }), model, zone, view, true, most);
    has_chart.then(|| Rect { x: area.x + width + 2, width: area.width - width - 2, ..area })
}
