//! A trace that is prepared for any number of replays.

use std::collections::HashSet;
use std::ops::Range;

use freehold_trace::PageTypeInfo;

use super::daemons::Daemons;
use super::untold::Untold;
use super::variant::nearest_era;
use crate::error::LabError;
use crate::recorded::{Gaps, Recorded, kcompactd_tasks, kswapd_reclaims};
use crate::start::{Machine, Start, StartReport};
use crate::trace::Trace;

/// How a trace is replayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The number of runs of each replay. Further runs change only the times.
    pub runs: u32,
    /// The number of replays that run at the same time; `None` for one on each processor.
    pub threads: Option<usize>,
    /// The number of events by which the daemons look at the zones earlier. The trace does not tell when they
    /// looked: each shift is a replay that it allows.
    pub shift: u32,
    /// What samples have.
    pub looks: Looks,
}

/// What is looked at for the samples of a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Looks {
    /// Free blocks by order and type, pageblocks and lists.
    #[default]
    All,
    /// Free blocks by order, without their types. Pageblocks and lists are looked at only before the first event and
    /// after the last one. Where much memory is free in small blocks that saves most of the time.
    Totals,
}

impl Default for Options {
    fn default() -> Self {
        Self { runs: 3, threads: None, shift: 0, looks: Looks::All }
    }
}

/// A trace that is prepared for any number of replays.
#[derive(Clone, Debug)]
pub struct Lab<'t> {
    /// The trace.
    pub trace: Trace<'t>,
    /// The recorded machine.
    pub machine: Machine,
    /// The state from which every replay starts.
    pub start: Start,
    /// The tasks that are the machine's kcompactd, if the trace tells who compacts.
    pub(super) kcompactd: Option<HashSet<i32>>,
    /// The events during which the machine's kswapd reclaimed, if the trace tells.
    pub(super) kswapd: Option<Vec<Range<usize>>>,
    /// Pages that the machine allocated without an event, in the order of time; empty if the start is a fit.
    pub(super) untold: Vec<Untold>,
}

impl<'t> Lab<'t> {
    /// Computes the machine and its state at the start from a trace.
    ///
    /// # Errors
    /// A start snapshot that describes no machine, or a block that is not inside one zone.
    pub fn new(trace: Trace<'t>) -> Result<Self, LabError> {
        let machine = Machine::new(trace.start, trace.events)?;
        let start = Start::new(&machine, trace)?;
        let kcompactd = kcompactd_tasks(trace);
        let kswapd = kswapd_reclaims(trace, machine.zones.chunk_by(|a, b| a.node == b.node).count());
        let mut lab = Self { trace, machine, start, kcompactd, kswapd, untold: Vec::new() };
        if let Some(era) =
            nearest_era(&trace.origin.kernel_release).filter(|_| lab.start.moment_ns().is_some())
        {
            lab.untold = lab.find_untold(&era.into())?;
        }
        Ok(lab)
    }

    /// Returns a lab of the same trace on a machine with other settings.
    pub(crate) fn on(&self, machine: Machine) -> Self {
        let start = self.start.with_pageblocks_of(&self.machine, &machine);
        Self {
            trace: self.trace,
            machine,
            start,
            kcompactd: self.kcompactd.clone(),
            kswapd: self.kswapd.clone(),
            untold: self.untold.clone(),
        }
    }

    /// Returns the daemons of a replay whose trace begins at a time, and which look at the zones so many events earlier
    /// than they otherwise would.
    pub(super) fn daemons(&self, start_ns: u64, shift: u32) -> Daemons {
        Daemons::new(self.kcompactd.clone(), self.kswapd.clone(), start_ns, shift)
    }

    /// Returns true if the trace tells when the machine's kcompactd compacted: the replay's compacts as often.
    pub(crate) fn tells_of_kcompactd(&self) -> bool {
        self.kcompactd.is_some()
    }

    /// Returns how well the start state agrees with what was recorded.
    pub fn start_report(&self) -> &StartReport {
        &self.start.report
    }

    /// Returns the machine's own free blocks at its end; `None` if they were not recorded.
    pub(crate) fn end(&self) -> Option<&'t PageTypeInfo> {
        let end = self.trace.ending?.snapshot.as_ref()?;
        Some(&end.pagetypeinfo)
    }

    /// Returns what the machine itself did, as far as the trace tells.
    pub fn recorded(&self) -> Recorded {
        Recorded::new(self.trace)
    }

    /// Returns the places at which events are missing, and what that makes uncertain.
    pub fn gaps(&self) -> Gaps {
        Gaps::new(&self.machine, self.trace)
    }
}
