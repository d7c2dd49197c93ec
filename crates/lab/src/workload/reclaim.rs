//! Reclaim: kswapd, and tasks that find no memory.

use freehold::{GfpFlags, Order, Pfn, Request, Zone};

use super::host::{Host, Task};
use super::users::{Handle, List, Use};

/// kswapd, which runs on the first CPU.
const KSWAPD: Task = Task { cpu: 0, pid: 60 };

/// Pages that are reclaimed at a time. Linux counterpart: `SWAP_CLUSTER_MAX`.
const CLUSTER: u64 = 32;

/// Inactive page cache from which on reclaim leaves anonymous memory alone.
///
/// Units: pages. Linux counterpart: `cache_trim_mode`, at the first priority.
const CACHE_TRIM: u64 = 1 << 12;

/// How often a task reclaims before its request fails. Linux counterpart: `MAX_RECLAIM_RETRIES`.
const MOST_RETRIES: u32 = 16;

impl Host<'_, '_> {
    /// Lets kswapd work if somebody has asked for it, until all zones are balanced.
    pub(super) fn look_after_memory(&mut self) {
        let wanted = self.memory.zones().iter().fold(false, |wanted, zone| zone.take_kswapd_wake() | wanted);
        let boosted = self.memory.zones().iter().any(|zone| zone.watermark_boost() > 0);
        if !(wanted || boosted || self.is_kswapd_awake) {
            return;
        }
        let is_balanced = self.memory.zones().iter().all(Zone::is_balanced);
        if is_balanced == self.is_kswapd_awake {
            self.is_kswapd_awake = !is_balanced;
            self.memory.zones().iter().for_each(|zone| zone.set_reclaim_active(!is_balanced));
        }
        if is_balanced {
            self.memory.zones().iter().for_each(|zone| zone.relax_boost(zone.watermark_boost()));
        } else {
            let (scanned, reclaimed) = self.shrink(KSWAPD);
            self.counters.add("pgscan_kswapd", scanned);
            self.counters.add("pgsteal_kswapd", reclaimed);
        }
    }

    /// Answers a request; its task reclaims where it may and there is too little.
    pub(super) fn answer(&mut self, task: Task, request: Request) -> Option<Pfn> {
        let first = self.memory.alloc(request).ok();
        let patient = request.gfp.contains(GfpFlags::DIRECT_RECLAIM) && request.order == Order::ZERO;
        if first.is_some() || !patient {
            return first;
        }
        self.counters.add("allocstall_movable", 1);
        for _ in 0..MOST_RETRIES {
            let (scanned, reclaimed) = self.shrink(task);
            self.counters.add("pgscan_direct", scanned);
            self.counters.add("pgsteal_direct", reclaimed);
            if let Ok(pfn) = self.memory.alloc(request) {
                return Some(pfn);
            }
            if reclaimed == 0 {
                break;
            }
        }
        None
    }

    /// Reclaims about one cluster; returns pages scanned and reclaimed.
    fn shrink(&mut self, task: Task) -> (u64, u64) {
        self.record_fallbacks(task);
        self.age();
        let (mut scanned, mut reclaimed) = (0, 0);
        while scanned < CLUSTER
            && let Some(oldest) = self.next_victim()
        {
            scanned += 1;
            let used_for = self.users.at(self.users.pfn(oldest)).map(|(.., used_for)| used_for);
            if used_for == Some(Use::Anon) {
                if self.users.take_referenced(oldest) {
                    self.users.relist(oldest, List::ActiveAnon);
                    continue;
                }
            }
            let pages = self.evict(task, oldest);
            reclaimed += pages;
            if used_for == Some(Use::Anon) {
                self.counters.add("pswpout", pages);
            }
        }
        (scanned, reclaimed)
    }

    /// The page that reclaim looks at next.
    fn next_victim(&self) -> Option<Handle> {
        let file = self.users.listed(List::InactiveFile);
        let anon = self.users.listed(List::InactiveAnon);
        let list = if file >= CACHE_TRIM || file >= anon { List::InactiveFile } else { List::InactiveAnon };
        self.users.oldest(list)
    }

    fn evict(&mut self, task: Task, page: Handle) -> u64 {
        let Some((pfn, order)) = self.users.evict(page) else { return 0 };
        self.give_back(task, pfn, order);
        order.pages()
    }

    /// Active pages become inactive where these have become few.
    ///
    /// Linux counterpart: `shrink_active_list`, `inactive_is_low`.
    fn age(&mut self) {
        for (active, inactive) in
            [(List::ActiveFile, List::InactiveFile), (List::ActiveAnon, List::InactiveAnon)]
        {
            for _ in 0..CLUSTER {
                if self.users.listed(inactive) >= self.users.listed(active) {
                    break;
                }
                let Some(oldest) = self.users.oldest(active) else { break };
                self.users.take_referenced(oldest);
                self.users.relist(oldest, inactive);
            }
        }
    }
}
