//! Compacts nodes, in one go or in parts that each keep a budget.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::counters::Counters;
use super::worker::{Piece, Worker};
use crate::exit::Failure;

/// The file that compacts every node when it is written to.
const COMPACT: &str = "proc/sys/vm/compact_memory";

/// After so many parts in a row in which nothing moved, a node's compaction is given up.
const IDLE_PARTS: u32 = 2;

/// After so many parts in a row in which pages moved and no block came, too.
const FRUITLESS_PARTS: u32 = 20;

/// The longest pause between parts.
const PAUSE: Duration = Duration::from_secs(1);

/// The cost of compaction.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Compacting {
    /// Parts in which it ran.
    pub(super) parts: u64,
    /// The longest part.
    pub(super) longest: Duration,
    /// True if parts freed nothing before the kernel had compacted all.
    pub(super) gave_up: bool,
}

/// Compacts `nodes` in turn until there are enough blocks.
pub(super) fn compact(worker: &mut Worker<'_>, nodes: &[u32]) -> Result<Compacting, Failure> {
    let mut compacting = Compacting::default();
    worker.bound_lists();
    for file in files(worker, nodes) {
        compact_by(worker, &file, &mut compacting)?;
        if worker.is_interrupted() || worker.is_enough()? {
            break;
        }
    }
    Ok(compacting)
}

/// Compacts by one file, until the kernel has done it all, there are enough blocks, or parts bring nothing.
fn compact_by(worker: &mut Worker<'_>, file: &Path, all: &mut Compacting) -> Result<(), Failure> {
    let (mut idle, mut fruitless) = (0, 0);
    let root = worker.root();
    loop {
        let (before, free) = (Counters::read(root), worker.now()?);
        let (piece, took) = worker.have_done(file, Some("1"), worker.budget, true)?;
        all.parts += 1;
        all.longest = all.longest.max(took);
        worker.drain()?;
        let now = worker.now()?;
        if piece != Piece::Stopped || worker.is_interrupted() || now >= worker.request.blocks {
            return Ok(());
        }
        let moved = Counters::read(root).migrated_since(&before) > 0;
        idle = if moved || now > free { 0 } else { idle + 1 };
        fruitless = if now > free { 0 } else { fruitless + 1 };
        if idle >= IDLE_PARTS || fruitless >= FRUITLESS_PARTS {
            all.gave_up = true;
            return Ok(());
        }
        pause(worker, took.min(PAUSE));
    }
}

/// Lets others work for as long as `time`, or until a signal comes.
fn pause(worker: &Worker<'_>, time: Duration) {
    let until = Instant::now() + time;
    while !worker.is_interrupted() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(Duration::from_millis(20)));
    }
}

/// Returns the files that compact the nodes, or all memory where nodes have none.
fn files(worker: &Worker<'_>, nodes: &[u32]) -> Vec<PathBuf> {
    let root = worker.root();
    let of_node = |node: &u32| root.join(format!("sys/devices/system/node/node{node}/compact"));
    let files: Vec<_> = nodes.iter().map(of_node).collect();
    if files.iter().all(|file| file.exists()) { files } else { vec![root.join(COMPACT)] }
}
