//! The free blocks of one zone: a row an order, a column a migratetype.

use std::ops::RangeInclusive;

use freehold::{MAX_ORDERS, MIGRATETYPES, Migratetype};
use freehold_trace::FreeCount;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{Model, ZoneModel};
use crate::top::text::numbers::{Figures, block_size};
use crate::top::text::rows::Rows;
use crate::top::theme::Theme;
use crate::top::view::View;

/// How many rows the table has: a head, and one an order.
pub(super) const ROWS: usize = MAX_ORDERS + 1;

/// How wide a column of numbers may be; the narrowest still shows every number, rounded.
const COLUMN: RangeInclusive<usize> = 6..=13;

/// How wide the column of available blocks may be.
const SUM: usize = 12;

/// The room of the mark of the chosen row and the order.
const ORDER: usize = 3;

/// The room of a block's size.
const SIZE: usize = 5;

/// The least room of the unusable index with its head, and of its bar.
const INDEX: usize = 9;
const BAR: usize = 12;

/// Where the columns are.
struct Columns {
    types: Vec<Migratetype>,
    column: usize,
    /// The room of the available blocks: more than of other numbers, as they are sums.
    sum: usize,
    has_size: bool,
    has_extfrag: bool,
    bar: usize,
    figures: Figures,
    sums: Figures,
}

impl Columns {
    fn new(width: usize, model: &Model, zone: &ZoneModel) -> Self {
        let known: Vec<_> = model.types.iter().filter_map(|name| Migratetype::from_name(name)).collect();
        // Every kernel has these; what it has besides is not known without a reading of types.
        let types = if known.is_empty() { Migratetype::ALL[..4].to_vec() } else { known };
        // The total, the types, the available blocks.
        let numbers = types.len() + 2;
        let mut room = width.saturating_sub(ORDER + INDEX);
        let mut grant = |wanted: usize, least: usize| {
            let granted = room >= wanted + numbers * least;
            room -= if granted { wanted } else { 0 };
            granted
        };
        let has_size = grant(SIZE, 8);
        let has_extfrag = grant(INDEX + 1, 10);
        let has_bar = grant(BAR, 10);
        let column = (room.saturating_sub(3) / numbers).clamp(*COLUMN.start(), *COLUMN.end());
        let counts = zone.by_type.iter().flatten().flatten().chain(&zone.free).copied();
        let sum = room.saturating_sub((numbers - 1) * column).clamp(column, column.max(SUM));
        let figures = Figures::new(column, counts);
        let sums = Figures::new(sum, (0..MAX_ORDERS).map(|order| available(zone, order)));
        let bar = if has_bar { BAR } else { 0 };
        Self { types, column, sum, has_size, has_extfrag, bar, figures, sums }
    }

    fn width(&self) -> usize {
        let size = if self.has_size { SIZE } else { 0 };
        let extfrag = if self.has_extfrag { INDEX + 1 } else { 0 };
        ORDER + size + (self.types.len() + 1) * self.column + self.sum + INDEX + extfrag + self.bar
    }
}

/// How wide the table gets in a room of `width`.
pub(super) fn width(width: usize, model: &Model, zone: &ZoneModel) -> usize {
    Columns::new(width, model, zone).width()
}

/// The table of one zone; with its pageblocks where `pageblocks`.
pub(super) fn draw(rows: &mut Rows<'_>, model: &Model, zone: &ZoneModel, view: &View, pageblocks: bool) {
    let columns = Columns::new(rows.width(), model, zone);
    rows.line(&head(&columns, view));
    for order in 0..MAX_ORDERS {
        rows.line(&order_row(&columns, model, zone, view, order));
    }
    if pageblocks {
        rows.line(&pageblocks_row(&columns, zone, view));
    }
}

fn head(columns: &Columns, view: &View) -> Line<'static> {
    let mut text = format!("{:>ORDER$}", "ord");
    if columns.has_size {
        text.extend([format!("{:>SIZE$}", "size")]);
    }
    text += &columns.figures.text("free");
    for &kind in &columns.types {
        text += &columns.figures.text(type_head(kind, columns.column));
    }
    text += &columns.sums.text(if columns.sum > 9 { "available" } else { "avail" });
    text.extend([format!("{:>INDEX$}", "unusable")]);
    if columns.has_extfrag {
        text.extend([format!("{:>1$}", "extfrag", INDEX + 1)]);
    }
    text += &" ".repeat(columns.bar);
    Line::styled(text, view.theme.head())
}

/// The kernel's name of a type, or as much of it as tells it apart.
fn type_head(kind: Migratetype, column: usize) -> &'static str {
    if kind.name().len() < column {
        return kind.name();
    }
    let (short, shorter) = match kind {
        Migratetype::Unmovable => ("Unmov", "Unmov"),
        Migratetype::Movable => ("Movable", "Mov"),
        Migratetype::Reclaimable => ("Reclaim", "Recl"),
        Migratetype::HighAtomic => ("HighAt", "HiAt"),
        Migratetype::Cma => ("CMA", "CMA"),
        Migratetype::Isolate => ("Isolate", "Isol"),
    };
    if short.len() < column { short } else { shorter }
}

fn order_row(columns: &Columns, model: &Model, zone: &ZoneModel, view: &View, order: usize) -> Line<'static> {
    let theme = view.theme;
    let is_chosen = order == view.order(model);
    let strong = if is_chosen { Theme::chosen() } else { Style::new() };
    let mut line = Line::default();
    line.push_span(Span::styled(format!("{}{order:>2}", if is_chosen { '>' } else { ' ' }), strong));
    if columns.has_size {
        let size = block_size(model.machine.page_bytes, order);
        line.push_span(Span::styled(format!("{size:>SIZE$}"), strong));
    }
    let shade = |count: u64| if count == 0 { theme.faint() } else { strong };
    let total = zone.free[order];
    line.push_span(Span::styled(columns.figures.count(total), shade(total.blocks)));
    for kind in &columns.types {
        let count = zone.by_type.as_ref().map(|by_type| by_type[kind.index()][order]);
        line.push_span(match count {
            Some(count) => Span::styled(columns.figures.count(count), shade(count.blocks)),
            None => Span::styled(columns.figures.text("-"), theme.faint()),
        });
    }
    let bound = Bound::of(zone, order);
    let sum = available(zone, order);
    line.push_span(Span::styled(columns.sums.count(sum), shade(sum.blocks)));
    let index = zone.unusable_index[order];
    let style = theme.unusable(index).patch(strong);
    line.push_span(Span::styled(format!("{:>INDEX$}", format!("{}{index:.3}", bound.sign())), style));
    if columns.has_extfrag {
        let text = zone.extfrag_index[order].map_or_else(|| "-".to_owned(), |index| format!("{index:.3}"));
        line.push_span(Span::styled(format!("{text:>0$}", INDEX + 1), strong));
    }
    if columns.bar > 0 {
        line.push_span(Span::styled(format!("  {}", bar(index, columns.bar - 2)), theme.unusable(index)));
    }
    line
}

/// How many blocks of `order` the free blocks make up.
fn available(zone: &ZoneModel, order: usize) -> FreeCount {
    FreeCount { blocks: zone.blocks[order], capped: zone.free[order..].iter().any(|count| count.capped) }
}

/// What a count that the kernel cut off does to numbers that are made from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bound {
    /// Nothing was cut off.
    Exact,
    /// The number is at least this.
    AtLeast,
    /// The number may be either side of this.
    About,
}

impl Bound {
    /// For the unusable index of `order`: free memory below the order makes it grow, above it shrink.
    fn of(zone: &ZoneModel, order: usize) -> Self {
        let (below, above) = zone.free.split_at(order);
        let cut = |counts: &[FreeCount]| counts.iter().any(|count| count.capped);
        match (cut(below), cut(above)) {
            (_, true) => Self::About,
            (true, false) => Self::AtLeast,
            (false, false) => Self::Exact,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::AtLeast => "≥",
            Self::About => "~",
        }
    }
}

/// A share as a bar of at most `width`.
pub(super) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

fn pageblocks_row(columns: &Columns, zone: &ZoneModel, view: &View) -> Line<'static> {
    let shade = |number: u64| if number == 0 { view.theme.faint() } else { Style::new() };
    let of = |kind: &Migratetype| zone.pageblocks.map(|blocks| blocks[kind.index()]);
    let room = ORDER + if columns.has_size { SIZE } else { 0 } + columns.column;
    let word = if room >= 18 { "pageblocks of" } else { "pageblocks" };
    let mut line = Line::styled(format!("{word:>room$}"), Style::new());
    for kind in &columns.types {
        line.push_span(match of(kind) {
            Some(blocks) => Span::styled(columns.figures.number(blocks), shade(blocks)),
            None => Span::styled(columns.figures.text("-"), view.theme.faint()),
        });
    }
    let all = zone.pageblocks.map(|blocks| blocks.iter().take(MIGRATETYPES).sum::<u64>());
    if let Some(all) = all {
        line.push_span(Span::raw(columns.sums.number(all)));
        line.push_span(Span::styled("   in all", view.theme.faint()));
    }
    line
}
