//! Reclaim and compaction of a generated machine: the engine decides, the host reclaims and moves pages.

use freehold::{
    GfpFlags, Memory, NoReclaim, Order, Pfn, Reclaimed, Reclaimer, Relocate, Request, ShrinkControl,
    Shrinker, ZoneType,
};
use freehold_trace::EventKind;

use super::fallbacks::HostPlatform;
use super::host::{Host, Task};
use super::users::{Handle, List, Use};

/// kswapd, which runs on the first CPU.
const KSWAPD: Task = Task { cpu: 0, pid: 60 };

/// kcompactd, which also runs on the first CPU.
const KCOMPACTD: Task = Task { cpu: 0, pid: 61 };

/// The fewest active pages that a round of reclaim scans.
///
/// Linux counterpart: `SWAP_CLUSTER_MAX`.
const CLUSTER: u64 = 32;

/// The share of page cache that is scanned if little of it is inactive, in 200ths. Linux counterpart:
/// `vm.swappiness`. The rest is for anonymous memory, which the machine does not have.
const FILE_SHARE: u64 = 200 - 60;

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
            return memory.alloc(request, NoReclaim).ok();
        }
        self.mover = task;
        let answer = memory.alloc(request, &mut *self).ok();
        self.end_compaction();
        answer
    }

    /// Records the end of a compaction, if it has moved pages.
    fn end_compaction(&mut self) {
        if std::mem::take(&mut self.is_compacting) {
            self.record(self.mover, EventKind::CompactionEnd);
        }
    }

    /// Scans up to `scan_limit` inactive pages and reclaims up to `wanted`.
    fn shrink_inactive(&mut self, task: Task, scan_limit: u64, wanted: u64) -> Reclaimed {
        let mut done = Reclaimed::default();
        while done.scanned < scan_limit
            && done.reclaimed < wanted
            && let Some(oldest) = self.users.oldest(List::Inactive)
        {
            done.scanned += 1;
            done.reclaimed += self.evict(task, oldest);
        }
        done
    }

    fn evict(&mut self, task: Task, page: Handle) -> u64 {
        let Some((pfn, order)) = self.users.evict(page) else { return 0 };
        self.give_back(task, pfn, order);
        order.pages()
    }

    /// Moves up to `most` active pages to the inactive list, if the inactive list is short.
    ///
    /// Linux counterpart: `shrink_active_list`, `inactive_is_low`.
    fn age(&mut self, most: u64) {
        for _ in 0..most {
            if self.users.listed(List::Inactive) >= self.users.listed(List::Active) {
                break;
            }
            let Some(oldest) = self.users.oldest(List::Active) else { break };
            self.users.take_referenced(oldest);
            self.users.relist(oldest, List::Inactive);
        }
    }
}

impl Shrinker<HostPlatform> for Host<'_, '_> {
    /// Linux counterpart: `shrink_lruvec`, `get_scan_count` without the costs of refaults.
    fn shrink(&mut self, _: &Memory<'_, HostPlatform>, control: ShrinkControl) -> Reclaimed {
        let task = match control.reclaimer {
            Reclaimer::Kswapd => KSWAPD,
            Reclaimer::Direct => {
                self.end_compaction();
                self.mover
            }
        };
        let part = |pages: u64| pages.checked_shr(control.priority.into()).unwrap_or(0);
        self.age(part(self.users.listed(List::Active)).max(CLUSTER));
        let all = part(self.users.listed(List::Inactive) + self.users.listed(List::Active));
        let trims_cache = part(self.users.listed(List::Inactive)) > 0;
        let scan_limit =
            if trims_cache || control.clean_only { all } else { (all * FILE_SHARE / 200).max(1) };
        self.shrink_inactive(task, scan_limit, control.wanted)
    }

    fn reclaimable_pages(&mut self, _: u16, zone: ZoneType) -> u64 {
        let number = self.memory.zones().iter().position(|own| own.kind() == zone);
        number.map_or(0, |number| self.users.listed_in(number))
    }
}

impl Relocate for Host<'_, '_> {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        let movable = |used_for| matches!(used_for, Use::File | Use::Pinned);
        self.users.at(pfn).is_some_and(|(_, size, used_for)| size == order && movable(used_for))
    }

    /// Records the same events as the tracepoints of Linux: a free of the old place between begin and end of
    /// compaction, and nothing for the new place.
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
