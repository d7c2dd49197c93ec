//! Background compaction: the work of kcompactd, as functions that the embedder calls.

use super::policy::{CompactPriority, CompactResult, Target};
use super::relocate::Relocate;
use super::run::Work;
use crate::memory::Memory;
use crate::types::{AllocFlags, GfpFlags, Migratetype, Order, Platform, Request, ZoneType};
use crate::zone::{Mark, Zone};

impl<P: Platform> Memory<'_, P> {
    /// Returns true if a node's kcompactd should run.
    pub fn is_kcompactd_wanted(&self, node: u16) -> bool {
        self.node(node).is_some_and(|state| state.kcompactd.is_wanted())
    }

    /// Wakes a node's kcompactd for an order, if compaction may help.
    ///
    /// Linux counterpart: `wakeup_kcompactd`.
    pub(crate) fn wake_kcompactd(&self, node: u16, order: Order, highest: ZoneType) {
        let Some(state) = self.node(node).filter(|_| order > Order::ZERO) else { return };
        state.kcompactd.note(order, highest);
        let target = self.daemon_target(order, 0);
        let suits = |zone: &Zone<'_, P>| {
            let target = Target { highest_zone: highest as usize, ..target };
            zone.suits_target(&target) == CompactResult::Continue
        };
        if self.zones_of(node, highest).any(suits) {
            state.kcompactd.wake();
        }
    }

    /// Returns the target of kcompactd: the min mark, or in defrag mode the high one.
    fn daemon_target(&self, order: Order, cpu: u16) -> Target {
        let tunables = self.tunables();
        Target {
            order: Some(order),
            migratetype: GfpFlags::KERNEL.migratetype(),
            priority: CompactPriority::SyncLight,
            direct: false,
            proactive: false,
            highest_zone: 0,
            flags: AllocFlags::empty(),
            mark: if tunables.defrag_mode { Mark::High } else { Mark::Min },
            cpu,
            tunables,
        }
    }

    /// Runs kcompactd for a node: compacts for the largest order requested since the last run.
    ///
    /// `cpu` is the CPU that runs the caller. Returns true if a zone now has a block of that order.
    /// Linux counterpart: `kcompactd_do_work`.
    pub fn kcompactd<E: Relocate>(&self, node: u16, cpu: u16, embedder: &mut E) -> bool {
        let Some(state) = self.node(node).filter(|_| cpu < self.cpus()) else { return false };
        let (order, highest) = state.kcompactd.take();
        if order == Order::ZERO {
            return false;
        }
        self.events.compact_daemon_wake.add(1);
        let mut helped = false;
        for zone in self.zones_of(node, highest) {
            if zone.lock().state.compaction.is_deferred(order) {
                continue;
            }
            let target = Target { highest_zone: zone.kind as usize, ..self.daemon_target(order, cpu) };
            if zone.suits_target(&target) != CompactResult::Continue {
                continue;
            }
            let (result, work) = zone.compact(&target, embedder);
            self.count_work(&work);
            self.events.compact_daemon_migrate_scanned.add(work.migrate_scanned);
            self.events.compact_daemon_free_scanned.add(work.free_scanned);
            match result {
                CompactResult::Success => {
                    helped = true;
                    zone.reset_deferral(order, false);
                }
                CompactResult::Complete | CompactResult::PartialSkipped => {
                    // Blocks on CPUs' lists may still merge.
                    zone.drain_all();
                    zone.lock().state.compaction.defer(order);
                }
                _ => {}
            }
        }
        helped
    }

    /// Returns true if a node is fragmented enough for proactive compaction.
    ///
    /// Linux counterpart: `should_proactive_compact_node`, which also waits while kswapd runs.
    pub fn should_compact_proactively(&self, node: u16) -> bool {
        let tunables = self.tunables();
        tunables.compaction_proactiveness > 0
            && self.fragmentation_score(node) > tunables.high_fragmentation()
    }

    /// Returns how fragmented a node is, from 0 to 100.
    ///
    /// Linux counterpart: `fragmentation_score_node`.
    fn fragmentation_score(&self, node: u16) -> u64 {
        let pages: u64 = self.zones_of(node, ZoneType::Device).map(Zone::managed_pages).sum();
        let weighted = |zone: &Zone<'_, P>| zone.managed_pages() * zone.fragmentation_score() / (pages + 1);
        self.zones_of(node, ZoneType::Device).map(weighted).sum()
    }

    /// Compacts a node's zones until their fragmentation score falls below the level that
    /// [`crate::Tunables::compaction_proactiveness`] sets. The embedder first calls
    /// [`Memory::should_compact_proactively`]; Linux does so twice a second.
    ///
    /// Returns true if the score has fallen. Otherwise Linux waits 64 times as long before the next attempt.
    ///
    /// Linux counterpart: `kcompactd`, which calls `compact_node`.
    pub fn compact_proactively<E: Relocate>(&self, node: u16, cpu: u16, embedder: &mut E) -> bool {
        let before = self.fragmentation_score(node);
        self.compact_all_of(node, cpu, true, embedder);
        self.fragmentation_score(node) < before
    }

    /// Compacts all zones of a node from end to end.
    ///
    /// Linux counterpart: writing to `vm.compact_memory`.
    pub fn compact_node<E: Relocate>(&self, node: u16, cpu: u16, embedder: &mut E) {
        self.compact_all_of(node, cpu, false, embedder);
    }

    fn compact_all_of<E: Relocate>(&self, node: u16, cpu: u16, proactive: bool, embedder: &mut E) {
        if cpu >= self.cpus() {
            return;
        }
        let priority = if proactive { CompactPriority::SyncLight } else { CompactPriority::SyncFull };
        for zone in self.zones_of(node, ZoneType::Device) {
            let target = Target {
                order: None,
                migratetype: Migratetype::Movable,
                proactive,
                priority,
                ..self.daemon_target(Order::ZERO, cpu)
            };
            let (_, work) = zone.compact(&target, embedder);
            self.count_work(&work);
            if proactive {
                self.events.compact_daemon_migrate_scanned.add(work.migrate_scanned);
                self.events.compact_daemon_free_scanned.add(work.free_scanned);
            }
        }
    }

    /// Adds the work of one compaction run to the counters of `/proc/vmstat`.
    pub(crate) fn count_work(&self, work: &Work) {
        self.events.compact_migrate_scanned.add(work.migrate_scanned);
        self.events.compact_free_scanned.add(work.free_scanned);
        self.events.compact_isolated.add(work.isolated);
        self.events.pgmigrate_success.add(work.moved);
        self.events.pgmigrate_fail.add(work.failed);
    }

    /// Returns the target of direct compaction by a request.
    pub(crate) fn direct_target(
        &self,
        request: &Request,
        flags: AllocFlags,
        priority: CompactPriority,
    ) -> Target {
        Target {
            order: Some(request.order),
            migratetype: request.gfp.migratetype(),
            priority,
            direct: true,
            proactive: false,
            highest_zone: request.gfp.highest_zone() as usize,
            flags,
            mark: Mark::Min,
            cpu: request.cpu,
            tunables: self.tunables(),
        }
    }
}
