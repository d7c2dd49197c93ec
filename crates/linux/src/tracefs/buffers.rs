//! The page events in the ring buffers of all CPUs, and their counts.

use freehold::Order;
use freehold_trace::{Event, EventKind};

use super::decode::{Decoded, Decoder};
use super::instance::Instance;
use super::merge::Merger;
use super::rings::{CpuLoss, Part, Rings};
use crate::error::Error;

/// The ring buffers of an instance, decoded.
#[derive(Debug)]
pub(crate) struct Buffers {
    rings: Rings,
    /// Tasks that belong to the recorder.
    own_pids: Vec<i32>,
    tally: Tally,
}

/// Counts of what was read so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    /// Decoded events.
    pub(crate) events: u64,
    /// Decoded events that the recorder caused.
    pub(crate) own_events: u64,
    /// Lost events, according to the pages.
    pub(crate) lost: u64,
    /// Known events that could not be decoded.
    pub(crate) unreadable: u64,
    /// The largest order of a failed request.
    pub(crate) failed: Option<Order>,
}

impl Buffers {
    /// Decodes the events of `rings`.
    pub(crate) fn new(rings: Rings) -> Self {
        Self { rings, own_pids: Vec::new(), tally: Tally::default() }
    }

    /// Counts events of the task `pid` as the recorder's own.
    pub(crate) fn add_own(&mut self, pid: i32) {
        self.own_pids.push(pid);
    }

    /// Returns the counts so far.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// Passes the contents of the ring buffers to the merger, until they are empty or `until_ns` is
    /// reached.
    pub(crate) fn drain(
        &mut self,
        decoder: &Decoder,
        until_ns: u64,
        merger: &mut Merger,
    ) -> Result<(), Error> {
        let Self { rings, own_pids, tally } = self;
        rings.drain(until_ns, &mut |cpu, time_ns, part| {
            let cpu = cpu as u16;
            let lost = |count| Event { time_ns, cpu, pid: 0, kind: EventKind::Lost { count } };
            let bytes = match part {
                Part::Event(bytes) => bytes,
                Part::Missed(count) => {
                    tally.lost += count.unwrap_or(0);
                    return merger.push(lost(count.unwrap_or(0)));
                }
            };
            match decoder.decode(bytes) {
                Decoded::Event(raw) => {
                    tally.events += 1;
                    if let EventKind::Alloc { pfn: None, order, .. } = raw.kind {
                        tally.failed = tally.failed.max(Some(order));
                    }
                    tally.own_events += u64::from(own_pids.contains(&raw.pid));
                    merger.push(Event { time_ns, cpu, pid: raw.pid, kind: raw.kind });
                }
                Decoded::Foreign => {}
                Decoded::Unreadable => {
                    tally.unreadable += 1;
                    merger.push(lost(1));
                }
            }
        })
    }

    /// Returns the lost events of each CPU, according to the instance's `stats`.
    pub(crate) fn losses(&self, instance: &Instance) -> Result<Vec<CpuLoss>, Error> {
        self.rings.losses(instance)
    }
}
