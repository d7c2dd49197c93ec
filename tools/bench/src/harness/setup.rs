//! Machines of the engine in the start states of the benchmarks.

use std::mem::MaybeUninit;
use std::ops::Range;

use freehold::{
    Memory, MemoryConfig, Migratetype, Order, PerCpuSettings, Pfn, Platform, Sections, Switches, Watermarks,
    Zone, ZoneConfig, ZoneType, required_bytes,
};

use crate::error::BenchError;

/// The locks of the benchmarks: both spin, and unlock by a plain store.
#[derive(Debug)]
pub struct SpinPlatform;

impl Platform for SpinPlatform {
    type ZoneLock = spin::Mutex<()>;
    type PerCpuLock = spin::Mutex<()>;
    type Tracepoints = ();
    type Rule = ();
}

/// Locks as in Linux: waiters for the zone lock get it in turn.
#[derive(Debug)]
pub(crate) struct FairPlatform;

impl Platform for FairPlatform {
    type ZoneLock = spin::mutex::TicketMutex<()>;
    type PerCpuLock = spin::Mutex<()>;
    type Tracepoints = ();
    type Rule = ();
}

/// The first frame of the zone.
pub const START: Pfn = Pfn(1 << 20);

/// Order of a pageblock.
pub const BLOCK: Order = match Order::new(9) {
    Some(order) => order,
    None => Order::MAX_PAGE_ORDER,
};

/// The frames of a machine with a hole: those before the hole, and as many as a machine may have.
const BEHIND_HOLE: [Range<Pfn>; 2] = [Pfn(START.0 - HOLE)..Pfn(START.0 - HOLE + 1), START..Pfn(START.0 << 4)];

/// Frames from the start of a zone with a hole to [`START`]: two sections.
const HOLE: u64 = 2 * Order::SECTION.pages();

/// A machine with one zone.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub(crate) pages: u64,
    pub(crate) cpus: u16,
    pub(crate) switches: Switches,
    /// The pages of the zone for whose size the per-CPU lists are tuned.
    pub(crate) tuned_for: u64,
    /// True if the frames lie behind a hole between sections.
    pub(crate) behind_hole: bool,
}

impl Setup {
    /// Returns a machine whose per-CPU lists are tuned for its own size.
    pub fn new(pages: u64, cpus: u16, switches: Switches) -> Self {
        Self { pages, cpus, switches, tuned_for: pages, behind_hole: false }
    }

    /// Returns the same machine, whose frames lie behind a hole of the zone.
    #[must_use]
    pub fn behind_hole(self) -> Self {
        Self { behind_hole: true, ..self }
    }

    /// Calls `work` with a machine whose frames are all absent.
    ///
    /// # Errors
    /// The errors of `work`, and [`BenchError::Setup`].
    pub fn with<P: Platform<Tracepoints = (), Rule = ()>, R>(
        self,
        work: impl FnOnce(&Memory<'_, P>) -> Result<R, BenchError>,
    ) -> Result<R, BenchError> {
        self.with_tracepoints(&(), work)
    }

    /// Calls `work` with a machine whose frames are all absent, and passes events to `tracepoints`.
    pub(crate) fn with_tracepoints<P: Platform<Rule = ()>, R>(
        self,
        tracepoints: &P::Tracepoints,
        work: impl FnOnce(&Memory<'_, P>) -> Result<R, BenchError>,
    ) -> Result<R, BenchError> {
        let mut metadata = self.metadata::<P>();
        work(&Memory::with_tracepoints(&self.config(&[self.zone()]), &mut metadata, tracepoints)?)
    }

    /// Allocates the machine's metadata.
    pub fn metadata<P: Platform>(self) -> Vec<MaybeUninit<u8>> {
        vec![MaybeUninit::uninit(); self.metadata_bytes::<P>()]
    }

    /// Returns the bytes of the machine's metadata.
    pub fn metadata_bytes<P: Platform>(self) -> usize {
        required_bytes::<P>(&self.config(&[self.zone()]))
    }

    /// Returns the machine, all of its frames absent.
    ///
    /// # Errors
    /// [`BenchError::Setup`].
    pub fn memory<P: Platform<Tracepoints = (), Rule = ()>>(
        self,
        metadata: &mut [MaybeUninit<u8>],
    ) -> Result<Memory<'_, P>, BenchError> {
        Ok(Memory::new(&self.config(&[self.zone()]), metadata)?)
    }

    fn config(self, zones: &[ZoneConfig]) -> MemoryConfig<'_> {
        MemoryConfig {
            zones,
            sections: Sections {
                present: if self.behind_hole { &BEHIND_HOLE } else { &[] },
                ..Sections::ALL
            },
            cpus: self.cpus,
            max_order: Order::MAX_PAGE_ORDER,
            pageblock_order: BLOCK,
            huge_pages: true,
            switches: self.switches,
            watermark_boost_factor: None,
        }
    }

    /// The per-CPU lists are tuned as Linux does for a zone of this size: a batch of 63, and up to an
    /// eighth of the zone on the lists of all CPUs.
    fn zone(self) -> ZoneConfig {
        let high_max = (self.tuned_for / 8 / u64::from(self.cpus)).clamp(252, 1 << 20) as u32;
        let hole = if self.behind_hole { HOLE } else { 0 };
        ZoneConfig {
            node: 0,
            kind: ZoneType::Normal,
            start: Pfn(START.0 - hole),
            spanned: hole + self.pages,
            managed: self.pages,
            watermarks: Watermarks::default(),
            lowmem_reserve: [0; 6],
            percpu: PerCpuSettings { batch: 63, high_min: 252, high_max, flush_needs_batch: false },
        }
    }
}

/// Brings frames into service, every other one free, so that no free page has a free buddy.
pub(crate) fn add_alternating<P: Platform>(
    zone: &Zone<'_, P>,
    start: Pfn,
    pages: u64,
) -> Result<(), BenchError> {
    for page in (0..pages).step_by(2) {
        zone.add_free_block(start.add(page), Order::ZERO, Migratetype::Movable)?;
        zone.add_allocated(start.add(page + 1), Order::ZERO, Migratetype::Movable)?;
    }
    Ok(())
}
