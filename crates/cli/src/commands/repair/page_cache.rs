//! Drops clean page cache, no more than needed if the kernel takes an amount.

use std::fs;
use std::path::{Path, PathBuf};

use super::counters::Counters;
use super::worker::{Piece, Worker};
use crate::exit::Failure;

/// The most bytes that are dropped before free blocks are counted again.
const CHUNK_BYTES: u64 = 64 << 20;

/// The file that drops all clean page cache when `1` is written to it.
const DROP_CACHES: &str = "proc/sys/vm/drop_caches";

/// The result of a drop.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Dropped {
    /// Pages by which page cache became smaller.
    pub(super) pages: u64,
    /// True if all clean page cache was dropped at once.
    pub(super) all: bool,
}

/// Drops page cache of `nodes` until there are enough blocks, or `pages` are dropped. If nothing follows
/// (`is_last`), more is dropped than `pages` until there are enough blocks. With `whole` all clean page
/// cache is dropped at once.
pub(super) fn drop_page_cache(
    worker: &mut Worker<'_>,
    nodes: &[u32],
    pages: u64,
    is_last: bool,
    whole: bool,
) -> Result<Dropped, Failure> {
    let root = worker.root();
    let before = Counters::read(root);
    let page_bytes = worker.request.block_bytes >> worker.request.order;
    let (mut files, all_cache) = if whole { (Vec::new(), false) } else { amounts(root, nodes) };
    let mut in_chunks = Dropped::default();
    let wanted = |dropped: u64| is_last || dropped < pages;
    'chunks: while !files.is_empty() {
        let mut left = Vec::new();
        for file in files {
            // Beyond what was planned, as much again each time.
            let missing = pages.checked_sub(in_chunks.pages).filter(|&missing| missing > 0);
            let missing = missing.unwrap_or(in_chunks.pages).saturating_mul(page_bytes);
            let bytes = missing.clamp(page_bytes, CHUNK_BYTES);
            let start = in_chunks.pages;
            let piece = reclaim(worker, &file, bytes)?;
            worker.drain()?;
            in_chunks.pages = Counters::read(root).dropped_since(&before);
            if worker.is_interrupted() || worker.is_enough()? || !wanted(in_chunks.pages) {
                return Ok(in_chunks);
            }
            match piece {
                Piece::Unknown => break 'chunks,
                // A kernel that could not do all of it may do more the next time.
                _ if in_chunks.pages > start => left.push(file),
                _ => {}
            }
        }
        files = left;
        if files.is_empty() && all_cache {
            return Ok(in_chunks);
        }
    }
    let file = root.join(DROP_CACHES);
    worker.have_done(&file, Some("1"), None, false)?;
    worker.drain()?;
    Ok(Dropped { pages: Counters::read(root).dropped_since(&before), all: true })
}

/// Returns the files that drop so many bytes: those of the nodes, otherwise those of the cgroups that are
/// charged for page cache, the largest first; none if the kernel has neither. Returns true with them if they
/// reach all page cache: the root cgroup, which may be charged for some, has no such file.
fn amounts(root: &Path, nodes: &[u32]) -> (Vec<PathBuf>, bool) {
    let of_node = |node: &u32| root.join(format!("sys/devices/system/node/node{node}/reclaim"));
    let of_nodes: Vec<_> = nodes.iter().map(of_node).collect();
    if of_nodes.iter().all(|file| file.exists()) {
        return (of_nodes, true);
    }
    let mut cgroups: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(root.join("sys/fs/cgroup")).into_iter().flatten().flatten() {
        let file = entry.path().join("memory.reclaim");
        let charged =
            fs::read_to_string(entry.path().join("memory.stat")).map_or(0, |text| clean_bytes(&text));
        if charged > 0 && file.exists() {
            cgroups.push((charged, file));
        }
    }
    cgroups.sort_unstable_by(|one, other| other.cmp(one));
    (cgroups.into_iter().map(|(_, file)| file).collect(), false)
}

/// Returns the bytes of page cache in a cgroup's `memory.stat` that need not be written first.
fn clean_bytes(stat: &str) -> u64 {
    let row = |name: &str| {
        let rows = stat.lines().filter_map(|row| row.split_once(' '));
        rows.filter(|(of, _)| *of == name)
            .find_map(|(_, bytes)| bytes.trim().parse::<u64>().ok())
            .unwrap_or(0)
    };
    row("file").saturating_sub(row("shmem")).saturating_sub(row("file_dirty"))
}

/// Has the kernel reclaim so many bytes, only page cache. Returns [`Piece::Unknown`] if the kernel might
/// swap for that.
fn reclaim(worker: &mut Worker<'_>, file: &Path, bytes: u64) -> Result<Piece, Failure> {
    let (piece, _) = worker.have_done(file, Some(&format!("{bytes} swappiness=0")), None, false)?;
    if piece != Piece::Unknown || has_swap(worker.root()) {
        return Ok(piece);
    }
    Ok(worker.have_done(file, Some(&bytes.to_string()), None, false)?.0)
}

/// Returns true if the machine may swap.
fn has_swap(root: &Path) -> bool {
    // The first row names the columns.
    fs::read_to_string(root.join("proc/swaps")).is_ok_and(|text| text.lines().count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dirty_or_tmpfs_is_no_clean_page_cache() {
        let stat = "anon 9\nfile 1000\nfile_mapped 7\nshmem 100\nfile_dirty 40\nfile_writeback 3\n";
        assert_eq!(clean_bytes(stat), 860);
        assert_eq!(
            (clean_bytes(""), clean_bytes("file lots\n"), clean_bytes("file 3\nshmem 4\n")),
            (0, 0, 0)
        );
    }
}
