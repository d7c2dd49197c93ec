//! A row of the file: the conversion from an event, and back.

use freehold::{GfpFlags, Migratetype, Pfn};

use super::column::Column;
use super::error::{Place, TraceError};
use super::row_kind::RowKind;
use super::zones::Zones;
use crate::model::{Event, EventKind, FrameUse, Run};

/// A row of the file. Fields that its kind does not use are 0.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Row {
    pub(crate) time_ns: u64,
    pub(crate) cpu: u16,
    pub(crate) kind: u8,
    pub(crate) pfn: Option<u64>,
    pub(crate) order: u8,
    pub(crate) migratetype: u8,
    pub(crate) gfp: u32,
    pub(crate) pid: i32,
    pub(crate) count: u64,
    pub(crate) fallback_order: u8,
    pub(crate) fallback_migratetype: u8,
    pub(crate) change_ownership: bool,
    pub(crate) percpu_refill: bool,
    pub(crate) frame_use: u8,
    pub(crate) obtained: u64,
}

impl Row {
    /// Returns the row of a run of frames in the start snapshot.
    pub(crate) fn of_run(run: Run, time_ns: u64) -> Self {
        Self {
            time_ns,
            kind: RowKind::Occupancy as u8,
            pfn: Some(run.start.0),
            count: run.pages,
            frame_use: run.used_for as u8,
            ..Self::default()
        }
    }

    /// Returns the row of an event.
    pub(crate) fn of_event(event: &Event) -> Self {
        let base = Self { time_ns: event.time_ns, cpu: event.cpu, pid: event.pid, ..Self::default() };
        match event.kind {
            EventKind::Alloc { pfn, order, migratetype, gfp } => Self {
                kind: RowKind::Alloc as u8,
                pfn: pfn.map(|pfn| pfn.0),
                order: order.get(),
                migratetype: migratetype as u8,
                gfp: gfp.bits(),
                ..base
            },
            EventKind::Free { pfn, order } => {
                Self { kind: RowKind::Free as u8, pfn: Some(pfn.0), order: order.get(), ..base }
            }
            EventKind::ExtFrag {
                pfn,
                order,
                fallback_order,
                migratetype,
                fallback_migratetype,
                change_ownership,
            } => Self {
                kind: RowKind::ExtFrag as u8,
                pfn: Some(pfn.0),
                order: order.get(),
                migratetype: migratetype as u8,
                fallback_order: fallback_order.get(),
                fallback_migratetype: fallback_migratetype as u8,
                change_ownership,
                ..base
            },
            EventKind::ZoneLocked { pfn, order, migratetype, percpu_refill } => Self {
                kind: RowKind::ZoneLocked as u8,
                pfn: Some(pfn.0),
                order: order.get(),
                migratetype: migratetype as u8,
                percpu_refill,
                ..base
            },
            EventKind::PcpuDrain { pfn, order, migratetype } => Self {
                kind: RowKind::PcpuDrain as u8,
                pfn: Some(pfn.0),
                order: order.get(),
                migratetype: migratetype as u8,
                ..base
            },
            EventKind::CompactionBegin => Self { kind: RowKind::CompactionBegin as u8, ..base },
            EventKind::CompactionEnd => Self { kind: RowKind::CompactionEnd as u8, ..base },
            EventKind::Lost { count } => Self { kind: RowKind::Lost as u8, count, ..base },
            EventKind::Work { work, pages, obtained } => {
                Self { kind: RowKind::of_work(work) as u8, count: pages, obtained, ..base }
            }
            EventKind::DirectReclaimBegin { order, gfp } => {
                Self { kind: RowKind::DirectReclaimBegin as u8, order: order.get(), gfp: gfp.bits(), ..base }
            }
            EventKind::KswapdWake { order } => {
                Self { kind: RowKind::KswapdWake as u8, order: order.get(), ..base }
            }
            EventKind::KswapdSleep => Self { kind: RowKind::KswapdSleep as u8, ..base },
        }
    }

    /// Returns the row of the ending. Its note is written separately.
    pub(crate) fn of_ending(time_ns: u64) -> Self {
        Self { time_ns, kind: RowKind::Ending as u8, ..Self::default() }
    }

    /// Returns the run of frames in a row of the start snapshot.
    pub(crate) fn run(&self, place: Place<'_>) -> Result<Run, TraceError> {
        let start = Pfn(required_pfn(self, place)?);
        let used_for = FrameUse::new(self.frame_use);
        let used_for =
            used_for.ok_or_else(|| place.bad_value(Column::FrameUse, self.frame_use.into(), "0 to 8"))?;
        Ok(Run { start, pages: self.count, used_for })
    }

    /// Returns the event in a row of this kind. Checks every code and the block.
    #[inline]
    pub(crate) fn event(
        &self,
        kind: RowKind,
        zones: &mut Zones,
        place: Place<'_>,
    ) -> Result<Event, TraceError> {
        let kind = match kind {
            RowKind::Alloc | RowKind::Free => block_event(kind, self, zones, place)?,
            RowKind::Lost => EventKind::Lost { count: self.count },
            RowKind::CompactionBegin => EventKind::CompactionBegin,
            RowKind::CompactionEnd => EventKind::CompactionEnd,
            RowKind::DirectReclaimBegin => EventKind::DirectReclaimBegin {
                order: zones.order(self.order, Column::Order, place)?,
                gfp: flags(self.gfp),
            },
            RowKind::KswapdWake => {
                EventKind::KswapdWake { order: zones.order(self.order, Column::Order, place)? }
            }
            RowKind::KswapdSleep => EventKind::KswapdSleep,
            _ => match kind.work() {
                Some(work) => EventKind::Work { work, pages: self.count, obtained: self.obtained },
                None => block_event(kind, self, zones, place)?,
            },
        };
        Ok(Event { time_ns: self.time_ns, cpu: self.cpu, pid: self.pid, kind })
    }
}

#[inline]
fn block_event(
    kind: RowKind,
    row: &Row,
    zones: &mut Zones,
    place: Place<'_>,
) -> Result<EventKind, TraceError> {
    let order = zones.order(row.order, Column::Order, place)?;
    if let Some(pfn) = row.pfn
        && !zones.contain(pfn, order.pages())
    {
        return Err(place.outside_zones(pfn, row.order));
    }
    let own_type = || migratetype(row.migratetype, Column::Migratetype, place);
    if kind == RowKind::Alloc {
        let (pfn, gfp) = (row.pfn.map(Pfn), flags(row.gfp));
        return Ok(EventKind::Alloc { pfn, order, migratetype: own_type()?, gfp });
    }
    let pfn = Pfn(required_pfn(row, place)?);
    Ok(match kind {
        RowKind::ExtFrag => EventKind::ExtFrag {
            pfn,
            order,
            fallback_order: zones.order(row.fallback_order, Column::FallbackOrder, place)?,
            migratetype: own_type()?,
            fallback_migratetype: migratetype(row.fallback_migratetype, Column::FallbackMigratetype, place)?,
            change_ownership: row.change_ownership,
        },
        RowKind::ZoneLocked => {
            let percpu_refill = row.percpu_refill;
            EventKind::ZoneLocked { pfn, order, migratetype: own_type()?, percpu_refill }
        }
        RowKind::PcpuDrain => EventKind::PcpuDrain { pfn, order, migratetype: own_type()? },
        _ => EventKind::Free { pfn, order },
    })
}

/// Returns the GFP flags. Bits that this version does not know become [`GfpFlags::UNKNOWN`].
#[inline]
fn flags(bits: u32) -> GfpFlags {
    GfpFlags::from_bits(bits).unwrap_or_else(|| GfpFlags::from_bits_truncate(bits) | GfpFlags::UNKNOWN)
}

fn required_pfn(row: &Row, place: Place<'_>) -> Result<u64, TraceError> {
    row.pfn.ok_or_else(|| place.corrupt_row("no pfn; only a failed allocation has none"))
}

#[inline]
fn migratetype(value: u8, column: Column, place: Place<'_>) -> Result<Migratetype, TraceError> {
    Migratetype::new(value).ok_or_else(|| place.bad_value(column, value.into(), "0 to 5"))
}
