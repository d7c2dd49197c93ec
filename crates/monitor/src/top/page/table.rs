//! The free blocks of one zone: a row for each order, a column for each migratetype.

use std::ops::RangeInclusive;

use freehold::{MIGRATETYPES, Migratetype, NR_PAGE_ORDERS};
use freehold_trace::FreeCount;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{Model, ZoneModel};
use crate::top::text::numbers::{Figures, block_size};
use crate::top::text::rows::Rows;
use crate::top::theme::Theme;
use crate::top::view::View;

/// Rows of the table: a head, and one for each order.
pub(super) const ROWS: usize = NR_PAGE_ORDERS + 1;

/// The width of a column of numbers; at the least width numbers may be rounded, not cut.
const COLUMN: RangeInclusive<usize> = 6..=13;

/// The greatest width of the column of available blocks.
const SUM: usize = 12;

/// Columns of the mark of the selected row and of the order.
const ORDER: usize = 3;

/// Columns of a block's size.
const SIZE: usize = 5;

/// The least columns of the unusable index with its head, and of its bar.
const INDEX: usize = 9;
const BAR: usize = 12;

/// The layout of the columns.
struct Columns {
    types: Vec<Migratetype>,
    column: usize,
    /// The width of the available blocks, which are sums and need more room.
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
        // Every kernel has these types; others are unknown without a reading by type.
        let types = if known.is_empty() { Migratetype::ALL[..4].to_vec() } else { known };
        // The total, the types, and the available blocks.
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
        let sums = Figures::new(sum, (0..NR_PAGE_ORDERS).map(|order| available(zone, order)));
        let bar = if has_bar { BAR } else { 0 };
        Self { types, column, sum, has_size, has_extfrag, bar, figures, sums }
    }

    fn width(&self) -> usize {
        let size = if self.has_size { SIZE } else { 0 };
        let extfrag = if self.has_extfrag { INDEX + 1 } else { 0 };
        ORDER + size + (self.types.len() + 1) * self.column + self.sum + INDEX + extfrag + self.bar
    }
}

/// Returns the width of the table in a room of `width` columns.
pub(super) fn width(width: usize, model: &Model, zone: &ZoneModel) -> usize {
    Columns::new(width, model, zone).width()
}

/// Draws the table of one zone, with a row of its pageblocks by type if `pageblocks`.
pub(super) fn draw(rows: &mut Rows<'_>, model: &Model, zone: &ZoneModel, view: &View, pageblocks: bool) {
    let columns = Columns::new(rows.width(), model, zone);
    rows.line(&head(&columns, view));
    for order in 0..NR_PAGE_ORDERS {
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

/// Returns the kernel's name of a type, or a prefix that is unique if the column is narrow.
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

/// Returns how many blocks of `order` the free blocks can be split into.
fn available(zone: &ZoneModel, order: usize) -> FreeCount {
    FreeCount { blocks: zone.blocks[order], capped: zone.free[order..].iter().any(|count| count.capped) }
}

/// How a number depends on counts that the kernel cut off at 100 000.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bound {
    /// No count was cut off.
    Exact,
    /// The number is at least this.
    AtLeast,
    /// The number may be larger or smaller.
    About,
}

impl Bound {
    /// Returns the bound of the unusable index of `order`: free memory below the order raises it,
    /// free memory above lowers it.
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

/// Returns a share as a bar of at most `width` columns.
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
