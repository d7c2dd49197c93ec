//! The report of the command.

use std::fmt::Write;

use freehold_linux::blame::Watched;
use freehold_measure::grouped;
use freehold_monitor::blame::{Blame, CodeInUse, MovableOnly};
use freehold_monitor::verdict::SizeText;
use serde::Serialize;

/// Everything that is reported.
#[derive(Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    pub(super) blame: Blame,
    /// Blocks that contain only movable pages.
    pub(super) movable: MovableOnly,
    /// The size of a block.
    pub(super) block_bytes: u64,
    /// True if the kernel records the code that allocated each page.
    pub(super) page_owner: bool,
    /// The kernel's account by code, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code_in_use: Option<CodeInUse>,
    /// The watch, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) watch: Option<WatchReport>,
    /// What could not be read, and what the numbers leave open.
    pub(super) notes: Vec<String>,
}

/// The results and the cost of a watch.
#[derive(Serialize)]
pub(super) struct WatchReport {
    seconds: f64,
    /// Allocations of other types than Movable.
    allocations: u64,
    frees: u64,
    /// Allocations of the share that are still in use.
    live: u64,
    /// Allocations of which nothing was kept, as there was no room.
    lost: u64,
    /// Allocations whose stack was not kept, as there was no room.
    without_stack: u64,
    /// The time that the watch took, in CPUs; an estimate of one call in 64.
    cpus: f64,
}

impl WatchReport {
    pub(super) fn of(watched: &Watched) -> Self {
        Self {
            seconds: watched.duration_ns as f64 / 1e9,
            allocations: watched.allocations,
            frees: watched.frees,
            live: watched.live.len() as u64,
            lost: watched.lost,
            without_stack: watched.without_stack,
            cpus: watched.cost_ns as f64 / watched.duration_ns.max(1) as f64,
        }
    }
}

impl Report {
    /// Returns the report as a text, with a table of at most `rows` rows.
    pub(super) fn text(&self, rows: usize) -> String {
        let mut text = self.blame.text(&SizeText(self.block_bytes).to_string(), rows);
        text.push('\n');
        text.push_str(&self.movable.text());
        if self.page_owner {
            text.push_str("Code and age are those of page_owner.\n");
        }
        if let Some(watch) = &self.watch {
            let _ = writeln!(
                text,
                "Watched for {:.0} s: {} allocations that are not movable, {} still in use; {} frees; {:.2} % of a CPU.",
                watch.seconds,
                grouped(watch.allocations),
                grouped(watch.live),
                grouped(watch.frees),
                100.0 * watch.cpus
            );
            if !self.page_owner {
                text.push_str("Pages without an age are older than the watch, and which code allocated them is not known.\n");
            }
            if watch.lost + watch.without_stack > 0 {
                let lost = grouped(watch.lost + watch.without_stack);
                let _ = writeln!(
                    text,
                    "{lost} allocations did not fit into the table; watch for a shorter time."
                );
            }
        }
        for note in &self.notes {
            let _ = writeln!(text, "{note}");
        }
        if let Some(code) = &self.code_in_use {
            if !text.ends_with("\n\n") {
                text.push('\n');
            }
            text.push_str(&code.text(&self.blame, rows));
        }
        text
    }
}
