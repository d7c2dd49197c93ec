//! Looks at a random sample of aligned blocks instead of all memory.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::anyhow;
use freehold_linux::Error;
use freehold_linux::pageblocks::PageblockSampler;
use freehold_linux::procfs::{read_buddyinfo, read_meminfo};
use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_monitor::verdict::{BlockRequest, QuickVerdict, SampleTally, Sampled, SizeText, judge_quick};
use freehold_trace::ZoneSnapshot;

use crate::exit::{Cause, Failure};

/// Pages that are read at most: a second of one CPU at some hundred nanoseconds each.
const MOST_PAGES: u64 = 1 << 23;

/// How long blocks are looked at.
const MOST_TIME: Duration = Duration::from_millis(1200);

/// The most blocks of which a sample is drawn.
const MOST_BLOCKS: usize = 1 << 26;

/// Samples memory and judges the sample.
///
/// # Errors
/// If a block is smaller than a pageblock, or `/proc/kpageflags` cannot be read.
pub(super) fn run(
    root: &Path,
    zones: &[ZoneSnapshot],
    request: &BlockRequest,
) -> Result<QuickVerdict, Failure> {
    let order = PageblockSampler::open(root)?.pageblock_order();
    if request.order < order {
        let pageblock = SizeText((request.block_bytes >> request.order) << order);
        let error = anyhow!(
            "--quick reads pageblocks, of {pageblock} here. Request larger blocks, or leave out --quick"
        );
        return Err(Failure::new(Cause::Usage, error));
    }
    let starts = starts(zones, request);
    let tally = sample(root, &shuffled(starts, seed()), request)?;
    let free: Vec<_> = read_buddyinfo(root)?.into_iter().map(ZoneFreeBlocks::from).collect();
    let slab_is_reclaimable = read_meminfo(root, "SReclaimable").is_ok_and(|bytes| bytes > 0);
    Ok(judge_quick(zones, &free, request, tally, slab_is_reclaimable))
}

/// Returns the first frames of all aligned blocks in the requested zones.
fn starts(zones: &[ZoneSnapshot], request: &BlockRequest) -> Vec<u64> {
    let size = 1_u64 << request.order;
    let of_zone = |zone: &ZoneSnapshot| {
        let end = zone.start_pfn.saturating_add(zone.spanned);
        let first = zone.start_pfn.next_multiple_of(size);
        (first..end.saturating_sub(size - 1)).step_by(size as usize)
    };
    let wanted = zones.iter().filter(|zone| request.wants(zone.node, &zone.name));
    wanted.flat_map(of_zone).take(MOST_BLOCKS).collect()
}

fn seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64)
}

/// Returns `blocks` in an order that `seed` decides, each order as likely as any other.
fn shuffled(mut blocks: Vec<u64>, seed: u64) -> Vec<u64> {
    let mut state = seed;
    for at in 0..blocks.len() {
        // Splitmix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let left = (blocks.len() - at) as u64;
        blocks.swap(at, at + ((mixed ^ (mixed >> 31)) % left) as usize);
    }
    blocks
}

/// Looks at blocks from the first on with every CPU, until enough pages were read or the time is up.
fn sample(root: &Path, blocks: &[u64], request: &BlockRequest) -> Result<SampleTally, Error> {
    let (next, pages) = (AtomicUsize::new(0), AtomicU64::new(0));
    let started = Instant::now();
    let work = || -> Result<SampleTally, Error> {
        let mut sampler = PageblockSampler::open(root)?;
        let mut tally = SampleTally::default();
        while pages.load(Ordering::Relaxed) < MOST_PAGES && started.elapsed() < MOST_TIME {
            let Some(&start) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let found = look(&mut sampler, start, request, &pages)?;
            tally.add(found);
        }
        Ok(tally)
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let tallies = thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = vec![work()];
        // A thread that died has looked at nothing.
        all.extend(helpers.into_iter().map(|helper| helper.join().unwrap_or(Ok(SampleTally::default()))));
        all
    });
    let mut sum = SampleTally { all: blocks.len() as u64, ..SampleTally::default() };
    for tally in tallies {
        let tally = tally?;
        sum.sampled += tally.sampled;
        sum.free += tally.free;
        sum.movable += tally.movable;
        sum.slab += tally.slab;
    }
    Ok(sum)
}

/// Returns what a block holds: its pageblocks are read until one keeps it. Adds the pages to `pages`.
fn look(
    sampler: &mut PageblockSampler,
    start: u64,
    request: &BlockRequest,
    pages: &AtomicU64,
) -> Result<Sampled, Error> {
    let in_pageblock = 1_u64 << sampler.pageblock_order();
    let mut found = Sampled::Free;
    for pfn in (start..start + (1 << request.order)).step_by(in_pageblock as usize) {
        pages.fetch_add(in_pageblock, Ordering::Relaxed);
        found = found.max(Sampled::of(&sampler.read(pfn)?, request.contiguous));
        if found == Sampled::Unmovable {
            break;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_comes_once_in_an_order_that_the_seed_decides() {
        let blocks: Vec<u64> = (0..1000).collect();
        let (one, other) = (shuffled(blocks.clone(), 1), shuffled(blocks.clone(), 2));
        assert!(one != other && one == shuffled(blocks.clone(), 1));
        let mut sorted = one;
        sorted.sort_unstable();
        assert_eq!(sorted, blocks);
        let firsts: u64 = (0..1000).map(|seed| shuffled(blocks.clone(), seed)[0]).sum();
        assert!((450_000..550_000).contains(&firsts), "{firsts}");
    }
}
