//! A trace, prepared for any number of replays.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use freehold_trace::PageTypeInfo;

use super::budget::Budget;
use super::control::Control;
use super::daemons::Daemons;
use super::options::Options;
use super::untraced::UntracedAlloc;
use super::variant::nearest_era;
use crate::error::LabError;
use crate::recorded::{Gaps, MoveCost, Recorded, kcompactd_tasks, kswapd_reclaims};
use crate::start::{RecordedMachine, Start, StartReport};
use crate::trace::Trace;

/// A trace, prepared for any number of replays.
#[derive(Clone, Debug)]
pub struct Lab<'t> {
    /// The trace.
    pub trace: Trace<'t>,
    /// The recorded machine.
    pub machine: RecordedMachine,
    /// The start state of every replay.
    pub start: Start,
    /// The kcompactd tasks of the machine; `None` if the trace does not record compaction.
    pub(super) kcompactd: Option<HashSet<i32>>,
    /// The event ranges in which the machine's kswapd reclaimed; `None` if the trace does not record them.
    pub(super) kswapd: Option<Vec<Range<usize>>>,
    /// The cost of moving pages, and the share of moves that fail.
    pub(super) moves: MoveCost,
    /// The allocations of the machine without an event, in the order of time; empty if the start is a fit.
    pub(super) untraced: Vec<UntracedAlloc>,
    /// Progress and interruption, shared with the threads that wait for the replays.
    pub(crate) control: Arc<Control>,
}

impl<'t> Lab<'t> {
    /// Computes the machine and its state at the start from a trace.
    ///
    /// # Errors
    /// A start snapshot that describes no machine, or a block that is not inside one zone.
    pub fn new(trace: Trace<'t>) -> Result<Self, LabError> {
        Self::controlled(trace, Arc::default())
    }

    /// Does the same as [`Self::new`], and shares `control` with all replays.
    ///
    /// # Errors
    /// As [`Self::new`], and [`LabError::Interrupted`].
    pub fn controlled(trace: Trace<'t>, control: Arc<Control>) -> Result<Self, LabError> {
        let machine = RecordedMachine::new(trace.start, trace.events)?;
        let start = Start::new(&machine, trace)?;
        let kcompactd = kcompactd_tasks(trace);
        let kswapd = kswapd_reclaims(trace, machine.zones.chunk_by(|a, b| a.node == b.node).count());
        let moves = MoveCost::new(trace);
        let mut lab = Self { trace, machine, start, kcompactd, kswapd, moves, untraced: Vec::new(), control };
        if let Some(era) =
            nearest_era(&trace.origin.kernel_release).filter(|_| lab.start.moment_ns().is_some())
        {
            lab.untraced = lab.find_untraced(&era.into())?;
        }
        Ok(lab)
    }

    /// Returns the same lab for a machine that needs `ns` nanoseconds to move a page, instead of the recorded time.
    #[must_use]
    pub fn with_page_move_ns(mut self, ns: u64) -> Self {
        self.moves = MoveCost { ns_a_page: ns, is_recorded: true, ..self.moves };
        self
    }

    /// Returns a lab of the same trace on a machine with other settings.
    pub(crate) fn on(&self, machine: RecordedMachine) -> Self {
        let start = self.start.with_pageblocks_of(&self.machine, &machine);
        Self {
            trace: self.trace,
            machine,
            start,
            kcompactd: self.kcompactd.clone(),
            kswapd: self.kswapd.clone(),
            moves: self.moves,
            untraced: self.untraced.clone(),
            control: Arc::clone(&self.control),
        }
    }

    /// Adds `replays` replays of the trace to the planned work in [`Control`].
    pub(crate) fn plan(&self, replays: u64) {
        self.control.plan(replays.saturating_mul(self.trace.events.len() as u64));
    }

    /// Returns the daemons of a replay that starts at `start_ns`, with the jitter of `options`.
    pub(super) fn daemons(&self, start_ns: u64, options: Options) -> Daemons {
        let budget = Budget::new(self.moves.ns_a_page, start_ns);
        let (kcompactd, kswapd) = (self.kcompactd.clone(), self.kswapd.clone());
        Daemons::new(kcompactd, kswapd, start_ns, options.shift, (options.background, budget))
    }

    /// Returns the cost of moving pages, and the share of moves that fail.
    pub(crate) fn moves(&self) -> MoveCost {
        self.moves
    }

    /// Returns true if the trace records when the machine's kcompactd compacted. That of the replay then compacts as
    /// often.
    pub(crate) fn records_kcompactd(&self) -> bool {
        self.kcompactd.is_some()
    }

    /// Returns the agreement of the start state with the recording.
    pub fn start_report(&self) -> &StartReport {
        &self.start.report
    }

    /// Returns the free blocks of the machine at the end; `None` if they were not recorded.
    pub(crate) fn end(&self) -> Option<&'t PageTypeInfo> {
        let end = self.trace.ending?.snapshot.as_ref()?;
        Some(&end.pagetypeinfo)
    }

    /// Returns the measures of the machine in the trace.
    pub fn recorded(&self) -> Recorded {
        Recorded::new(self.trace)
    }

    /// Returns the places with lost events, and the pages that they make uncertain.
    pub fn gaps(&self) -> Gaps {
        Gaps::new(&self.machine, self.trace)
    }
}
