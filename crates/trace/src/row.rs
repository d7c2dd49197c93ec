//! One row of the file, and what the model makes of it.

use crate::layout::RowKind;
use crate::{Event, EventKind, Run};

/// One row of the file; what a kind has no use for is 0.
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
}

impl Row {
    /// The row of a run of frames in the start snapshot.
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

    /// The row of an event.
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
            EventKind::Lost { count } => Self { kind: RowKind::Lost as u8, count, ..base },
        }
    }

    /// The row of the ending; its note is written beside it.
    pub(crate) fn of_ending(time_ns: u64) -> Self {
        Self { time_ns, kind: RowKind::Ending as u8, ..Self::default() }
    }
}
