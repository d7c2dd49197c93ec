//! The records of a dump of `page_owner`, summed up by pageblock and code.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;

use freehold_linux::blame::{OwnerDumpCounts, OwnerRecord};
use freehold_measure::grouped;
use serde::Serialize;

/// The most tasks of a row that are kept.
const MOST_TASKS: usize = 64;

/// What stands where nothing is known.
const UNKNOWN: &str = "unknown";

/// Pages of one type in pageblocks of one type, allocated by one function.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OwnerRow {
    /// The type of the pageblocks.
    pub block_type: String,
    /// The type of the pages.
    pub page_type: String,
    /// The innermost function that is no allocator's.
    pub function: Option<String>,
    /// Pageblocks that contain such pages.
    pub pageblocks: u64,
    /// The pages.
    pub pages: u64,
    /// The tasks that allocated them, at most 64.
    pub pids: BTreeSet<i32>,
    /// The times of the first and of the last allocation, in nanoseconds since the boot.
    pub times_ns: Option<(u64, u64)>,
}

/// A dump of `page_owner` as a table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OwnerTable {
    /// Records of the dump.
    pub records: u64,
    /// Records that are damaged and left out.
    pub damaged: u64,
    /// Pages of a pageblock, by the frames and pageblocks of the records; `None` if they do not say it.
    pub pageblock_pages: Option<u64>,
    /// Pageblocks that contain unmovable pages.
    pub unmovable_pageblocks: u64,
    /// The rows: pages that compaction cannot move first, then most pageblocks first.
    pub rows: Vec<OwnerRow>,
}

/// The types of pageblock and page, and the function.
type Key = (String, String, Option<String>);

/// Sums up the records of a dump.
#[derive(Debug, Default)]
pub struct OwnerTables {
    rows: BTreeMap<Key, Sum>,
    unmovable: HashSet<u64>,
    /// The base-2 logarithm of the pages of a pageblock; `None` before the first record that shows it.
    shift: Option<u32>,
    /// True once a record contradicts another, or has a pageblock that is not its frame's.
    contradicts: bool,
}

#[derive(Debug, Default)]
struct Sum {
    blocks: HashSet<u64>,
    pages: u64,
    pids: BTreeSet<i32>,
    times_ns: Option<(u64, u64)>,
}

impl OwnerTables {
    /// Adds a record.
    pub fn add(&mut self, record: OwnerRecord) {
        self.measure(&record);
        let pages = 1_u64 << record.order;
        let per_block = self.pageblock_pages().unwrap_or(pages).max(1);
        let blocks = record.block..record.block.saturating_add((pages / per_block).clamp(1, 1 << 20));
        if record.page_type != "Movable" {
            self.unmovable.extend(blocks.clone());
        }
        let sum = self.rows.entry((record.block_type, record.page_type, record.function)).or_default();
        sum.blocks.extend(blocks);
        sum.pages = sum.pages.saturating_add(pages);
        if let Some(pid) = record.pid.filter(|_| sum.pids.len() < MOST_TASKS) {
            sum.pids.insert(pid);
        }
        if let Some(at) = record.time_ns {
            let (first, last) = sum.times_ns.unwrap_or((at, at));
            sum.times_ns = Some((first.min(at), last.max(at)));
        }
    }

    /// Learns the size of a pageblock: its number is the frame without the low bits.
    fn measure(&mut self, record: &OwnerRecord) {
        let shift = (0..32).find(|&shift| record.pfn >> shift == record.block);
        let Some(shift) = shift.filter(|_| record.block > 0) else {
            self.contradicts |= record.block > 0;
            return;
        };
        self.contradicts |= self.shift.is_some_and(|known| known != shift);
        self.shift = Some(shift);
    }

    fn pageblock_pages(&self) -> Option<u64> {
        self.shift.filter(|_| !self.contradicts).map(|shift| 1 << shift)
    }

    /// Returns the table.
    pub fn finish(self, counts: OwnerDumpCounts) -> OwnerTable {
        let pageblock_pages = self.pageblock_pages();
        let rows = self.rows.into_iter().map(|((block_type, page_type, function), sum)| OwnerRow {
            block_type,
            page_type,
            function,
            pageblocks: sum.blocks.len() as u64,
            pages: sum.pages,
            pids: sum.pids,
            times_ns: sum.times_ns,
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| (row.page_type == "Movable", std::cmp::Reverse((row.pageblocks, row.pages))));
        OwnerTable {
            records: counts.records,
            damaged: counts.damaged,
            pageblock_pages,
            unmovable_pageblocks: self.unmovable.len() as u64,
            rows,
        }
    }
}

impl OwnerTable {
    /// Returns the table as text: the first row as a sentence, then at most `most` rows.
    pub fn text(&self, most: usize) -> String {
        let mut text = String::new();
        if let Some(row) = self.rows.first() {
            let _ = writeln!(text, "{}.", row.sentence());
        }
        let blocks = grouped(self.unmovable_pageblocks);
        let size =
            self.pageblock_pages.map_or(String::new(), |pages| format!(" of {} pages", grouped(pages)));
        let _ = writeln!(
            text,
            "{}: {} with pages that cannot be moved.",
            counted(self.records, "record"),
            if blocks == "1" { format!("1 pageblock{size}") } else { format!("{blocks} pageblocks{size}") }
        );
        let _ =
            writeln!(text, "\n{:>8}{:>10}  {:<12}{:<12}code", "blocks", "pages", "block type", "page type");
        for row in self.rows.iter().take(most) {
            let (blocks, pages) = (grouped(row.pageblocks), grouped(row.pages));
            let function = row.function.as_deref().unwrap_or(UNKNOWN);
            let _ = writeln!(
                text,
                "{blocks:>8}{pages:>10}  {:<12}{:<12}{function}{}",
                row.block_type,
                row.page_type,
                row.origin()
            );
        }
        if let Some(left) = self.rows.len().checked_sub(most).filter(|left| *left > 0) {
            let _ = writeln!(text, "and {left} more; --rows shows them");
        }
        if self.damaged > 0 {
            let _ = writeln!(
                text,
                "\n{} left out: the line with the frame is damaged.",
                counted(self.damaged, "record")
            );
        }
        text.push_str("\nNothing is known of pages without a record: free pages, and pages from before page_owner started.");
        text
    }
}

fn counted(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{} {what}s", grouped(number)) }
}

impl OwnerRow {
    /// Returns `1 pageblock of type CMA contains 512 Unmovable pages of nf_ct_alloc_hashtable (pid 1, 1.07 s after boot)`.
    fn sentence(&self) -> String {
        let contains = if self.pageblocks == 1 { "contains" } else { "contain" };
        let s = if self.pageblocks == 1 { "" } else { "s" };
        let function = self.function.as_deref().unwrap_or("a function that is unknown");
        let pages = if self.pages == 1 { "page" } else { "pages" };
        format!(
            "{} pageblock{s} of type {} {contains} {} {} {pages} of {function}{}",
            grouped(self.pageblocks),
            self.block_type,
            grouped(self.pages),
            self.page_type,
            self.origin()
        )
    }

    /// Returns the task and the time in brackets, as far as they are known.
    fn origin(&self) -> String {
        let task = match self.pids.len() {
            0 => None,
            1 => self.pids.first().map(|pid| format!("pid {pid}")),
            MOST_TASKS.. => Some(format!("{MOST_TASKS} tasks or more")),
            tasks => Some(format!("{tasks} tasks")),
        };
        let seconds = |ns: u64| format!("{:.2}", ns as f64 / 1e9);
        let time = self.times_ns.map(|(first, last)| match (seconds(first), seconds(last)) {
            (first, last) if first == last => format!("{first} s after boot"),
            (first, last) => format!("{first} to {last} s after boot"),
        });
        let parts: Vec<_> = [task, time].into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(pfn: u64, page_type: &str, function: &str) -> OwnerRecord {
        OwnerRecord {
            order: 0,
            pid: Some(7),
            time_ns: Some(pfn * 1_000_000),
            pfn,
            page_type: page_type.to_owned(),
            block: pfn >> 9,
            block_type: "Movable".to_owned(),
            function: Some(function.to_owned()),
        }
    }

    #[test]
    fn pages_that_cannot_be_moved_come_first() {
        let mut tables = OwnerTables::default();
        for pfn in [1024, 1025, 2048, 4096] {
            tables.add(record(pfn, "Movable", "do_anonymous_page"));
        }
        tables.add(record(1026, "Unmovable", "pipe_write"));
        tables.add(record(2049, "Unmovable", "pipe_write"));
        let counts = OwnerDumpCounts { records: 6, damaged: 1, lines: 9 };
        let table = tables.finish(counts);
        assert_eq!((table.pageblock_pages, table.unmovable_pageblocks), (Some(512), 2));
        let text = table.text(1);
        let first = "2 pageblocks of type Movable contain 2 Unmovable pages of pipe_write (pid 7, 1.03 to 2.05 s after boot).";
        assert!(text.starts_with(first), "{text}");
        assert!(text.contains("and 1 more") && text.contains("1 record left out"), "{text}");
    }
}
