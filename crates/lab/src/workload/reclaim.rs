//! Reclaim and compaction of a made-up machine: the engine decides, the host finds pages to reclaim and moves
//! them.

use freehold::{
    GfpFlags, Memory, Order, Pfn, Reclaimed, Reclaimer, Relocate, Request, ShrinkControl, Shrinker, ZoneType,
};
use freehold_trace::EventKind;

use super::fallbacks::HostLocks;
use super::host::{Host, Task};
use super::users::{Handle, List, Use};

/// kswapd, which runs on the first CPU.
const KSWAPD: Task = Task { cpu: 0, pid: 60 };

/// kcompactd, which runs on the first CPU too.
const KCOMPACTD: Task = Task { cpu: 0, pid: 61 };

/// The fewest active pages that a round of reclaim scans.
///
/// Linux counterpart: `SWAP_CLUSTER_MAX`.
const CLUSTER: u64 = 32;

/// How readily anonymous memory is reclaimed beside page cache. Linux counterpart: `vm.swappiness`.
const SWAPPINESS: u64 = 60;

impl Host<'_, '_> {
    /// Runs the daemons that are awake.
    pub(super) fn run_daemons(&mut self) {
        let memory = self.memory;
        if memory.is_kswapd_wanted(0) {
            memory.kswapd(0, KSWAPD.cpu, self);
        }
        let proactively = self.take_half_second() && memory.should_compact_proactively(0);
        if memory.is_kcompactd_wanted(0) || proactively {
            self.mover = KCOMPACTD;
            if memory.is_kcompactd_wanted(0) {
                memory.kcompactd(0, KCOMPACTD.cpu, self);
            }
            if proactively {
                memory.compact_proactively(0, KCOMPACTD.cpu, self);
            }
            self.end_compaction();
        }
    }

    /// Answers a request; its task reclaims and compacts if the flags allow it.
    #[inline]
    pub(super) fn answer(&mut self, task: Task, request: Request) -> Option<Pfn> {
        let memory = self.memory;
        if !(self.reclaims && request.gfp.contains(GfpFlags::DIRECT_RECLAIM)) {
            return memory.alloc(request).ok();
        }
        self.mover = task;
        let answer = memory.alloc_with(request, self).ok();
        self.end_compaction();
        answer
    }

    /// Records the end of a compaction, if one has moved pages.
    fn end_compaction(&mut self) {
        if std::mem::take(&mut self.is_compacting) {
            self.record(self.mover, EventKind::CompactionEnd);
        }
    }

    /// Scans up to `look_at` inactive pages of a list and reclaims up to `wanted`.
    fn shrink_list(&mut self, task: Task, list: List, look_at: u64, wanted: u64) -> Reclaimed {
        let mut done = Reclaimed::default();
        while done.scanned < look_at
            && done.reclaimed < wanted
            && let Some(oldest) = self.users.oldest(list)
        {
            done.scanned += 1;
            let is_anon = list == List::InactiveAnon;
            if is_anon && self.users.take_referenced(oldest) {
                self.users.relist(oldest, List::ActiveAnon);
                continue;
            }
            let pages = self.evict(task, oldest);
            done.reclaimed += pages;
            if is_anon {
                self.counters.add("pswpout", pages);
            }
        }
        done
    }

    fn evict(&mut self, task: Task, page: Handle) -> u64 {
        let Some((pfn, order)) = self.users.evict(page) else { return 0 };
        self.give_back(task, pfn, order);
        order.pages()
    }

    /// Moves up to `most` active pages to the inactive list if that is short.
    ///
    /// Linux counterpart: `shrink_active_list`, `inactive_is_low`.
    fn age(&mut self, active: List, inactive: List, most: u64) {
        for _ in 0..most {
            if self.users.listed(inactive) >= self.users.listed(active) {
                break;
            }
            let Some(oldest) = self.users.oldest(active) else { break };
            self.users.take_referenced(oldest);
            self.users.relist(oldest, inactive);
        }
    }
}

impl Shrinker<HostLocks> for Host<'_, '_> {
    /// Linux counterpart: `shrink_lruvec`, `get_scan_count` without the costs of refaults.
    fn shrink(&mut self, _: &Memory<'_, HostLocks>, control: ShrinkControl) -> Reclaimed {
        let task = match control.reclaimer {
            Reclaimer::Kswapd => KSWAPD,
            Reclaimer::Direct => {
                self.end_compaction();
                self.mover
            }
        };
        let part = |pages: u64| pages.checked_shr(control.priority.into()).unwrap_or(0);
        for (active, inactive) in
            [(List::ActiveFile, List::InactiveFile), (List::ActiveAnon, List::InactiveAnon)]
        {
            let most = part(self.users.listed(active)).max(CLUSTER);
            self.age(active, inactive, most);
        }
        let file = part(self.users.listed(List::InactiveFile) + self.users.listed(List::ActiveFile));
        let anon = part(self.users.listed(List::InactiveAnon) + self.users.listed(List::ActiveAnon));
        // Only page cache is reclaimed while enough of it is inactive.
        let trims_cache = part(self.users.listed(List::InactiveFile)) > 0;
        let (file, anon) = if trims_cache || control.clean_only {
            (file, 0)
        } else {
            ((file * (200 - SWAPPINESS) / 200).max(1), (anon * SWAPPINESS / 200).max(1))
        };
        let mut done = self.shrink_list(task, List::InactiveFile, file, control.wanted);
        done +=
            self.shrink_list(task, List::InactiveAnon, anon, control.wanted.saturating_sub(done.reclaimed));
        done
    }

    fn reclaimable_pages(&mut self, _: u16, zone: ZoneType) -> u64 {
        let number = self.memory.zones().iter().position(|own| own.kind() == zone);
        number.map_or(0, |number| self.users.listed_in(number))
    }
}

impl Relocate for Host<'_, '_> {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        let movable = |used_for| matches!(used_for, Use::Anon | Use::File | Use::Pinned);
        self.users.at(pfn).is_some_and(|(_, size, used_for)| size == order && movable(used_for))
    }

    /// Records what Linux's tracepoints tell: the free of the old place between the begin and the end of
    /// compaction, nothing of the new place.
    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        let Some((handle, ..)) = self.users.at(from) else { return false };
        if !std::mem::replace(&mut self.is_compacting, true) {
            self.record(self.mover, EventKind::CompactionBegin);
        }
        self.users.moved(handle, to);
        self.record(self.mover, EventKind::Free { pfn: from, order });
        true
    }
}
