//! The free blocks of one zone: a row for each order, a column for each migratetype.

use std::ops::{Range, RangeInclusive};

use freehold::Migratetype;
use freehold_trace::{FreeCount, KernelType};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{Model, ZoneModel};
use crate::top::text::numbers::{Figures, block_size};
use crate::top::text::rows::Rows;
use crate::top::theme::Theme;
use crate::top::view::View;

/// Returns how many rows the table needs: a head, and one for each order.
pub(super) fn rows_of(model: &Model) -> usize {
    model.largest_order().index() + 2
}

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

/// Counts by type that are so much older than the totals are dimmed, in milliseconds.
const OLD_MS: u64 = 2000;

/// The layout of the columns.
struct Columns {
    types: Vec<KernelType>,
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
        let mut types = model.types.to_vec();
        if types.is_empty() {
            // Every kernel has these types; others are unknown without a reading by type.
            types = Migratetype::ALL[..4].iter().copied().map(KernelType::Linux).collect();
        }
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
        let of_types = zone.by_type.iter().flat_map(|types| types.iter().flatten());
        let counts = of_types.chain(&zone.free).copied();
        let sum = room.saturating_sub((numbers - 1) * column).clamp(column, column.max(SUM));
        let figures = Figures::new(column, counts);
        let sums = Figures::new(sum, (0..zone.free.len()).map(|order| available(zone, order)));
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
///
/// Where there are fewer than `most` rows for orders, those around the selected one are drawn, and arrows show
/// where there are more.
pub(super) fn draw(
    rows: &mut Rows<'_>,
    model: &Model,
    zone: &ZoneModel,
    view: &View,
    pageblocks: bool,
    most: usize,
) {
    let columns = Columns::new(rows.width(), model, zone);
    rows.line(&head(&columns, view));
    let orders = zone.free.len();
    let shown = around(view.order(model), orders, most.saturating_sub(1));
    for order in shown.clone() {
        let hides = (order == shown.start && order > 0, order + 1 == shown.end && order + 1 < orders);
        rows.line(&order_row(&columns, model, zone, view, order, hides));
    }
    if pageblocks {
        rows.line(&pageblocks_row(&columns, zone, view));
    }
}

/// Returns `most` of the first `all` numbers, with `chosen` as far as possible in the middle.
fn around(chosen: usize, all: usize, most: usize) -> Range<usize> {
    let end = (chosen + most.div_ceil(2)).max(most).min(all);
    end.saturating_sub(most)..end
}

fn head(columns: &Columns, view: &View) -> Line<'static> {
    let mut text = format!("{:>ORDER$}", "ord");
    if columns.has_size {
        text.extend([format!("{:>SIZE$}", "size")]);
    }
    text += &columns.figures.text("free");
    for kind in &columns.types {
        text += &columns.figures.text(&type_head(kind, columns.column));
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
fn type_head(kind: &KernelType, column: usize) -> String {
    if kind.name().len() < column {
        return kind.name().to_owned();
    }
    let KernelType::Linux(known) = kind else {
        return kind.name().chars().take(column.saturating_sub(2)).chain(['…']).collect();
    };
    let (short, shorter) = match known {
        Migratetype::Unmovable => ("Unmov", "Unmov"),
        Migratetype::Movable => ("Movable", "Mov"),
        Migratetype::Reclaimable => ("Reclaim", "Recl"),
        Migratetype::HighAtomic => ("HighAt", "HiAt"),
        Migratetype::Cma => ("CMA", "CMA"),
        Migratetype::Isolate => ("Isolate", "Isol"),
    };
    if short.len() < column { short } else { shorter }.to_owned()
}

/// Returns the row of an order. `hides` says whether it hides smaller and larger orders.
fn order_row(
    columns: &Columns,
    model: &Model,
    zone: &ZoneModel,
    view: &View,
    order: usize,
    hides: (bool, bool),
) -> Line<'static> {
    let theme = view.theme;
    let is_chosen = order == view.order(model);
    let strong = if is_chosen { Theme::chosen() } else { Style::new() };
    let mut line = Line::default();
    let mark = match hides {
        _ if is_chosen => '>',
        (true, _) => '↑',
        (_, true) => '↓',
        _ => ' ',
    };
    line.push_span(Span::styled(format!("{mark}{order:>2}"), strong));
    if columns.has_size {
        let size = block_size(model.machine.page_bytes, order);
        line.push_span(Span::styled(format!("{size:>SIZE$}"), strong));
    }
    let shade = |count: u64| if count == 0 { theme.faint() } else { strong };
    let total = zone.free[order];
    line.push_span(Span::styled(columns.figures.count(total), shade(total.blocks)));
    let is_old = model.sensor.types_age_ms.is_some_and(|age_ms| age_ms > OLD_MS);
    for kind in &columns.types {
        let count = zone.by_type.as_ref().map(|by_type| by_type[kind.index()][order]);
        line.push_span(match count {
            Some(count) if is_old => Span::styled(columns.figures.count(count), theme.faint()),
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
    let of = |kind: &KernelType| zone.pageblocks.as_ref().map(|blocks| blocks[kind.index()]);
    let room = ORDER + if columns.has_size { SIZE } else { 0 } + columns.column;
    let word = if room >= 18 { "pageblocks of" } else { "pageblocks" };
    let mut line = Line::styled(format!("{word:>room$}"), Style::new());
    for kind in &columns.types {
        line.push_span(match of(kind) {
            Some(blocks) => Span::styled(columns.figures.number(blocks), shade(blocks)),
            None => Span::styled(columns.figures.text("-"), view.theme.faint()),
        });
    }
    let all = zone.pageblocks.as_ref().map(|blocks| blocks.iter().sum::<u64>());
    if let Some(all) = all {
        line.push_span(Span::raw(columns.sums.number(all)));
        line.push_span(Span::styled("   in all", view.theme.faint()));
    }
    line
}
