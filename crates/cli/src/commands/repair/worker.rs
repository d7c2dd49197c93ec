//! The worker of a repair: the machine, the request, and the reasons to end a step early.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use freehold_monitor::verdict::{BlockRequest, Verdict};

use super::child::{End, KernelJob};
use crate::args::Sensing;
use crate::commands::bounded_lists::{self, BoundedLists};
use crate::exit::{Cause, Failure};
use crate::readings::Readings;

/// How often free blocks are counted while the kernel works.
const EVERY: Duration = Duration::from_millis(20);

/// How one piece of the kernel's work ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// The kernel did all of it.
    Whole,
    /// It was stopped as there were enough blocks, at its deadline, or by a signal to this process.
    Stopped,
    /// The kernel could not do all of it (`EAGAIN`).
    Short,
    /// The kernel does not know such a request (`EINVAL`).
    Unknown,
}

/// The machine that is repaired, and the request.
pub(super) struct Worker<'a> {
    pub(super) sensing: &'a Sensing,
    pub(super) request: &'a BlockRequest,
    /// How long a part of compaction may last.
    pub(super) budget: Option<Duration>,
    readings: Readings,
    /// The CPU that compacts.
    cpu: Option<u32>,
    ended: Arc<AtomicBool>,
    /// The longest that counting free blocks took.
    counting: Duration,
    /// The bound of per-CPU lists, from the first time that they are to be short until the repair ends.
    bounded: Option<BoundedLists>,
    /// True if per-CPU lists were drained already: they fill again.
    drained: bool,
}

impl<'a> Worker<'a> {
    /// `ended` is set when a signal asks this process to end.
    pub(super) fn new(
        sensing: &'a Sensing,
        request: &'a BlockRequest,
        budget: Option<Duration>,
        readings: Readings,
        ended: Arc<AtomicBool>,
    ) -> Self {
        let cpu = compacting_cpu(&readings);
        let (counting, bounded, drained) = (Duration::ZERO, None, false);
        Self { sensing, request, budget, readings, cpu, ended, counting, bounded, drained }
    }

    /// Keeps per-CPU lists short until the repair ends.
    pub(super) fn bound_lists(&mut self) {
        let root = self.root();
        self.bounded.get_or_insert_with(|| BoundedLists::new(root));
    }

    /// Has CPUs return the pages on their lists until there are enough blocks, or no more come.
    pub(super) fn drain(&mut self) -> Result<(), Failure> {
        self.bound_lists();
        self.drained = true;
        bounded_lists::drain(self.root(), || Ok(self.is_interrupted() || self.is_enough()?))
    }

    /// Returns the root folder of the machine.
    pub(super) fn root(&self) -> &'a Path {
        self.sensing.root.as_path()
    }

    /// Reads the machine again and judges it.
    pub(super) fn judge_again(&mut self) -> Result<Verdict, Failure> {
        self.readings = Readings::take(self.root(), self.sensing.sensor.into(), self.request)?;
        if self.drained {
            self.readings.lists_are_drained();
        }
        self.cpu = compacting_cpu(&self.readings);
        Ok(self.readings.judge(self.request, self.cpu))
    }

    /// Returns the blocks that requests can have now.
    pub(super) fn now(&mut self) -> Result<u64, Failure> {
        let root = self.root();
        Ok(self.readings.supply_again(root, self.request)?.now)
    }

    /// Returns true if there are enough blocks.
    pub(super) fn is_enough(&mut self) -> Result<bool, Failure> {
        Ok(self.now()? >= self.request.blocks)
    }

    /// Returns true if a signal requested the end of this process.
    pub(super) fn is_interrupted(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Has the kernel work until it is done, there are enough blocks, `most` has passed or a signal came.
    /// Returns how that ended, and how long it took. Only compaction is bound to the CPU of the forecast.
    pub(super) fn have_done(
        &mut self,
        file: &Path,
        text: Option<&str>,
        most: Option<Duration>,
        compacts: bool,
    ) -> Result<(Piece, Duration), Failure> {
        let cpu = self.cpu.filter(|_| compacts);
        let mut failed = None;
        let job = KernelJob { file, text, cpu, most };
        let ran = job.run(|left| {
            if self.is_interrupted() {
                return None;
            }
            // A count that would end after the deadline makes the work's end late.
            if left <= self.counting {
                return Some(left);
            }
            let counted = Instant::now();
            let enough = self.is_enough();
            self.counting = self.counting.max(counted.elapsed());
            match enough {
                Ok(true) => None,
                Ok(false) => Some(EVERY),
                Err(failure) => {
                    failed = Some(failure);
                    None
                }
            }
        });
        if let Some(failure) = failed {
            return Err(failure);
        }
        let refused = |error: io::Error| {
            let written =
                Err::<(), _>(error).with_context(|| format!("{} refuses to be written", file.display()));
            written.map_err(|error| Failure::new(Cause::Machine, error))
        };
        match ran {
            Ok((End::Done, took)) => Ok((Piece::Whole, took)),
            Ok((End::Stopped, took)) => Ok((Piece::Stopped, took)),
            Ok((End::Refused(error), took)) => {
                match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
                    Some(rustix::io::Errno::AGAIN) => Ok((Piece::Short, took)),
                    Some(rustix::io::Errno::INVAL) => Ok((Piece::Unknown, took)),
                    _ => refused(error).map(|()| (Piece::Short, took)),
                }
            }
            Err(error) => refused(error).map(|()| (Piece::Short, Duration::ZERO)),
        }
    }
}

/// Returns the CPU on which compaction leaves the fewest pages on lists; `None` where several nodes have CPUs.
pub(super) fn compacting_cpu(readings: &Readings) -> Option<u32> {
    let first = readings.zones.first()?.node;
    let one_node = readings.zones.iter().all(|zone| zone.node == first);
    if one_node { readings.calmest_cpu() } else { None }
}
