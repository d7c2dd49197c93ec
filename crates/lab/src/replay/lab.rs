//! A trace that is prepared for any number of replays.

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
use crate::start::{Machine, Start, StartReport};
use crate::trace::Trace;

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
    /// What moving pages costs, and how many stay where they are.
    pub(super) moves: MoveCost,
    /// Pages that the machine allocated without an event, in the order of time; empty if the start is a fit.
    pub(super) untraced: Vec<UntracedAlloc>,
    /// Shared with whoever waits for the replays.
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

    /// Does the same as [`Self::new`], with what another thread sees of all replays.
    ///
    /// # Errors
    /// As [`Self::new`], and [`LabError::Interrupted`].
    pub fn controlled(trace: Trace<'t>, control: Arc<Control>) -> Result<Self, LabError> {
        let machine = Machine::new(trace.start, trace.events)?;
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

    /// Returns the same lab for a machine that takes so many nanoseconds to move a page, whatever the trace tells.
    #[must_use]
    pub fn with_page_move_ns(mut self, ns: u64) -> Self {
        self.moves = MoveCost { ns_a_page: ns, is_recorded: true, ..self.moves };
        self
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
            moves: self.moves,
            untraced: self.untraced.clone(),
            control: Arc::clone(&self.control),
        }
    }

    /// Tells whoever waits that the trace will be followed so many times more.
    pub(crate) fn plan(&self, replays: u64) {
        self.control.plan(replays.saturating_mul(self.trace.events.len() as u64));
    }

    /// Returns the daemons of a replay whose trace begins at a time, and which look at the zones so many events earlier
    /// than they otherwise would.
    pub(super) fn daemons(&self, start_ns: u64, options: Options) -> Daemons {
        let budget = Budget::new(self.moves.ns_a_page, start_ns);
        let (kcompactd, kswapd) = (self.kcompactd.clone(), self.kswapd.clone());
        Daemons::new(kcompactd, kswapd, start_ns, options.shift, (options.background, budget))
    }

    /// Returns what moving pages costs, and how many stay where they are.
    pub(crate) fn moves(&self) -> MoveCost {
        self.moves
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
