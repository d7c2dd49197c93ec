//! The zones: which one is selected, and the state of each.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::trend;
use crate::model::{Model, ZoneModel};
use crate::series::History;
use crate::top::text::numbers::{Figures, bytes, grouped};
use crate::top::text::rows::{Rows, both, fit, label, whole};
use crate::top::theme::Theme;
use crate::top::view::View;

/// Columns of a zone's name, of a number of pages, and of a number of blocks.
const NAME: usize = 14;
const PAGES: usize = 12;
const BLOCKS: usize = 7;

/// Columns of everything but the numbers of blocks.
const BESIDE_ORDERS: usize = 113;

/// Draws the zones by name, and how much of the selected one is free.
pub(super) fn tabs(rows: &mut Rows<'_>, model: &Model, zone: &ZoneModel, view: &View) {
    let width = rows.width();
    let free = format!("free {} = {}", pages(zone.free_pages, zone), bytes(in_bytes(zone.free_pages, model)));
    let names = |which: &dyn Fn(&ZoneModel) -> bool| {
        let mut line = Line::from(label("zone", view.theme.label()));
        for known in model.zones.iter().filter(|&known| which(known)) {
            let is_chosen = std::ptr::eq(known, zone);
            let (before, after) = if is_chosen { ("[", "]") } else { (" ", " ") };
            let style = if is_chosen { Theme::chosen() } else { view.theme.faint() };
            line.push_span(Span::styled(format!("{before}{} {}{after}", known.node, known.name), style));
        }
        line
    };
    let mut left = names(&|_| true);
    if left.width() + free.len() + 2 > width {
        left = names(&|known| std::ptr::eq(known, zone));
        let place = model.zones.iter().position(|known| std::ptr::eq(known, zone)).unwrap_or_default();
        left.push_span(Span::styled(format!(" {} of {}", place + 1, model.zones.len()), view.theme.faint()));
    }
    rows.line(&both(left, Line::raw(free), width));
}

/// Draws the selected zone's pages and watermarks.
pub(super) fn marks(rows: &mut Rows<'_>, zone: &ZoneModel, view: &View) {
    let label = label("marks", view.theme.label());
    let Some(known) = zone.pages else {
        rows.line(&Line::from(vec![
            label,
            Span::styled("- (/proc/zoneinfo tells none)", view.theme.faint()),
        ]));
        return;
    };
    let mut pieces = vec![label, standing(zone, view)];
    let number = |name: &'static str, number: u64| Span::raw(format!("  {name} {}", grouped(number)));
    pieces.extend([number("min", known.min), number("low", known.low), number("high", known.high)]);
    pieces.extend((known.boost > 0).then(|| number("boost", known.boost)));
    pieces.push(number("on CPUs", known.percpu));
    rows.line(&whole(pieces, rows.width()));
}

/// Returns how much of the zone is free, and the highest watermark that it is below.
fn standing(zone: &ZoneModel, view: &View) -> Span<'static> {
    let Some(known) = zone.pages else { return Span::raw("-") };
    let marks = [("min", known.min), ("low", known.low), ("high", known.high)];
    let below = marks.iter().find(|(_, mark)| zone.free_pages < mark.saturating_add(known.boost));
    match below {
        Some((name, _)) => Span::styled(format!("below {name}"), view.theme.alarm()),
        None => Span::raw("above high".to_owned()),
    }
}

/// Returns how many rows [`draw`] needs for every zone.
pub(super) fn rows_of(model: &Model) -> usize {
    1 + model.zones.len()
}

/// Draws each zone in a row, at most `most` rows around the selected zone.
pub(super) fn draw(rows: &mut Rows<'_>, model: &Model, history: &History, view: &View, most: usize) {
    let order = view.order(model);
    let orders = model.largest_order().index() + 1;
    let has_orders = rows.width() >= BESIDE_ORDERS + orders * BLOCKS;
    rows.line(&head(order, if has_orders { orders } else { 0 }, rows.width(), view));
    let chosen = view.zone_index(model).unwrap_or_default();
    let shown = most.saturating_sub(1).min(model.zones.len());
    let first = chosen.saturating_sub(shown / 2).min(model.zones.len() - shown);
    for (at, zone) in model.zones.iter().enumerate().skip(first).take(shown) {
        let line = row(model, history, view, zone, at == chosen, has_orders, rows.width());
        rows.line(&line);
    }
}

fn head(order: usize, orders: usize, width: usize, view: &View) -> Line<'static> {
    let chosen = format!("order {order}");
    let names = ["free pages", "managed", "min", "low", "high", &chosen, "unusable"];
    let mut text = format!("  {:<w$}", "zone", w = NAME - 2);
    text.extend(names.map(|name| format!("{name:>PAGES$}")));
    text.extend((0..orders).map(|order| format!("{order:>BLOCKS$}")));
    text += "  heading";
    Line::styled(format!("{text:width$}"), view.theme.head())
}

fn row(
    model: &Model,
    history: &History,
    view: &View,
    zone: &ZoneModel,
    is_chosen: bool,
    has_orders: bool,
    width: usize,
) -> Line<'static> {
    let order = view.order(model);
    let style = if is_chosen { Theme::chosen() } else { Style::new() };
    let figures = Figures::new(PAGES, std::iter::empty());
    let mark = if is_chosen { '>' } else { ' ' };
    let name = fit(&format!("{} {}", zone.node, zone.name), NAME - 3);
    let mut pieces = vec![Span::styled(format!("{mark} {name:<w$}", w = NAME - 2), style)];
    pieces.push(Span::styled(figures.text(&pages(zone.free_pages, zone)), style));
    let known = zone.pages.map(|known| [known.managed, known.min, known.low, known.high]);
    pieces.extend(match known {
        Some(numbers) => numbers.map(|number| Span::styled(figures.number(number), style)),
        None => [(); 4].map(|()| Span::styled(figures.text("-"), view.theme.faint())),
    });
    pieces.push(Span::styled(figures.number(zone.blocks.of(order)), style));
    let index = zone.unusable_index.of(order);
    pieces.push(Span::styled(figures.text(&format!("{index:.3}")), view.theme.unusable(index).patch(style)));
    if has_orders {
        let figures = Figures::new(BLOCKS, zone.free.iter().copied());
        pieces.extend(zone.free.iter().map(|count| {
            let style = if count.blocks == 0 { view.theme.faint() } else { style };
            Span::styled(figures.count(*count), style)
        }));
    }
    pieces.push(Span::styled(format!("  {}", trend::heading(history, zone, order)), style));
    whole(pieces, width)
}

/// Returns a number of a zone's pages, with `≥` if the kernel cut a count off.
fn pages(pages: u64, zone: &ZoneModel) -> String {
    let sign = if zone.free.iter().any(|count| count.capped) { "≥" } else { "" };
    format!("{sign}{}", grouped(pages))
}

fn in_bytes(pages: u64, model: &Model) -> u64 {
    pages.saturating_mul(model.machine.page_bytes)
}
