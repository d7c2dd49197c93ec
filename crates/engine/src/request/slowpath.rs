//! The slow path: attempts at the min marks and below, and help between them.

use core::ops::ControlFlow;

use super::attempt::FoundBlock;
use crate::memory::Memory;
use crate::table::sync::Locks;
use crate::types::{AllocFlags, GfpFlags, Request};
use crate::zone::Mark;

/// One request on its way through the slow path.
pub(super) struct SlowPath<'p, 'm, L: Locks, H> {
    pub(super) memory: &'p Memory<'m, L>,
    pub(super) request: Request,
    /// The rights and wishes of the next attempt.
    pub(super) flags: AllocFlags,
    pub(super) helper: H,
}

/// The result of one round of help.
pub(super) enum Helped<'m, L: Locks> {
    /// A block.
    Found(FoundBlock<'m, L>),
    /// No block yet; another round may bring one.
    Again,
    /// No block, and no round can bring one.
    GivesUp,
}

/// What makes room for a request in the slow path.
pub(super) trait Helper<'m, L: Locks>: Sized {
    /// The most rounds of help. Linux goes on for as long as there is progress.
    const MOST_ROUNDS: u32;

    /// True if, in defrag mode, the whole path runs once more with pageblock types mixed after it has
    /// failed. A helper without it mixes types by itself.
    const STARTS_OVER_MIXED: bool;

    /// True if it makes room for a request that may wait, and does not only drain.
    const MAKES_ROOM: bool;

    /// Helps before the first round. Breaks with a block, or with `None` to fail the request.
    fn help_first(path: &mut SlowPath<'_, 'm, L, Self>) -> ControlFlow<Option<FoundBlock<'m, L>>>;

    /// Makes room once, for a request that may wait.
    fn help(path: &mut SlowPath<'_, 'm, L, Self>) -> Helped<'m, L>;

    /// Makes the last attempts for a request that must not fail.
    fn insist(path: &SlowPath<'_, 'm, L, Self>) -> Option<FoundBlock<'m, L>>;
}

impl<'p, 'm, L: Locks, H: Helper<'m, L>> SlowPath<'p, 'm, L, H> {
    /// Returns the slow path of a request that no zone admitted above its low mark.
    pub(super) fn new(memory: &'p Memory<'m, L>, request: Request, helper: H) -> Self {
        let mut flags = AllocFlags::slow(request.gfp, request.order, memory.switches);
        flags.set(AllocFlags::NOFRAGMENT, memory.tunables.defrag_mode());
        Self { memory, request, flags, helper }
    }

    /// Returns a block, or `None` if the request fails.
    ///
    /// Linux counterpart: `__alloc_pages_slowpath`.
    #[cold]
    #[inline(never)]
    pub(super) fn run(&mut self) -> Option<FoundBlock<'m, L>> {
        self.wake_kswapd();
        let unmixed = self.flags.contains(AllocFlags::NOFRAGMENT);
        let found = self.try_all();
        if found.is_some() || !unmixed || !H::STARTS_OVER_MIXED {
            return found;
        }
        self.flags = AllocFlags::slow(self.request.gfp, self.request.order, self.memory.switches);
        self.try_all()
    }

    fn try_all(&mut self) -> Option<FoundBlock<'m, L>> {
        let gfp = self.request.gfp;
        let found = self.attempt();
        if found.is_some() {
            return found;
        }
        let all_reserves = gfp.contains(GfpFlags::MEMALLOC) && !gfp.contains(GfpFlags::NOMEMALLOC);
        if all_reserves {
            // This right replaces the others, that to the atomic reserve included.
            self.flags = self.flags & (AllocFlags::CMA | AllocFlags::KSWAPD) | AllocFlags::NO_WATERMARKS;
        } else if let ControlFlow::Break(found) = H::help_first(self) {
            return found;
        }
        // Atomic requests may leave their cpuset now, which is a new right in Linux.
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

    /// Tries all zones at their min marks with the present rights.
    pub(super) fn attempt(&self) -> Option<FoundBlock<'m, L>> {
        self.memory.try_zones(&self.request, Mark::Min, self.flags)
    }

    /// Gives one pageblock of the reserve for atomic requests back, from the first zone that can; a zone's
    /// last one only with `force`. Returns true if free pages left the reserve.
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
