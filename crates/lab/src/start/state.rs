//! The start state of every replay of a trace.

use freehold::{Memory, Migratetype, Order, Pfn, Platform};
use freehold_measure::grouped;
use freehold_trace::FrameUse;
use serde::Serialize;

use super::exact::ExactStart;
use super::exact_report::ExactReport;
use super::fit::{Counted, FitReport, counted_blocks, counted_in, fit};
use super::geometry::{BlockTypes, Geometry, target_of};
use super::machine::RecordedMachine;
use super::occupancy::{Corrections, StartOccupancy};
use super::prepass::{FirstUse, FirstUses};
use crate::error::LabError;
use crate::trace::Trace;

/// The start state of every replay of a trace. Computed once and used for all eras.
#[derive(Clone, Debug)]
pub struct Start {
    /// The use of every frame.
    pub occupancy: StartOccupancy,
    /// The type of every pageblock, by zone.
    pub block_types: Vec<BlockTypes>,
    /// The agreement of the state with the recording.
    pub report: StartReport,
    /// For each zone, one frame of each pageblock with only reserved pages.
    kept: Vec<Vec<usize>>,
    first: FirstUses,
    /// The exact start, if it was read from the machine.
    exact: Option<ExactStart>,
}

/// The agreement of the start state with the recording.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct StartReport {
    /// Counts of pages for which events contradict the snapshot's occupancy.
    pub corrections: Corrections,
    /// The agreement of the pageblock types with pagetypeinfo.
    pub fit: FitReport,
    /// Blocks in use at the start that events free later.
    pub blocks_in_use: u64,
    /// Events with a block that is not aligned to its size. They are not replayed.
    pub misaligned: u64,
    /// The report on an exact start; `None` if the start is a fit.
    pub exact: Option<ExactReport>,
    /// The reason why the start is a fit; empty for an exact start.
    pub why_fitted: String,
}

impl StartReport {
    /// Returns [`Self::sentence`], for a fit with its reason and its consequences.
    pub fn summary(&self) -> String {
        if self.exact.is_some() {
            return self.sentence();
        }
        format!(
            "{}; a fit, in which the order of the lists and most frames are made up: {}",
            self.sentence(),
            self.why_fitted
        )
    }

    /// Returns one line on the agreement of the start state with that of the machine.
    pub fn sentence(&self) -> String {
        if let Some(exact) = &self.exact {
            return exact.sentence();
        }
        let differ: u64 = self.fit.zones.iter().map(|zone| zone.free_pages).sum();
        let free: u64 = self.fit.zones.iter().map(|zone| zone.machine_free_pages).sum();
        let percent = differ as f64 * 100.0 / free.max(1) as f64;
        let made_up = if self.corrections.made_up { "; made up, as no occupancy was recorded" } else { "" };
        format!(
            "start state: {} of {} free pages under another order or type than the machine's ({percent:.1} %){made_up}",
            grouped(differ),
            grouped(free)
        )
    }
}

impl Start {
    /// Computes the start state from the snapshot and the events.
    ///
    /// # Errors
    /// [`LabError::OutsideZones`] if the block of an event is not inside one zone.
    pub fn new(machine: &RecordedMachine, trace: Trace<'_>) -> Result<Self, LabError> {
        match ExactStart::new(machine, trace) {
            Ok(exact) => Self::read(machine, trace, exact),
            Err(why) => Self::fitted(machine, trace, why),
        }
    }

    /// Returns an exact start.
    fn read(machine: &RecordedMachine, trace: Trace<'_>, exact: ExactStart) -> Result<Self, LabError> {
        let snapshot = exact.snapshot(machine, trace.start);
        let first = FirstUses::after(machine, &snapshot, trace.events, &exact)?;
        let occupancy = StartOccupancy::new(machine, &snapshot, &first);
        let unread = exact.report.unread_pageblocks > 0;
        let fitted = unread.then(|| fit(machine, &snapshot, &occupancy).0);
        let zones = 0..machine.zones.len();
        let block_types = zones.map(|zone| {
            let types = exact.pageblock_types(zone, &Geometry::new(machine, zone)).into_iter();
            let fitted = |block: usize| fitted.as_ref().map_or(Migratetype::Movable, |all| all[zone][block]);
            types.enumerate().map(|(block, kind)| kind.unwrap_or_else(|| fitted(block))).collect()
        });
        let block_types = block_types.collect();
        Ok(Self::put_together(
            machine,
            trace,
            (occupancy, block_types, FitReport::default()),
            first,
            Ok(exact),
        ))
    }

    /// Returns a start fitted to the counts of the snapshot.
    fn fitted(machine: &RecordedMachine, trace: Trace<'_>, why: String) -> Result<Self, LabError> {
        let first = FirstUses::new(machine, trace.start, trace.events)?;
        let occupancy = StartOccupancy::new(machine, trace.start, &first);
        let (block_types, fit) = fit(machine, trace.start, &occupancy);
        Ok(Self::put_together(machine, trace, (occupancy, block_types, fit), first, Err(why)))
    }

    fn put_together(
        machine: &RecordedMachine,
        trace: Trace<'_>,
        (occupancy, block_types, fit): (StartOccupancy, Vec<BlockTypes>, FitReport),
        first: FirstUses,
        exact: Result<ExactStart, String>,
    ) -> Self {
        let report = StartReport {
            corrections: occupancy.corrections,
            fit,
            blocks_in_use: 0,
            misaligned: first.misaligned,
            exact: exact.as_ref().ok().map(|exact| exact.report.clone()),
            why_fitted: exact.as_ref().err().cloned().unwrap_or_default(),
        };
        let kept = kept(machine, trace, &occupancy);
        let mut start = Self { occupancy, block_types, report, kept, first, exact: exact.ok() };
        start.report.blocks_in_use = start.in_use(machine).count() as u64;
        start
    }

    /// Returns the time of an exact start; `None` for a fit. Events up to this time are not replayed.
    ///
    /// Units: nanoseconds on the trace's clock.
    pub(crate) fn moment_ns(&self) -> Option<u64> {
        self.exact.as_ref().map(|exact| exact.report.moment_ns)
    }

    /// Returns the blocks on all lists at an exact start: the zone, the first frame counted from the zone's first,
    /// and the order. Empty for a fit.
    pub(crate) fn exact_blocks<'s>(
        &'s self,
        machine: &'s RecordedMachine,
    ) -> impl Iterator<Item = (usize, usize, Order)> + 's {
        let zones = self.exact.iter().flat_map(|exact| exact.blocks.iter().enumerate());
        zones.flat_map(|(zone, blocks)| {
            let start = machine.zones[zone].start.0;
            blocks.iter().map(move |block| (zone, (block.pfn.0 - start) as usize, block.order))
        })
    }

    /// Returns the same state with pageblocks of another order. A smaller pageblock gets the type of the recorded
    /// pageblock around it, a larger one the most frequent type of its parts.
    pub(crate) fn with_pageblocks_of(&self, own: &RecordedMachine, other: &RecordedMachine) -> Self {
        let mut start = self.clone();
        if own.pageblock_order == other.pageblock_order {
            return start;
        }
        for (zone, types) in start.block_types.iter_mut().enumerate() {
            let (from, to) = (Geometry::new(own, zone), Geometry::new(other, zone));
            let known = std::mem::take(types);
            let block_at = |index: usize| from.block_of(index.min(from.spanned - 1));
            *types = (0..to.blocks)
                .map(|block| {
                    let first = to.first_frame_of(block);
                    let behind = to.first_frame_of(block + 1);
                    most_frequent(&known[block_at(first)..=block_at(behind - 1)])
                })
                .collect();
        }
        start
    }

    /// Returns the blocks in use at the start that events free later.
    pub(crate) fn in_use<'s>(
        &'s self,
        machine: &'s RecordedMachine,
    ) -> impl Iterator<Item = (Pfn, Order, FrameUse)> + 's {
        machine.zones.iter().enumerate().flat_map(move |(number, zone)| {
            let frames = &self.occupancy.zones[number];
            (0..zone.spanned as usize).filter_map(move |index| match self.first.get(number, index) {
                FirstUse::Allocated(order) => Some((zone.start.add(index as u64), order, frames[index])),
                _ => None,
            })
        })
    }

    /// Returns the state of a frame at the start, derived from its first event.
    pub(crate) fn first_use(&self, zone: usize, index: usize) -> FirstUse {
        self.first.get(zone, index)
    }

    /// Sets a new memory to this state.
    pub(crate) fn populate<P: Platform>(
        &self,
        machine: &RecordedMachine,
        memory: &Memory<'_, P>,
    ) -> Result<(), LabError> {
        for (number, config) in machine.zones.iter().enumerate() {
            let Some(zone) = memory.zone_of(config.start) else { continue };
            let pageblock = machine.pageblock_order.pages();
            let first_block = config.start.0 / pageblock;
            for (block, &kind) in (first_block..).zip(&self.block_types[number]) {
                let pfn = Pfn((block * pageblock).max(config.start.0));
                zone.set_block_type(pfn, kind)
                    .map_err(|error| LabError::OutOfRange { what: error.to_string() })?;
            }
            let frames = &self.occupancy.zones[number];
            let is_exact = self.exact.is_some();
            for &index in &self.kept[number] {
                zone.add_reserved(config.start.add(index as u64), 1)?;
            }
            let mut at = 0;
            while at < frames.len() {
                let pfn = config.start.add(at as u64);
                let used_for = frames[at];
                if let FirstUse::Allocated(order) = self.first.get(number, at) {
                    zone.add_allocated(pfn, order, migratetype(used_for))?;
                    at += order.pages() as usize;
                    continue;
                }
                if let FirstUse::Listed(_) = self.first.get(number, at) {
                    at += 1;
                    continue;
                }
                let untouched = |&next: &usize| {
                    frames[next] == used_for && self.first.get(number, next) == FirstUse::Untouched
                };
                let huge = machine.pageblock_order;
                let pages = match used_for {
                    FrameUse::Free => frames[at..].iter().take_while(|&&next| next == FrameUse::Free).count(),
                    FrameUse::Hugetlb if pfn.is_aligned(huge) => {
                        let end = frames.len().min(at + huge.pages() as usize);
                        (at..end).take_while(untouched).count().max(1)
                    }
                    _ => 1,
                };
                match used_for {
                    FrameUse::Absent => {}
                    FrameUse::Free if is_exact => {}
                    FrameUse::Free => zone.add_free(pfn, pages as u64)?,
                    FrameUse::Hugetlb if pages as u64 == huge.pages() => {
                        zone.add_allocated(pfn, huge, migratetype(used_for))?;
                    }
                    FrameUse::Hugetlb | FrameUse::Offline => zone.add_reserved(pfn, pages as u64)?,
                    _ => zone.add_allocated(pfn, Order::ZERO, migratetype(used_for))?,
                }
                at += pages;
            }
        }
        match &self.exact {
            Some(exact) => {
                exact.restore_free(machine, memory)?;
                exact.restore_rest(machine, memory)
            }
            None => self.first.lists.restore(machine, memory),
        }
    }
}

/// Returns, for each zone, one frame of each pageblock that the kernel counts although it has only reserved pages.
fn kept(machine: &RecordedMachine, trace: Trace<'_>, occupancy: &StartOccupancy) -> Vec<Vec<usize>> {
    let zones = occupancy.zones.iter().enumerate();
    zones
        .map(|(zone, frames)| {
            let geometry = Geometry::new(machine, zone);
            let counted = counted_in(target_of(machine, zone, &trace.start.pagetypeinfo));
            let blocks = counted_blocks(&geometry, frames, counted).into_iter().enumerate();
            let kept = blocks.filter(|(_, counted)| *counted == Counted::Kept);
            kept.map(|(block, _)| geometry.first_frame_of(block)).collect()
        })
        .collect()
}

/// Returns the most frequent type; the first one if several types are equally frequent.
fn most_frequent(types: &[Migratetype]) -> Migratetype {
    let count = |kind: Migratetype| types.iter().filter(|&&other| other == kind).count();
    let first_of_most = types.iter().copied().rev().max_by_key(|&kind| count(kind));
    first_of_most.unwrap_or(Migratetype::Movable)
}

/// Returns the type of the request that probably allocated a frame.
fn migratetype(used_for: FrameUse) -> Migratetype {
    match used_for {
        FrameUse::Movable | FrameUse::Unevictable | FrameUse::Hugetlb => Migratetype::Movable,
        _ => Migratetype::Unmovable,
    }
}
