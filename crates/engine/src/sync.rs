//! The one place that chooses between the processor's atomics and the model
//! checker's (`--cfg loom`).

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

use lock_api::RawMutex;

use crate::tracepoints::Tracepoints;

/// What an embedder brings: the locks, one kind for zones, one for per-CPU lists, and
/// whoever watches.
///
/// A kernel names its own spin locks here; a simulator names one that measures
/// how long it is held.
pub trait Locks {
    /// Guards a zone's free lists. Linux counterpart: `zone->lock`.
    type Zone: RawMutex;
    /// Guards one CPU's lists of one zone. Linux counterpart: `pcp->lock`.
    type PerCpu: RawMutex;
    /// Who watches; `()` for nobody.
    type Tracepoints: Tracepoints;
}

impl<Z: RawMutex, P: RawMutex> Locks for (Z, P) {
    type Zone = Z;
    type PerCpu = P;
    type Tracepoints = ();
}

impl<Z: RawMutex, P: RawMutex, T: Tracepoints> Locks for (Z, P, T) {
    type Zone = Z;
    type PerCpu = P;
    type Tracepoints = T;
}
