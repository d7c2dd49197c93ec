//! The slow path: attempts at the min watermarks and below, with reclaim and compaction between them.

use core::ops::ControlFlow;

use super::attempt::FoundBlock;
use crate::memory::Memory;
use crate::types::{AllocFlags, GfpFlags, Platform, Request};
use crate::zone::Mark;

/// One request on its way through the slow path.
pub(super) struct SlowPath<'p, 'm, P: Platform, H> {
    pub(super) memory: &'p Memory<'m, P>,
    pub(super) request: Request,
    /// The flags of the next attempt.
    pub(super) flags: AllocFlags,
    pub(super) helper: H,
}

/// The result of one round of help.
pub(super) enum Helped<'m, P: Platform> {
    /// A block was found.
    Found(FoundBlock<'m, P>),
    /// No block was found, but another round may help.
    Again,
    /// No block was found, and another round cannot help.
    GivesUp,
}

/// Makes room for a request in the slow path.
pub(super) trait Helper<'m, P: Platform>: Sized {
    /// The most rounds of help. Linux continues for as long as there is progress.
    const MOST_ROUNDS: u32;

    /// True if in defrag mode a failed slow path runs once more without [`AllocFlags::NOFRAGMENT`]. If false, the
    /// helper clears the flag itself.
    const RETRY_WITHOUT_NOFRAGMENT: bool;

    /// True if the helper reclaims or compacts for a request that may wait. False if it only drains.
    const MAKES_ROOM: bool;

    /// Helps before the first round. Breaks with a block, or with `None` to fail the request.
    fn help_first(path: &mut SlowPath<'_, 'm, P, Self>) -> ControlFlow<Option<FoundBlock<'m, P>>>;

    /// Makes room once, for a request that may wait.
    fn help(path: &mut SlowPath<'_, 'm, P, Self>) -> Helped<'m, P>;

    /// Makes the last attempts for a request that must not fail.
    fn insist(path: &SlowPath<'_, 'm, P, Self>) -> Option<FoundBlock<'m, P>>;
}

impl<'p, 'm, P: Platform, H: Helper<'m, P>> SlowPath<'p, 'm, P, H> {
    /// Returns the slow path of a request that no zone admitted above its low watermark.
    pub(super) fn new(memory: &'p Memory<'m, P>, request: Request, helper: H) -> Self {
        let mut flags = AllocFlags::slow(request.gfp, request.order, memory.switches);
        flags.set(AllocFlags::NOFRAGMENT, memory.tunables.defrag_mode());
        Self { memory, request, flags, helper }
    }

    /// Returns a block, or `None` if the request fails.
    ///
    /// Linux counterpart: `__alloc_pages_slowpath`.
    #[cold]
    #[inline(never)]
    pub(super) fn run(&mut self) -> Option<FoundBlock<'m, P>> {
        self.wake_kswapd();
        let unmixed = self.flags.contains(AllocFlags::NOFRAGMENT);
        let found = self.try_all();
        if found.is_some() || !unmixed || !H::RETRY_WITHOUT_NOFRAGMENT {
            return found;
        }
        self.flags = AllocFlags::slow(self.request.gfp, self.request.order, self.memory.switches);
        self.try_all()
    }

    fn try_all(&mut self) -> Option<FoundBlock<'m, P>> {
        let gfp = self.request.gfp;
        let found = self.attempt();
        if found.is_some() {
            return found;
        }
        let all_reserves = gfp.contains(GfpFlags::MEMALLOC) && !gfp.contains(GfpFlags::NOMEMALLOC);
        if all_reserves {
            // This flag replaces all others except two, also the one that opens the atomic reserve.
            self.flags = self.flags & (AllocFlags::CMA | AllocFlags::KSWAPD) | AllocFlags::NO_WATERMARKS;
        } else if let ControlFlow::Break(found) = H::help_first(self) {
            return found;
        }
        // Atomic requests may now leave their cpuset. Linux treats that as a change of flags.
        let leaves_cpuset = gfp.contains(GfpFlags::HIGH) && !gfp.contains(GfpFlags::DIRECT_RECLAIM);
        let new_rights = all_reserves || leaves_cpuset || !self.memory.switches.retries_with_new_rights;
        for round in 0..H::MOST_ROUNDS {
            if round > 0 {
                self.wake_kswapd();
            }
            if (round > 0 || new_rights)
                && let Some(found) = self.attempt()
            {
                return Some(found);
            }
            if !gfp.contains(GfpFlags::DIRECT_RECLAIM) {
                return None;
            }
            match H::help(self) {
                Helped::Found(found) => return Some(found),
                Helped::Again => {}
                Helped::GivesUp => break,
            }
        }
        if gfp.contains(GfpFlags::NOFAIL) { H::insist(self) } else { None }
    }

    /// Tries all zones at their min watermarks with the current flags.
    pub(super) fn attempt(&self) -> Option<FoundBlock<'m, P>> {
        self.memory.try_zones(&self.request, Mark::Min, self.flags)
    }

    /// Releases one pageblock from the reserve for atomic requests, in the first zone that can. Releases a zone's last
    /// pageblock only with `force`. Returns true if free pages left the reserve.
    pub(super) fn unreserve_highatomic(&self, force: bool) -> bool {
        let to = self.request.gfp.migratetype();
        self.memory.zonelist(&self.request).any(|zone| zone.unreserve_highatomic(to, force))
    }

    fn wake_kswapd(&self) {
        if self.flags.contains(AllocFlags::KSWAPD) {
            self.memory.wake_kswapd(&self.request);
        }
    }
}
