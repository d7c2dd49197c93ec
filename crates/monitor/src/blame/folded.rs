//! Kept blocks by stack, in the form that drawers of flame graphs read.

use std::collections::BTreeMap;
use std::fmt::Write;

use freehold_linux::blame::StackId;

use super::answer::{Readings, find, is_watched};

/// What each kept block counts: divided among its stacks, and whole numbers are wanted.
const OF_A_BLOCK: u64 = 1000;

/// Returns a line for each stack: what the pages are and its functions, the outermost first, with semicolons between, and the
/// thousandths of kept blocks of `order` that it accounts for. A block counts a thousand, divided among its stacks by their pages.
///
/// Pages whose allocation was not seen have a line with what they are alone.
pub fn folded(readings: &Readings<'_>, order: u8) -> String {
    let kept = find(readings, order);
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    let mut runs = readings.unmovable.iter().peekable();
    for (block, parts) in kept.blocks() {
        let all: u64 = parts.iter().map(|part| u64::from(part.pages)).sum();
        while runs.next_if(|run| (run.pfn + u64::from(run.pages) - 1) >> order < block).is_some() {}
        if !is_watched(readings, order, block) {
            continue;
        }
        for run in runs.clone().take_while(|run| run.pfn >> order <= block) {
            let made = readings.made.of(run.pfn);
            let age_ns = made.map(|made| readings.now_ns.saturating_sub(made.time_ns));
            if age_ns.is_some_and(|age| age < readings.older_than_ns) {
                continue;
            }
            let here = pages_in(run.pfn, run.pages, block, order);
            let stack = made.and_then(|made| made.stack);
            *lines.entry(line(readings, &run.what, stack)).or_default() +=
                here * OF_A_BLOCK * 1000 / all.max(1);
        }
    }
    let mut text = String::new();
    for (line, thousandths) in lines {
        // Rounded at the end, so that many small parts are not lost.
        let _ = writeln!(text, "{line} {}", (thousandths + 500) / 1000);
    }
    text
}

/// Returns how many pages of a run are in a block.
fn pages_in(pfn: u64, pages: u32, block: u64, order: u8) -> u64 {
    let (from, to) = (pfn.max(block << order), (pfn + u64::from(pages)).min((block + 1) << order));
    to.saturating_sub(from)
}

fn line(readings: &Readings<'_>, what: &freehold_linux::blame::What, stack: Option<StackId>) -> String {
    let title = super::holders::title(what);
    let functions = stack.map_or(&[][..], |stack| readings.stacks.functions(stack));
    let names = [title.as_str()].into_iter().chain(functions.iter().rev().map(String::as_str));
    names.map(|name| name.replace(';', ",")).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use freehold_linux::blame::{Allocation, Allocations, Share, Stacks, UnmovablePages, What};

    use super::*;

    #[test]
    fn a_block_is_divided_among_its_stacks() {
        let mut stacks = Stacks::default();
        let pipe = stacks.keep(vec!["pipe_write".to_owned(), "vfs_write".to_owned()]);
        let made = Allocations::new(vec![Allocation { pfn: 5, order: 0, time_ns: 0, stack: Some(pipe) }]);
        let run = |pfn, pages, what| UnmovablePages { pfn, pages, what };
        let unmovable = [run(5, 1, What::Kernel), run(8, 3, What::PageTable), run(511, 2, What::PageTable)];
        let readings = Readings {
            unmovable: &unmovable,
            made: &made,
            stacks: &stacks,
            share: Share::ALL,
            pageblock_order: 9,
            now_ns: 5,
            older_than_ns: 0,
        };
        assert_eq!(folded(&readings, 9), "kernel pages;vfs_write;pipe_write 200\npage tables 1800\n");
    }
}
