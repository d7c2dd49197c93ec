//! The options of a replay.

/// The options of a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The number of timing rounds: runs of the same replay. Further rounds change only the times.
    pub runs: u32,
    /// The number of replays at the same time; `None` for one on each processor.
    pub threads: Option<usize>,
    /// The jitter of daemon wake-ups: the number of events by which they are earlier. The trace does not record the
    /// wake-ups of the machine's daemons, so that any jitter is possible.
    pub shift: u32,
    /// The contents of samples.
    pub detail: SampleDetail,
    /// The kind of background moves.
    pub background: Background,
}

/// The kind of background moves: page moves without a waiting request, within a time budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Background {
    /// Tidying of pageblocks if the variant has it, otherwise none. Proactive compaction has the recorded setting.
    #[default]
    OfVariant,
    /// Proactive compaction with `vm.compaction_proactiveness` 100 and without the pauses of Linux. The compactions
    /// of the recorded machine's kcompactd are added, if the trace records them.
    ProactiveCompaction,
}

/// The contents of the samples of a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SampleDetail {
    /// Free blocks by order and type, pageblocks and lists.
    #[default]
    All,
    /// Everything: pageblocks and lists in every sample, and the place of each fallback.
    Places,
    /// Free blocks by order, without types. Pageblocks and lists only before the first and after the last event.
    /// Saves most of the time if much memory is free in small blocks.
    Totals,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            runs: 3,
            threads: None,
            shift: 0,
            detail: SampleDetail::All,
            background: Background::OfVariant,
        }
    }
}
