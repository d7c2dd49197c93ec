//! An exact start: read from the machine block by block, and brought to one moment with the events.
//!
//! The recorder reads the lists without a lock. Changes between the beginning and the end of the reading may be
//! included or not. The start is the state at the end: blocks that were allocated during the reading are removed,
//! blocks that were freed are added, and of two blocks with a common frame, the one that was read later stays.

use freehold::{Memory, Migratetype, Order, PerCpuState, Pfn, Platform, Zone, ZoneConfig, ZoneState};
use freehold_trace::{EventKind, ExactCpu, ExactPart, ExactState, ExactZone, FrameUse, Run, Snapshot};

use super::exact_report::ExactReport;
use super::geometry::{Geometry, locate};
use super::machine::RecordedMachine;
use crate::error::LabError;
use crate::trace::Trace;

/// A free block at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FreeBlock {
    pub(super) pfn: Pfn,
    pub(super) order: Order,
    /// The CPU of its list; `None` for a free list of the zone.
    pub(super) cpu: Option<u16>,
    pub(super) list: Migratetype,
    /// The type of the list to which it was freed.
    origin: Migratetype,
    /// True if the block was freed during the reading, so that it is at the head of its list.
    is_newest: bool,
}

/// The exact start, as read from the machine.
#[derive(Clone, Debug)]
pub(super) struct ExactStart {
    /// For each zone, the blocks in the order of their lists.
    pub(super) blocks: Vec<Vec<FreeBlock>>,
    /// For each zone, all other state that was read.
    zones: Vec<ExactZone>,
    pub(super) report: ExactReport,
}

impl ExactStart {
    /// Returns the exact start of a trace, or the reason why the trace has none.
    pub(super) fn new(machine: &RecordedMachine, trace: Trace<'_>) -> Result<Self, String> {
        let state = match &trace.start.exact {
            ExactPart::Missing { missing } if missing.is_empty() => {
                return Err("the recorder did not read the free lists block by block".to_owned());
            }
            ExactPart::Missing { missing } => return Err(missing.clone()),
            ExactPart::Taken(state) => state,
        };
        if state.torn_lists > 0 {
            return Err(format!(
                "{} lists changed during each of {} readings",
                state.torn_lists, state.tries
            ));
        }
        let zones = zones_of(machine, trace.start, state)?;
        let mut start = Self { blocks: Vec::new(), zones, report: ExactReport::default() };
        start.report = ExactReport {
            moment_ns: state.end_ns,
            window_ns: state.end_ns.saturating_sub(state.begin_ns),
            tries: state.tries,
            unequal_counts: state.unequal_counts,
            ..ExactReport::default()
        };
        let blocks =
            start.zones.iter().zip(&machine.zones).map(|(zone, own)| read_order(zone, own, machine.cpus));
        start.blocks = blocks.collect::<Result<_, _>>()?;
        start.reconcile(machine, trace, state);
        let pages = |on_cpu: bool| {
            let blocks = start.blocks.iter().flatten().filter(|block| block.cpu.is_some() == on_cpu);
            blocks.map(|block| block.order.pages()).sum::<u64>()
        };
        (start.report.free_pages, start.report.listed_pages) = (pages(false), pages(true));
        for (number, zone) in start.zones.iter().enumerate() {
            let has = |cpu: u16| zone.cpus.iter().any(|own| own.cpu == u32::from(cpu));
            let known = &trace.start.zones[machine.snapshot_index[number]].pagesets;
            let unread = known.iter().filter(|set| set.count > 0 && !has(set.cpu as u16)).count();
            start.report.unread_cpus += unread as u64;
            let geometry = Geometry::new(machine, number);
            let unread =
                start.pageblock_types(number, &geometry).iter().filter(|kind| kind.is_none()).count();
            start.report.unread_pageblocks += unread as u64;
        }
        Ok(start)
    }

    /// Brings the blocks to the state at the end of the reading.
    fn reconcile(&mut self, machine: &RecordedMachine, trace: Trace<'_>, state: &ExactState) {
        let mut owners: Vec<Vec<u32>> =
            machine.zones.iter().map(|zone| vec![0; zone.spanned as usize]).collect();
        for (number, owners) in owners.iter_mut().enumerate() {
            for at in 0..self.blocks[number].len() {
                self.enter(machine, number, at, owners);
            }
        }
        for event in trace.events.iter() {
            if event.time_ns > state.end_ns {
                break;
            }
            self.report.events_before += 1;
            let (pfn, order, is_free) = match event.kind {
                EventKind::Alloc { pfn: Some(pfn), order, .. } => (pfn, order, false),
                EventKind::Free { pfn, order } => (pfn, order, true),
                _ => continue,
            };
            if event.time_ns < state.begin_ns {
                continue;
            }
            let Some((zone, first)) = locate(machine, pfn, order) else { continue };
            self.report.events_meanwhile += 1;
            let frames = first..first + order.pages() as usize;
            for frame in frames.clone() {
                if !is_free {
                    self.take_out(machine, zone, frame, &mut owners[zone]);
                }
            }
            if is_free && owners[zone][frames].iter().all(|&owner| owner == 0) {
                // The event does not name the list: most likely it is that of the CPU.
                self.report.changed_frames += order.pages();
                let cpu = (order.get() <= 3).then_some(event.cpu);
                let geometry = Geometry::new(machine, zone);
                let types = self.pageblock_types(zone, &geometry);
                let list = types[geometry.block_of(first)].unwrap_or(Migratetype::Movable);
                self.blocks[zone].push(FreeBlock { pfn, order, cpu, list, origin: list, is_newest: true });
                let at = self.blocks[zone].len() - 1;
                self.enter(machine, zone, at, &mut owners[zone]);
            }
        }
        for ((blocks, owners), zone) in self.blocks.iter_mut().zip(&owners).zip(&machine.zones) {
            let mut number = 0;
            blocks.retain(|block| {
                number += 1;
                owners[(block.pfn.0 - zone.start.0) as usize] == number
            });
            let (mut newest, older): (Vec<_>, Vec<_>) = blocks.iter().partition(|block| block.is_newest);
            newest.reverse();
            newest.extend(older);
            *blocks = newest;
        }
    }

    /// Makes a block the owner of its frames. Drops previous owners of these frames.
    fn enter(&mut self, machine: &RecordedMachine, zone: usize, at: usize, owners: &mut [u32]) {
        let block = self.blocks[zone][at];
        let first = (block.pfn.0 - machine.zones[zone].start.0) as usize;
        for frame in first..first + block.order.pages() as usize {
            if owners[frame] != 0 {
                self.drop_owner(machine, zone, frame, owners);
            }
            owners[frame] = at as u32 + 1;
        }
    }

    /// Removes the owner of a frame from all of its frames.
    fn drop_owner(&mut self, machine: &RecordedMachine, zone: usize, frame: usize, owners: &mut [u32]) {
        let Some(at) = owners[frame].checked_sub(1) else { return };
        let block = self.blocks[zone][at as usize];
        let first = (block.pfn.0 - machine.zones[zone].start.0) as usize;
        let own = &mut owners[first..first + block.order.pages() as usize];
        own.iter_mut().filter(|owner| **owner == at + 1).for_each(|owner| *owner = 0);
        self.report.changed_frames += block.order.pages();
    }

    /// Removes a frame from its block; the rest of the block stays free.
    fn take_out(&mut self, machine: &RecordedMachine, zone: usize, frame: usize, owners: &mut [u32]) {
        let Some(at) = owners[frame].checked_sub(1) else { return };
        let block = self.blocks[zone][at as usize];
        self.drop_owner(machine, zone, frame, owners);
        let pfn = machine.zones[zone].start.add(frame as u64);
        let (mut order, mut start) = (block.order, block.pfn);
        while let Some(half) = order.down() {
            order = half;
            let upper = start.add(half.pages());
            let rest = if pfn >= upper { start } else { upper };
            start = if pfn >= upper { upper } else { start };
            self.blocks[zone].push(FreeBlock { pfn: rest, order, cpu: None, is_newest: false, ..block });
            let last = self.blocks[zone].len() - 1;
            self.enter(machine, zone, last, owners);
        }
    }

    /// Returns the start snapshot at the moment of the exact start, with the frames that were free then.
    pub(super) fn snapshot(&self, machine: &RecordedMachine, start: &Snapshot) -> Snapshot {
        let mut occupancy = Vec::new();
        for (zone, blocks) in machine.zones.iter().zip(&self.blocks) {
            let unknown = if start.occupancy.is_empty() { FrameUse::Other } else { FrameUse::Absent };
            let mut frames = vec![unknown; zone.spanned as usize];
            for run in &start.occupancy {
                let from = run.start.0.max(zone.start.0);
                let to = run.start.0.saturating_add(run.pages).min(zone.start.0 + zone.spanned);
                if from < to {
                    // A frame on no list was in use, even if the snapshot shows it free.
                    let used_for =
                        if run.used_for == FrameUse::Free { FrameUse::Other } else { run.used_for };
                    frames[(from - zone.start.0) as usize..(to - zone.start.0) as usize].fill(used_for);
                }
            }
            for block in blocks {
                let first = (block.pfn.0 - zone.start.0) as usize;
                let used_for = if block.cpu.is_some() { FrameUse::Other } else { FrameUse::Free };
                frames[first..first + block.order.pages() as usize].fill(used_for);
            }
            let mut at = zone.start;
            for run in frames.chunk_by(|a, b| a == b) {
                occupancy.push(Run { start: at, pages: run.len() as u64, used_for: run[0] });
                at = at.add(run.len() as u64);
            }
        }
        occupancy.sort_unstable_by_key(|run| run.start);
        Snapshot { time_ns: self.report.moment_ns, occupancy, ..start.clone() }
    }

    /// Returns the types of a zone's pageblocks. A type that could not be read is that of the list of its first free
    /// block; `None` without a free block.
    pub(super) fn pageblock_types(&self, zone: usize, geometry: &Geometry) -> Vec<Option<Migratetype>> {
        let blocks = geometry.blocks;
        let runs = self.zones[zone].pageblocks.iter();
        let mut types: Vec<_> = runs
            .flat_map(|run| {
                let kind = run.migratetype.and_then(Migratetype::new);
                std::iter::repeat_n(kind, (run.pageblocks as usize).min(blocks))
            })
            .take(blocks)
            .collect();
        types.resize(blocks, None);
        for block in self.blocks[zone].iter().filter(|block| block.cpu.is_none()) {
            let first = (block.pfn.0 - geometry.zone_start) as usize;
            let last = first + block.order.pages() as usize - 1;
            for kind in &mut types[geometry.block_of(first)..=geometry.block_of(last)] {
                kind.get_or_insert(block.list);
            }
        }
        types
    }

    /// Returns the zones of a memory with their indices and blocks.
    fn by_zone<'s, 'm, P: Platform>(
        &'s self,
        machine: &'s RecordedMachine,
        memory: &'s Memory<'m, P>,
    ) -> impl Iterator<Item = (usize, &'m Zone<'m, P>, &'s [FreeBlock])> {
        let zones = self.blocks.iter().enumerate();
        zones.filter_map(|(number, blocks)| {
            Some((number, memory.zone_of(machine.zones[number].start)?, blocks.as_slice()))
        })
    }

    /// Adds the free blocks to the free lists of a memory, in order. The pageblocks must have their types already.
    pub(super) fn restore_free<P: Platform>(
        &self,
        machine: &RecordedMachine,
        memory: &Memory<'_, P>,
    ) -> Result<(), LabError> {
        for (_, zone, blocks) in self.by_zone(machine, memory) {
            for block in blocks.iter().filter(|block| block.cpu.is_none()) {
                if zone.add_free_block(block.pfn, block.order, block.list).is_ok() {
                    continue;
                }
                // With hygiene, a block is on the list of its pageblock's type.
                let own = zone.block_type(block.pfn).unwrap_or(block.list);
                if zone.add_free_block(block.pfn, block.order, own).is_err() {
                    zone.add_free(block.pfn, block.order.pages())?;
                }
            }
        }
        Ok(())
    }

    /// Adds blocks to the per-CPU lists of a memory, and restores the remembered state of CPUs and zones. All other
    /// frames must have their state already.
    pub(super) fn restore_rest<P: Platform>(
        &self,
        machine: &RecordedMachine,
        memory: &Memory<'_, P>,
    ) -> Result<(), LabError> {
        for (number, zone, blocks) in self.by_zone(machine, memory) {
            for block in blocks {
                let Some(cpu) = block.cpu else { continue };
                let added = zone.add_percpu_block(cpu, block.pfn, block.order, block.list, block.origin);
                if added.is_err() {
                    // The replay lacks this list of the machine.
                    zone.add_free(block.pfn, block.order.pages())?;
                }
            }
            let (exact, managed) = (&self.zones[number], machine.zones[number].managed);
            for cpu in &exact.cpus {
                let (cpu, settings) = (cpu.cpu as u16, cpu);
                let bounds = machine.zones[number].percpu;
                let flush_needs_batch = settings.flags & 2 != 0;
                zone.set_percpu_settings(cpu, freehold::PerCpuSettings { flush_needs_batch, ..bounds });
                if let Some(fresh) = zone.percpu_state(cpu) {
                    let state = percpu_state(settings, fresh, &memory.switches());
                    zone.restore_percpu_state(cpu, state);
                }
            }
            zone.restore_state(ZoneState {
                watermark_boost: exact.boost.min(managed),
                reserved_highatomic: exact.reserved_highatomic.min(managed),
                boosted: exact.flags & 1 != 0,
                reclaim_active: exact.flags & 2 != 0,
                below_high: exact.flags & 4 != 0,
            });
        }
        Ok(())
    }
}

/// Returns the remembered state of a CPU's lists, as far as the replayed era has such state.
fn percpu_state(exact: &ExactCpu, fresh: PerCpuState, switches: &freehold::Switches) -> PerCpuState {
    let small = |value: u64, most: u32| u32::try_from(value).unwrap_or(most).min(most);
    let tuned = switches.auto_tuned_high;
    PerCpuState {
        high: if tuned { small(exact.high, 1 << 20) } else { fresh.high },
        alloc_factor: if tuned { small(exact.alloc_factor, 5) } else { 0 },
        free_count: if tuned { small(exact.free_count, 1 << 15) } else { 0 },
        free_factor: if tuned { 0 } else { small(exact.free_factor, 5) },
        last_free_was_high_order: tuned && exact.flags & 1 != 0,
    }
}

/// Returns the exact state of each zone of a machine.
fn zones_of(
    machine: &RecordedMachine,
    start: &Snapshot,
    state: &ExactState,
) -> Result<Vec<ExactZone>, String> {
    let mut taken = vec![false; state.zones.len()];
    let of_zone = |&index: &usize| {
        let zone = &start.zones[index];
        let is_own = |own: &ExactZone| (own.node, &own.name) == (zone.node, &zone.name);
        match state.zones.iter().position(is_own) {
            Some(own) if std::mem::replace(&mut taken[own], true) => {
                Err(format!("there are several zones {} of node {}", zone.name, zone.node))
            }
            Some(own) => Ok(state.zones[own].clone()),
            None if zone.present == 0 => Ok(ExactZone::default()),
            None => Err(format!("zone {} of node {} was not read block by block", zone.name, zone.node)),
        }
    };
    machine.snapshot_index.iter().map(of_zone).collect()
}

/// Returns the blocks of a zone in the order of reading. The error names the impossible value.
fn read_order(zone: &ExactZone, own: &ZoneConfig, cpus: u16) -> Result<Vec<FreeBlock>, String> {
    let end = own.start.0.saturating_add(own.spanned);
    let zones = zone.lists.iter().map(|list| Ok::<_, String>((None, list)));
    let of_cpus = zone.cpus.iter().flat_map(|cpu| {
        let known = u16::try_from(cpu.cpu).ok().filter(|&number| number < cpus);
        let known = known.ok_or_else(|| format!("zone {} has lists of CPU {}", zone.name, cpu.cpu));
        cpu.lists.iter().map(move |list| Ok((Some(known.clone()?), list)))
    });
    let mut blocks = Vec::new();
    for lists in zones.chain(of_cpus) {
        let (cpu, list) = lists?;
        let kind = list.kind();
        let (order, kind) = kind.ok_or_else(|| {
            format!("zone {} has a list of order {} and type {}", zone.name, list.order, list.migratetype)
        })?;
        for (pfn, origin) in list.blocks() {
            let is_inside = own.start <= pfn && pfn.0.saturating_add(order.pages()) <= end;
            if !is_inside || !pfn.0.is_multiple_of(order.pages()) {
                return Err(format!(
                    "zone {} has a free block of order {order} at frame {}",
                    zone.name, pfn.0
                ));
            }
            blocks.push(FreeBlock { pfn, order, cpu, list: kind, origin, is_newest: false });
        }
    }
    Ok(blocks)
}
