//! The settings of reclaim and compaction.

use crate::table::sync::{AtomicBool, AtomicU32, Ordering};

/// The settings of reclaim and compaction. They may be changed while the memory is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tunables {
    /// A zone is compacted for an order above 3 only if its `extfrag_index` exceeds this threshold.
    ///
    /// Units: thousandths, 0 to 1000. Linux counterpart: `vm.extfrag_threshold`.
    pub extfrag_threshold: u16,
    /// The aggressiveness of proactive compaction: with a larger number kcompactd starts at less fragmentation. 0 turns
    /// it off.
    ///
    /// Units: percent, 0 to 100; larger numbers count as 100.
    /// Linux counterpart: `vm.compaction_proactiveness`.
    pub compaction_proactiveness: u8,
    /// With defrag mode, requests take no part of another type's pageblock before reclaim and compaction have failed.
    /// kswapd and kcompactd then count only whole free pageblocks towards the watermarks.
    ///
    /// Linux counterpart: `vm.defrag_mode`, since 6.15.
    pub defrag_mode: bool,
}

impl Tunables {
    /// The defaults of Linux.
    pub const LINUX: Self = Self { extfrag_threshold: 500, compaction_proactiveness: 20, defrag_mode: false };
}

impl Default for Tunables {
    fn default() -> Self {
        Self::LINUX
    }
}

/// The current tunables, each in an atomic.
#[derive(Debug)]
pub(crate) struct TunableCells {
    extfrag_threshold: AtomicU32,
    compaction_proactiveness: AtomicU32,
    defrag_mode: AtomicBool,
}

impl TunableCells {
    pub(super) fn new(tunables: Tunables) -> Self {
        let Tunables { extfrag_threshold, compaction_proactiveness, defrag_mode } = tunables;
        Self {
            extfrag_threshold: AtomicU32::new(extfrag_threshold.into()),
            compaction_proactiveness: AtomicU32::new(compaction_proactiveness.into()),
            defrag_mode: AtomicBool::new(defrag_mode),
        }
    }

    pub(crate) fn defrag_mode(&self) -> bool {
        self.defrag_mode.load(Ordering::Relaxed)
    }

    pub(super) fn load(&self) -> Tunables {
        Tunables {
            extfrag_threshold: self.extfrag_threshold.load(Ordering::Relaxed) as u16,
            compaction_proactiveness: self.compaction_proactiveness.load(Ordering::Relaxed) as u8,
            defrag_mode: self.defrag_mode(),
        }
    }

    pub(super) fn store(&self, tunables: Tunables) {
        self.extfrag_threshold.store(tunables.extfrag_threshold.into(), Ordering::Relaxed);
        self.compaction_proactiveness.store(tunables.compaction_proactiveness.into(), Ordering::Relaxed);
        self.defrag_mode.store(tunables.defrag_mode, Ordering::Relaxed);
    }
}
