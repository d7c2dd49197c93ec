//! Pageblocks as a table and as a picture.

use std::fmt::Write as _;

use freehold::PageblockUse;
use freehold_lab::{Column, Columns};

/// The colours of a pageblock's contents: unmovable, movable and reclaimable pages, and pages on per-CPU lists.
const COLOURS: [&str; 4] = ["#d55e00", "#0072b2", "#e69f00", "#999999"];

/// The number of pageblocks in a row of the picture.
const IN_A_ROW: usize = 32;

/// The size of a pageblock in the picture.
const SIZE: usize = 20;

/// Returns a row for each pageblock.
pub(super) fn columns(pageblocks: &[PageblockUse]) -> Columns {
    let numbers = |of: &dyn Fn(&PageblockUse) -> u64| {
        Column::Numbers(pageblocks.iter().map(|block| Some(of(block).cast_signed())).collect())
    };
    let names = pageblocks.iter().map(|block| block.migratetype.map(|kind| kind.name().to_owned()));
    let mut columns = Columns::default();
    columns.push("start", numbers(&|block| block.start.0));
    columns.push("migratetype", Column::Texts(names.collect()));
    columns.push("free", numbers(&|block| block.free.into()));
    columns.push("percpu", numbers(&|block| block.percpu.into()));
    for (at, name) in ["unmovable", "movable", "reclaimable"].into_iter().enumerate() {
        columns.push(name, numbers(&|block| block.allocated[at].into()));
    }
    columns.push("reserved", numbers(&|block| block.reserved.into()));
    columns.push("mixed", Column::Flags(pageblocks.iter().map(|block| Some(block.is_mixed())).collect()));
    columns
}

/// Returns a picture: a box for each pageblock, with a frame in the colour of its type, filled by its contents.
pub(super) fn picture(pageblocks: &[PageblockUse], pages: u64) -> String {
    let rows = pageblocks.len().div_ceil(IN_A_ROW);
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{}' role='img' aria-label='pageblocks'>",
        IN_A_ROW * (SIZE + 4) + 4,
        rows * (SIZE + 4) + 4
    );
    for (number, block) in pageblocks.iter().enumerate() {
        let (x, y) = ((number % IN_A_ROW) * (SIZE + 4) + 4, (number / IN_A_ROW) * (SIZE + 4) + 4);
        let frame = block.migratetype.and_then(|kind| COLOURS.get(kind.index())).unwrap_or(&"#000000");
        let parts = block.allocated.iter().chain([&block.percpu]);
        let mut from = (y + SIZE) as f64;
        for (&part, colour) in parts.zip(COLOURS) {
            let height = f64::from(part) * SIZE as f64 / pages.max(1) as f64;
            from -= height;
            // Writing into a string does not fail.
            let _ = write!(
                svg,
                "<rect x='{x}' y='{from:.1}' width='{SIZE}' height='{height:.1}' fill='{colour}'/>"
            );
        }
        let kind = block.migratetype.map_or("hole", freehold::Migratetype::name);
        let [unmovable, movable, reclaimable] = block.allocated;
        let _ = write!(
            svg,
            "<rect x='{x}' y='{y}' width='{SIZE}' height='{SIZE}' fill='none' stroke='{frame}' stroke-width='2'>\
             <title>{:#x} {kind}: {unmovable} unmovable, {movable} movable, {reclaimable} reclaimable, {} free</title></rect>",
            block.start.0, block.free
        );
    }
    svg + "</svg>"
}
