//! How a trace is replayed.

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
    pub detail: SampleDetail,
    /// What moves pages although nobody waits for a block.
    pub background: Background,
}

/// What moves pages although nobody waits for a block, within the time that is given for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Background {
    /// What the variant has: rules that tidy pageblocks, or nothing. Proactive compaction is the recorded machine's.
    #[default]
    OfVariant,
    /// Proactive compaction at its most eager, `vm.compaction_proactiveness` 100, and without Linux's pauses. What the
    /// recorded machine's kcompactd did comes besides, if the trace tells.
    ProactiveCompaction,
}

/// What is looked at for the samples of a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SampleDetail {
    /// Free blocks by order and type, pageblocks and lists.
    #[default]
    All,
    /// Everything: pageblocks and lists with every sample, and where each fallback happened.
    Places,
    /// Free blocks by order, without their types. Pageblocks and lists are looked at only before the first event and
    /// after the last one. Where much memory is free in small blocks that saves most of the time.
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
