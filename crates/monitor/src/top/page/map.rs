//! The pageblock map: a letter, and a colour if there are colours, for one or several pageblocks.

use ratatui::text::{Line, Span};

use super::gigabytes;
use crate::model::{Holds, Map, Model, ZoneMap, ZoneModel};
use crate::top::text::numbers::{block_size, bytes, stretch};
use crate::top::text::rows::{LABEL, Rows, fit, label, wrap};
use crate::top::theme::Theme;
use crate::top::view::View;

/// The text if there is no map.
const NONE: &str = "- (no map: needs root and a kernel with CONFIG_PROC_PAGE_MONITOR)";

/// The kinds whose shares are shown.
const SHOWN: [Holds; 5] = [Holds::Free, Holds::Listed, Holds::Movable, Holds::Mixed, Holds::Stuck];

/// The columns for the address before a row.
const ADDRESS: usize = 10;

/// Draws the selected zone's map in one row, with the share of each kind.
pub(super) fn strip(rows: &mut Rows<'_>, model: &Model, zone: &ZoneModel, view: &View) {
    let mut line = Line::from(label("map", view.theme.label()));
    let width = rows.width();
    let known = model.map.as_ref().and_then(|map| of(map, zone));
    let Some(known) = known else {
        line.push_span(Span::styled(fit(NONE, width.saturating_sub(LABEL)), view.theme.faint()));
        return rows.line(&line);
    };
    let shares = shares(known, view);
    let room = width.saturating_sub(LABEL + shares.iter().map(Span::width).sum::<usize>());
    line.spans.extend(cells(known, room, 0, view));
    line.spans.extend(shares);
    rows.line(&line);
}

fn of<'a>(map: &'a Map, zone: &ZoneModel) -> Option<&'a ZoneMap> {
    map.zones.iter().find(|known| known.node == zone.node && known.name == zone.name)
}

/// Returns the shares, such as ` . 38% m 41% x 18% S  3%`.
fn shares(zone: &ZoneMap, view: &View) -> Vec<Span<'static>> {
    let totals = zone.totals();
    let count = |kind: Holds| Holds::ALL.iter().position(|&known| known == kind).map_or(0, |at| totals[at]);
    let present: u64 = SHOWN.iter().map(|&kind| u64::from(count(kind))).sum();
    let mut spans = Vec::new();
    for kind in SHOWN {
        let share = f64::from(count(kind)) * 100.0 / (present.max(1)) as f64;
        spans.push(Span::raw(" "));
        spans.push(Span::styled(kind.letter().to_string(), view.theme.cell(kind)));
        spans.push(Span::raw(format!("{share:3.0}%")));
    }
    spans
}

/// Returns a zone's map in at most `room` cells. `first` is the first cell's place for [`shown`].
fn cells(zone: &ZoneMap, room: usize, first: usize, view: &View) -> Vec<Span<'static>> {
    let cells: Vec<_> =
        zone.cells(room).iter().enumerate().map(|(at, cell)| shown(cell, first + at)).collect();
    let runs = cells.chunk_by(|one, next| one == next);
    let spans = runs.map(|run| {
        let letters = run[0].letter().to_string().repeat(run.len());
        Span::styled(letters, view.theme.cell(run[0]))
    });
    spans.collect()
}

/// Returns the kind that a cell shows. The cell's place decides among the kinds of its pageblocks, so
/// that over several cells each kind is shown as often as it occurs.
///
/// Showing the worst kind would do for cells of two or three pageblocks. In a large zone a cell has
/// hundreds, and nearly every cell contains one of the worst kind.
fn shown(cell: &[u32; Holds::ALL.len()], place: usize) -> Holds {
    let kinds =
        || Holds::ALL.into_iter().zip(cell).filter(|&(kind, &count)| kind != Holds::Absent && count > 0);
    let memory: u32 = kinds().map(|(_, &count)| count).sum();
    // Multiples of the golden ratio are evenly spread for any number of cells.
    let spread = (place as f64 * 0.618_033_988_75 + 0.5).fract();
    let mut left = spread * f64::from(memory);
    for (kind, &count) in kinds() {
        left -= f64::from(count);
        if left < 0.0 {
            return kind;
        }
    }
    kinds().next_back().map_or(Holds::Absent, |(kind, _)| kind)
}

/// Draws every zone's map and, in the last row, the legend.
pub(super) fn page(rows: &mut Rows<'_>, model: &Model, view: &View) {
    let width = rows.width();
    let Some(map) = model.map.as_ref().filter(|map| !map.zones.is_empty()) else {
        let head = format!("{:width$}", "  what the pageblocks hold");
        rows.line(&Line::styled(head, view.theme.head()));
        for text in wrap(NONE.trim_start_matches("- "), width.saturating_sub(4)) {
            rows.line(&Line::raw(format!("  {text}")));
        }
        return;
    };
    let across = width.saturating_sub(ADDRESS + 1).max(1);
    let per_cell =
        per_cell(map, across, rows.left().saturating_sub(1 + map.zones.len() + gigabytes::strip_rows(map)));
    let mut head = legend(view);
    let said = letter(map, model, per_cell, width.saturating_sub(head.width()));
    head.spans.extend(said.map(|said| Span::styled(said, view.theme.faint())));
    rows.line(&head);
    for zone in &map.zones {
        let mut head = Line::styled(format!("  Node {}, zone {:<8}", zone.node, zone.name), Theme::chosen());
        head.spans.extend(shares(zone, view));
        rows.line(&head);
        for (row, blocks) in zone.blocks.chunks(across * per_cell).enumerate() {
            let first = zone.first_block + (row * across * per_cell) as u64;
            let part = ZoneMap { blocks: blocks.to_vec(), ..ZoneMap::default() };
            let address = Span::styled(format!("{:>ADDRESS$} ", address(model, first)), view.theme.faint());
            let cells = cells(&part, blocks.len().div_ceil(per_cell), row * across, view);
            rows.line(&[address].into_iter().chain(cells).collect::<Line<'_>>());
        }
    }
    gigabytes::strip(rows, map, view);
}

/// Draws a row for each zone, largest first, if there are too few rows for [`page`].
pub(super) fn strips(rows: &mut Rows<'_>, map: &Map, view: &View) {
    let width = rows.width();
    if rows.left() > map.zones.len() {
        rows.line(&legend(view));
    }
    let mut zones: Vec<_> = map.zones.iter().collect();
    zones.sort_by_key(|zone| std::cmp::Reverse(zone.blocks.len()));
    for zone in zones.into_iter().take(rows.left()) {
        let name = fit(&format!("{} {}", zone.node, zone.name), LABEL - 1);
        let mut line = Line::from(Span::raw(format!("{name:LABEL$}")));
        let shares = shares(zone, view);
        let room = width.saturating_sub(LABEL + shares.iter().map(Span::width).sum::<usize>());
        line.spans.extend(cells(zone, room, 0, view));
        line.spans.extend(shares);
        rows.line(&line);
    }
}

/// Returns how many rows [`page`] needs.
pub(super) fn page_rows(map: &Map) -> usize {
    4 + 2 * map.zones.len() + gigabytes::strip_rows(map)
}

/// Returns how many pageblocks a cell stands for, so that all zones fit into `rows` rows of `across`
/// cells.
fn per_cell(map: &Map, across: usize, rows: usize) -> usize {
    let needed = |per_cell: usize| {
        map.zones.iter().map(|zone| zone.blocks.len().div_ceil(across * per_cell)).sum::<usize>()
    };
    let all: usize = map.zones.iter().map(|zone| zone.blocks.len()).sum();
    let mut least = (all / (across * rows.max(1))).max(1);
    let largest = map.zones.iter().map(|zone| zone.blocks.len()).max().unwrap_or(1);
    while needed(least) > rows && least < largest {
        least += 1;
    }
    least
}

fn address(model: &Model, block: u64) -> String {
    let order = model.likely_pageblock_order() as u32;
    bytes(block.checked_shl(order).unwrap_or(0).saturating_mul(model.machine.page_bytes))
}

/// Returns what the letters stand for.
fn legend(view: &View) -> Line<'static> {
    let mut line = Line::raw("  ");
    for kind in SHOWN.into_iter().chain([Holds::Unread]) {
        line.push_span(Span::styled(kind.letter().to_string(), view.theme.cell(kind)));
        line.push_span(Span::raw(format!(" {}  ", kind.name())));
    }
    line
}

/// Returns how much memory a letter stands for and how old the map is, in at most `room` columns.
fn letter(map: &Map, model: &Model, per_cell: usize, room: usize) -> Option<String> {
    let size = block_size(model.machine.page_bytes, model.likely_pageblock_order());
    let age = stretch(map.age_ms as f64 / 1000.0);
    let letter =
        if per_cell == 1 { format!("a letter: {size}") } else { format!("a letter: {per_cell} × {size}") };
    let texts =
        [format!("{letter}, in proportion, read in {age}"), format!("{letter}, in proportion"), letter];
    texts.into_iter().find(|text| text.chars().count() <= room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_kinds_in_proportion() {
        use Holds::{Absent, Free, Mixed, Movable, Unread};
        for kind in [Free, Movable, Mixed, Unread, Absent] {
            let cell = Holds::ALL.map(|known| u32::from(known == kind) * 3);
            assert!((0..100).all(|place| shown(&cell, place) == kind), "{kind:?}");
        }
        let cell = Holds::ALL.map(|kind| match kind {
            Free => 30,
            Mixed => 10,
            Absent => 1000,
            _ => 0,
        });
        let mixed = (0..100).filter(|&place| shown(&cell, place) == Mixed).count();
        assert!((23..=27).contains(&mixed), "{mixed}: a quarter of what is memory");
        assert_eq!(shown(&[0; Holds::ALL.len()], 0), Absent);
    }

    #[test]
    fn all_zones_find_room() {
        let zone = |blocks| ZoneMap { blocks: vec![Holds::Free; blocks], ..ZoneMap::default() };
        let map = Map { zones: vec![zone(8), zone(1528), zone(10_752)], ..Map::default() };
        for (across, rows) in [(70, 18), (190, 40), (1, 1), (70, 0)] {
            let cell = per_cell(&map, across, rows);
            let taken: usize = map.zones.iter().map(|zone| zone.blocks.len().div_ceil(across * cell)).sum();
            assert!(taken <= rows.max(3), "{across} x {rows}: {taken} rows");
        }
        assert_eq!(per_cell(&Map::default(), 10, 10), 1);
    }
}
