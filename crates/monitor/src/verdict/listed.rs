//! Free pages on CPUs' lists: what goes back to the free lists once the lists are bounded, and what stays.

use fastrand::Rng;
use freehold_linux::pageblocks::{Pageblock, UnmovableKind};
use freehold_trace::Pageset;

/// The batches that a list's tightest bound allows.
///
/// Linux counterpart: `zone_highsize`.
pub(super) const BATCHES: u64 = 4;

/// The number of random draws of pages that stay. The prediction is the outcome with the fewest pageblocks without unmovable
/// pages.
const DRAWS: u64 = 8;

/// The fewest pages that stay of a pageblock of which any stay, if it has as many on lists: what is freed together lies together.
const GROUP: u16 = 4;

/// Returns the pageblock after the free pages on per-CPU lists have gone back to the free lists.
pub(super) fn without_lists(block: &Pageblock) -> Pageblock {
    returned(block, block.listed)
}

/// Returns the pageblocks of a zone after its lists, `sets`, have been bounded. Which pages stay on lists is drawn.
pub(super) fn bounded(read: &[Pageblock], sets: &[Pageset]) -> Vec<Pageblock> {
    let (staying, all) = (staying(sets), on_lists(sets));
    if staying >= all {
        return read.to_vec();
    }
    let share = staying as f64 / all as f64;
    let listed: Vec<_> = (0..read.len()).filter(|&at| read[at].listed > 0).collect();
    let outcome = |seed| {
        let (mut random, mut left) = (Rng::with_seed(seed), staying);
        let mut order = listed.clone();
        random.shuffle(&mut order);
        let keep = |at: usize| {
            let pages = u64::from(kept(read[at].listed, share, &mut random)).min(left);
            left -= pages;
            (at, pages as u16)
        };
        order.into_iter().map(keep).collect::<Vec<_>>()
    };
    let kept_by_lists_alone = |kept: &Vec<(usize, u16)>| {
        let holds =
            |&&(at, pages): &&(usize, u16)| pages > 0 && read[at].stuck() == u32::from(read[at].listed);
        kept.iter().filter(holds).count()
    };
    let worst = (0..DRAWS).map(outcome).max_by_key(kept_by_lists_alone).unwrap_or_default();
    let mut later = read.to_vec();
    for (at, pages) in worst {
        later[at] = returned(&read[at], read[at].listed - pages);
    }
    later
}

/// Returns the pages that come off a zone's lists when they are bounded, at least and at most.
pub(super) fn returned_pages(sets: &[Pageset]) -> (u64, u64) {
    let all = on_lists(sets);
    (all.saturating_sub(staying(sets)), all)
}

/// Returns the pages on a zone's lists.
fn on_lists(sets: &[Pageset]) -> u64 {
    sets.iter().map(|set| set.count).fold(0, u64::saturating_add)
}

/// Returns those that stay when the lists are bounded.
fn staying(sets: &[Pageset]) -> u64 {
    let stays = |set: &Pageset| set.count.min(set.batch.saturating_mul(BATCHES));
    sets.iter().map(stays).fold(0, u64::saturating_add)
}

/// Draws how many of a pageblock's pages on lists stay there, if `share` of all do.
fn kept(listed: u16, share: f64, random: &mut Rng) -> u16 {
    let none_stays = (1.0 - share).powi(i32::from(listed));
    if random.f64() < none_stays {
        return 0;
    }
    ((f64::from(listed) * share).round() as u16).clamp(listed.min(GROUP), listed)
}

fn returned(block: &Pageblock, pages: u16) -> Pageblock {
    let mut later = Pageblock { listed: block.listed - pages, ..block.with_free(pages) };
    later.unmovable[UnmovableKind::Kernel as usize] -= pages;
    later
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(pages: u16) -> Pageblock {
        let mut block = Pageblock { free: 500 - pages, anon: 12, listed: pages, ..Pageblock::default() };
        block.unmovable[UnmovableKind::Kernel as usize] = pages;
        block
    }

    fn set(count: u64) -> Pageset {
        Pageset { count, batch: 63, ..Pageset::default() }
    }

    #[test]
    fn what_the_bound_allows_stays() {
        let blocks = vec![listed(1); 200];
        assert_eq!(bounded(&blocks, &[set(150), set(252)]), blocks);
        assert_eq!(bounded(&blocks, &[]), blocks, "lists that were not read may keep all");
    }

    #[test]
    fn what_is_returned_is_found_with_strides() {
        let block = Pageblock { free: 64, free_strided: [32, 16, 8, 4, 2], ..listed(64) };
        let returned = without_lists(&block);
        assert_eq!((returned.free, returned.free_strided), (128, [64, 32, 16, 8, 4]));
    }

    #[test]
    fn of_long_lists_a_share_stays_and_holds_pageblocks() {
        let unmovable = |blocks: &[Pageblock]| blocks.iter().filter(|block| block.stuck() > 0).count();
        // A tenth of the pages stays.
        let sets = [set(2520), set(2520)];
        let single = bounded(&vec![listed(1); 1000], &sets);
        assert!((90..150).contains(&unmovable(&single)), "{}", unmovable(&single));
        let many = bounded(&vec![listed(40); 1000], &sets);
        let left: u64 = many.iter().map(|block| u64::from(block.listed)).sum();
        assert_eq!((unmovable(&many), left), (126, 504), "four of each");
        for block in many {
            assert_eq!((block.free + block.listed, block.stuck()), (500, u32::from(block.listed)));
        }
        assert_eq!(unmovable(&[without_lists(&listed(40))]), 0);
    }
}
