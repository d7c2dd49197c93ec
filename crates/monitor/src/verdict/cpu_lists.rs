//! What a CPU's lists keep of the pages that compaction frees.
//!
//! Linux counterpart: `free_frozen_page_commit` and `free_pcppages_bulk`. Each order that the lists take has a list of its own. Once
//! all together hold `high` pages, some go back to the zone: the oldest of the list that a page has just come to, and of the
//! following lists only once that one is empty. So what comes rarely, such as pages in folios of order 2, can wait for long.

use std::array;
use std::collections::VecDeque;

use fastrand::Rng;
use freehold_linux::pageblocks::SMALL_FOLIOS;

use super::listed::BATCHES;

/// Orders that per-CPU lists take, from 0 on, beside huge pages.
pub(super) const ORDERS: usize = SMALL_FOLIOS + 1;

/// By how many orders of two the kernel may raise the number of pages that go back at once.
///
/// Linux counterpart: the default of `CONFIG_PCP_BATCH_SCALE_MAX`.
const SCALE: u32 = 5;

/// The lists of one CPU in a zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CpuLists {
    /// Pages on the lists before compaction.
    ///
    /// Units: pages.
    pub count: u64,
    /// The number from which on pages go back to the zone. With `0` nothing stays on the lists.
    ///
    /// Units: pages.
    pub high: u64,
    /// The least number of pages that go back at once.
    ///
    /// Units: pages.
    pub batch: u64,
}

/// Pages of one pageblock on a list.
struct Waiting {
    /// The pageblock's index; `None` for pages that were on the lists before.
    from: Option<usize>,
    pages: u64,
}

impl CpuLists {
    /// Returns the lists while they may hold as little as the kernel can have them hold.
    ///
    /// Linux counterpart: `zone_highsize` with the largest `percpu_pagelist_high_fraction`.
    pub(super) fn bounded(self) -> Self {
        let high = self.batch.saturating_mul(BATCHES);
        Self { count: self.count.min(high), high, ..self }
    }

    /// Returns how many pages of each pageblock, by its index, are still on the lists after `freed` came: of each pageblock in
    /// turn the pages of each order. Which list pages go back from is drawn with `seed`.
    pub(super) fn keep(
        self,
        freed: impl Iterator<Item = (usize, [u32; ORDERS])>,
        seed: u64,
    ) -> Vec<(usize, u32)> {
        let mut random = Rng::with_seed(seed);
        let mut lists: [VecDeque<Waiting>; ORDERS] = array::from_fn(|_| VecDeque::new());
        lists[0].push_back(Waiting { from: None, pages: self.count });
        let mut all = self.count;
        for (at, pages) in freed {
            for (list, pages) in lists.iter_mut().zip(pages).filter(|(_, pages)| *pages > 0) {
                list.push_back(Waiting { from: Some(at), pages: pages.into() });
                all += u64::from(pages);
            }
            while all > 0 && all >= self.high {
                let first = drawn(pages, &mut random);
                all -= give_back(&mut lists, first, self.at_once().min(all));
            }
        }
        let kept = lists.into_iter().flatten();
        kept.filter_map(|waiting| Some((waiting.from?, waiting.pages as u32))).collect()
    }

    /// Linux counterpart: `nr_pcp_free` amid frees that follow each other.
    fn at_once(self) -> u64 {
        (self.batch << SCALE).min(self.high.saturating_sub(self.batch)).max(self.batch).max(1)
    }
}

/// Draws the list that the page came to with which the lists were full: each block of a pageblock's `pages` is as likely.
fn drawn(pages: [u32; ORDERS], random: &mut Rng) -> usize {
    let blocks: [u32; ORDERS] = array::from_fn(|order| pages[order].div_ceil(1 << order));
    let mut nth = random.u32(0..blocks.iter().sum::<u32>().max(1));
    for (list, blocks) in blocks.into_iter().enumerate() {
        match nth.checked_sub(blocks) {
            Some(rest) => nth = rest,
            None => return list,
        }
    }
    0
}

/// Takes `wanted` pages off the lists, the oldest of list `first`, then of those after it. Returns how many it took.
fn give_back(lists: &mut [VecDeque<Waiting>; ORDERS], first: usize, wanted: u64) -> u64 {
    let mut left = wanted;
    for list in (first..first + ORDERS).map(|list| list % ORDERS) {
        while let Some(oldest) = lists[list].front_mut().filter(|_| left > 0) {
            let now = oldest.pages.min(left);
            oldest.pages -= now;
            left -= now;
            if oldest.pages == 0 {
                lists[list].pop_front();
            }
        }
    }
    wanted - left
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: CpuLists = CpuLists { count: 0, high: 100, batch: 10 };

    /// Pages that stay, by pageblock.
    fn kept(lists: CpuLists, freed: &[[u32; ORDERS]], seed: u64) -> Vec<u32> {
        let mut pages = vec![0; freed.len()];
        for (at, kept) in lists.keep(freed.iter().copied().enumerate(), seed) {
            pages[at] += kept;
        }
        pages
    }

    #[test]
    fn pages_that_come_one_by_one_go_in_their_order() {
        let freed = [[50, 0, 0, 0]; 6];
        let pages = kept(LISTS, &freed, 1);
        assert!(pages.is_sorted() && pages.iter().sum::<u32>() < 100, "{pages:?}");
        assert_eq!(kept(CpuLists { high: 1000, ..LISTS }, &freed, 1), [50; 6], "there is room for all");
        assert_eq!(kept(CpuLists::default(), &freed, 1), [0; 6], "there is room for none");
        let more = kept(CpuLists { count: 90, high: 1000, ..LISTS }, &[[50, 0, 0, 0]; 20], 1);
        assert_eq!(more.iter().sum::<u32>(), 90 + 20 * 50 - 320, "those that were there before go first");
    }

    #[test]
    fn pages_that_come_rarely_in_larger_blocks_wait_longer() {
        let mut freed = [[92, 0, 0, 0]; 40];
        freed[20] = [84, 0, 0, 8];
        let stay = (0..32).filter(|&seed| kept(LISTS, &freed, seed)[20] == 8).count();
        assert!(stay > 25, "only {stay} of 32 times");
        let pages = kept(LISTS, &freed, 0);
        assert!(pages[21..38].iter().all(|&pages| pages == 0), "younger pages have gone: {pages:?}");
    }

    #[test]
    fn a_list_that_is_given_back_is_emptied_before_others() {
        let freed = [[0, 0, 40, 0], [0, 0, 40, 0], [30, 0, 0, 0]];
        assert_eq!(kept(LISTS, &freed, 1), [0, 20, 0], "90 go: the 30 of order 0, and the oldest of order 2");
    }
}
