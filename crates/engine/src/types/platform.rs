//! The [`Platform`] that an embedder provides.

use core::marker::PhantomData;

use lock_api::RawMutex;

use super::{PlacementRule, Tracepoints};

/// The types that an embedder provides to the engine: two locks, a receiver of events, and a placement rule.
///
/// A kernel names its own spin locks. [`OwnersFreeOnce`] wraps a platform whose callers never free a block twice.
///
/// ```
/// struct Host;
///
/// impl freehold::Platform for Host {
///     type ZoneLock = parking_lot::RawMutex;
///     type PerCpuLock = parking_lot::RawMutex;
///     type Tracepoints = ();
///     type Rule = ();
/// }
/// ```
///
/// # Interrupts
///
/// If interrupts, signals or other code that preempts a thread and runs to its end use the memory:
///
/// - The zone lock must turn interrupts off while it is held, as Linux does for `zone->lock`. Otherwise an interrupt
///   could wait for the thread that it interrupted.
/// - The lock of CPUs' lists may leave interrupts on, as in Linux. Functions that an interrupt may call only try this
///   lock, and use the free lists if it is taken. If the lock turns interrupts off, a thread with an
///   [`crate::Exclusive`] gets no interrupts until it pauses.
/// - The engine releases locks in the reverse of the order in which it took them. Therefore a lock may store in itself
///   whether interrupts were on before.
/// - On a processor without 64-bit atomics, the embedder must turn on the feature `unsafe-assume-privileged` of the
///   crate `portable-atomic`. Its lock around each counter then turns interrupts off. Otherwise an interrupt may wait
///   for ever for the thread that it interrupted.
/// - An interrupt may use the CPU number of the thread that it interrupted. [`crate::Memory::request_stats`] may then
///   miss a request.
///
/// | from an interrupt | functions |
/// |---|---|
/// | allowed | [`crate::Memory::alloc`] without [`crate::GfpFlags::DIRECT_RECLAIM`], [`crate::Memory::alloc_bulk`] with the same flags, [`crate::Memory::free`], [`crate::Memory::split`], [`crate::Memory::free_contig_range`], [`crate::Zone::set_movable`], [`crate::Zone::add_free`], [`crate::Zone::isolate_range`] and similar ones, functions that only read counts or settings, [`crate::Memory::is_kswapd_wanted`] and [`crate::Memory::is_kcompactd_wanted`] |
/// | forbidden if the lock of CPUs' lists leaves interrupts on, because they wait for it | requests with [`crate::GfpFlags::DIRECT_RECLAIM`], [`crate::Memory::exclusive`], [`crate::Memory::free_bulk`], [`crate::Memory::refresh`], every drain, kswapd, kcompactd, tidying, contiguous ranges, [`crate::Memory::offline_range`], settings and state of a CPU's lists, and `check` |
///
/// The engine never sleeps. A drain waits until all locks of the lists are free, including those of an
/// [`crate::Exclusive`]; only a drain for a request leaves out lists that have such an owner.
pub trait Platform {
    /// The lock of a zone's free lists. Linux counterpart: `zone->lock`.
    type ZoneLock: RawMutex;
    /// The lock of one CPU's lists of one zone. Linux counterpart: `pcp->lock`.
    type PerCpuLock: RawMutex;
    /// The receiver of the engine's events; `()` for none.
    type Tracepoints: Tracepoints;
    /// The rule that chooses blocks of other types for requests, and pageblocks to tidy; `()` for the rules of the era.
    type Rule: PlacementRule;
    /// True if the engine detects two frees of the same block at the same instant, so that exactly one succeeds. That
    /// costs an atomic read-modify-write for each free. A second free at a later time is always refused.
    const DETECTS_RACING_FREES: bool = true;
}

/// The platform `P` of an embedder whose callers never free the same block twice at the same instant. The free of a
/// single page to a list with room, and batches of an [`crate::Exclusive`], then take the lock of the CPU's lists, and
/// no other atomic operation.
///
/// In Linux the page's reference count ensures that: only the caller that drops the last reference frees the page. If
/// two callers do free one page in these ways at the same instant, both frees may succeed. The page may then be handed
/// out twice, and the invariants that [`crate::Memory::check`] verifies break; a build with debug assertions panics.
/// Every other free detects a second one at the same instant, as without this type.
#[derive(Debug)]
pub struct OwnersFreeOnce<P>(PhantomData<P>);

impl<P: Platform> Platform for OwnersFreeOnce<P> {
    type ZoneLock = P::ZoneLock;
    type PerCpuLock = P::PerCpuLock;
    type Tracepoints = P::Tracepoints;
    type Rule = P::Rule;
    const DETECTS_RACING_FREES: bool = false;
}
