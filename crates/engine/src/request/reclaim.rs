//! The two ways in which a request that may wait makes room: [`NoReclaim`], and an embedder.

use core::ops::ControlFlow;

use super::attempt::FoundBlock;
use super::direct_reclaim::Embedder;
use super::slowpath::{Helped, Helper, SlowPath};
use crate::compact::Relocate;
use crate::memory::Memory;
use crate::reclaim::Shrinker;
use crate::types::{AllocError, AllocFlags, GfpFlags, Pfn, Platform, Request};
use crate::zone::Mark;

/// How a request that may wait makes room: [`NoReclaim`], or `&mut` an embedder that is a [`Shrinker`] and a
/// [`Relocate`]. No other type implements it.
pub trait DirectReclaim<P: Platform>: AllocChecked<P> {}

impl<P: Platform, R: AllocChecked<P>> DirectReclaim<P> for R {}

/// The part of [`DirectReclaim`] that only the engine calls.
pub trait AllocChecked<P: Platform> {
    /// Allocates a block after the fast path has found none.
    fn alloc_checked(self, memory: &Memory<'_, P>, request: Request) -> Result<Pfn, AllocError>;
}

/// The call neither reclaims, compacts nor moves pages. A request that may wait drains the reserve for atomic requests
/// and the per-CPU lists once.
#[derive(Clone, Copy, Debug)]
pub struct NoReclaim;

impl<P: Platform> AllocChecked<P> for NoReclaim {
    #[inline]
    fn alloc_checked(self, memory: &Memory<'_, P>, request: Request) -> Result<Pfn, AllocError> {
        memory.alloc_checked(request, self)
    }
}

impl<P: Platform, E: Shrinker<P> + Relocate> AllocChecked<P> for &mut E {
    #[inline]
    fn alloc_checked(self, memory: &Memory<'_, P>, request: Request) -> Result<Pfn, AllocError> {
        if request.gfp.contains(GfpFlags::DIRECT_RECLAIM) {
            memory.alloc_checked(request, Embedder::new(self))
        } else {
            memory.alloc_checked(request, NoReclaim)
        }
    }
}

impl<'m, P: Platform> Helper<'m, P> for NoReclaim {
    const MOST_ROUNDS: u32 = 1;
    const RETRY_WITHOUT_NOFRAGMENT: bool = true;
    const MAKES_ROOM: bool = false;

    fn help_first(_: &mut SlowPath<'_, 'm, P, Self>) -> ControlFlow<Option<FoundBlock<'m, P>>> {
        ControlFlow::Continue(())
    }

    fn help(path: &mut SlowPath<'_, 'm, P, Self>) -> Helped<'m, P> {
        path.unreserve_highatomic(false);
        path.memory.drain_for_request();
        if let Some(found) = path.attempt() {
            return Helped::Found(found);
        }
        let may_force = !path.request.gfp.contains(GfpFlags::NORETRY);
        if may_force
            && path.unreserve_highatomic(true)
            && let Some(found) = path.attempt()
        {
            return Helped::Found(found);
        }
        Helped::GivesUp
    }

    fn insist(path: &SlowPath<'_, 'm, P, Self>) -> Option<FoundBlock<'m, P>> {
        if path.request.gfp.contains(GfpFlags::NORETRY) {
            return None;
        }
        path.memory.try_zones(&path.request, Mark::Min, AllocFlags::NO_WATERMARKS)
    }
}
