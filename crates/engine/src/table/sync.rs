//! The one place that chooses between the processor's atomics and the model
//! checker's (`--cfg loom`).

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering, fence};

#[cfg(all(not(loom), target_has_atomic = "64"))]
pub(crate) use core::sync::atomic::AtomicU64;

// A processor without 64-bit atomics takes a lock of `portable-atomic` for each.
#[cfg(all(not(loom), not(target_has_atomic = "64")))]
pub(crate) use portable_atomic::AtomicU64;

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

use core::marker::PhantomData;

use lock_api::RawMutex;

use crate::types::{PlacementRule, Tracepoints};

/// The locks that an embedder brings, one kind for zones and one for per-CPU lists, who watches, and who decides.
///
/// A kernel names its own spin locks here. A simulator names a watcher that measures how long the zone
/// lock is held.
///
/// # Interrupts
///
/// Where interrupts, signals or anything else that runs to its end on top of a thread use the memory:
///
/// - The zone lock turns interrupts off while it is held, as Linux takes `zone->lock`. Otherwise an
///   interrupt waits for the thread that it interrupted.
/// - The lock of CPUs' lists need not, as in Linux: calls that an interrupt may make only try it, and go to
///   the free lists if it is taken. If it turns interrupts off, a thread with an [`crate::Exclusive`] has
///   none until it pauses.
/// - Locks are released in the reverse of the order in which they were taken, so each may keep, in itself,
///   whether interrupts were on before.
/// - On a processor without 64-bit atomics the embedder turns on the feature `unsafe-assume-privileged` of the
///   crate `portable-atomic`, whose lock around each counter then turns interrupts off. Otherwise an interrupt
///   may wait without end for the thread that it interrupted.
/// - A CPU number may be used by an interrupt while the thread that it interrupted uses it.
///   [`crate::Memory::request_stats`] may then miss a request.
///
/// | from an interrupt | calls |
/// |---|---|
/// | may be made | [`crate::Memory::alloc`] and [`crate::Memory::alloc_with`] without [`crate::GfpFlags::DIRECT_RECLAIM`], [`crate::Memory::alloc_bulk`] with the same flags, [`crate::Memory::free`], [`crate::Memory::split`], [`crate::Memory::free_contig_range`], [`crate::Zone::set_movable`], [`crate::Zone::add_free`], [`crate::Zone::isolate_range`] and its like, whatever only reads counts or settings, and asking whether a daemon is wanted |
/// | never, if the lock of CPUs' lists leaves interrupts on, since they wait for it | requests with [`crate::GfpFlags::DIRECT_RECLAIM`], [`crate::Memory::exclusive`], [`crate::Memory::free_bulk`], [`crate::Memory::refresh`], every drain, kswapd, kcompactd, tidying, contiguous ranges, [`crate::Memory::offline_range`], settings and state of a CPU's lists, and `check` |
///
/// Nothing here sleeps, but a drain waits for whoever holds the lists, an [`crate::Exclusive`] included.
pub trait Platform {
    /// Guards a zone's free lists. Linux counterpart: `zone->lock`.
    type Zone: RawMutex;
    /// Guards one CPU's lists of one zone. Linux counterpart: `pcp->lock`.
    type PerCpu: RawMutex;
    /// Who watches; `()` for nobody.
    type Tracepoints: Tracepoints;
    /// Who decides where requests find room outside their own type; `()` for the era.
    type Rule: PlacementRule;
    /// True if exactly one of two callers that free the same block at the same instant succeeds, which
    /// takes an atomic read-modify-write for each free. A later second free is always refused.
    const DETECTS_RACING_FREES: bool = true;
}

impl<Z: RawMutex, P: RawMutex> Platform for (Z, P) {
    type Zone = Z;
    type PerCpu = P;
    type Tracepoints = ();
    type Rule = ();
}

impl<Z: RawMutex, P: RawMutex, T: Tracepoints> Platform for (Z, P, T) {
    type Zone = Z;
    type PerCpu = P;
    type Tracepoints = T;
    type Rule = ();
}

impl<Z: RawMutex, P: RawMutex, T: Tracepoints, R: PlacementRule> Platform for (Z, P, T, R) {
    type Zone = Z;
    type PerCpu = P;
    type Tracepoints = T;
    type Rule = R;
}

/// Locks of memory whose blocks have one owner each, who frees a block once. A free then takes the lock of
/// the CPU's lists and no other atomic step.
///
/// In Linux the page's reference count ensures it: only the caller that drops the last reference frees the
/// page. If two callers do free one block at the same instant, both may succeed, and the block is handed
/// out twice.
#[derive(Debug)]
pub struct OwnersFreeOnce<L>(PhantomData<L>);

impl<L: Platform> Platform for OwnersFreeOnce<L> {
    type Zone = L::Zone;
    type PerCpu = L::PerCpu;
    type Tracepoints = L::Tracepoints;
    type Rule = L::Rule;
    const DETECTS_RACING_FREES: bool = false;
}
