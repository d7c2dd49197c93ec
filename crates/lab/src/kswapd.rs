//! A stand-in for kswapd: what it reclaimed is in the trace, as frees; what its being awake
//! changes in the allocator is done here.

use freehold::{Memory, Zone};

use crate::timed_mutex::ReplayLocks;

/// Events between two looks at the zones; kswapd does not start at once either.
const EVENTS_A_LOOK: u32 = 64;

/// Whether each node's kswapd is awake.
#[derive(Default)]
pub(crate) struct Kswapd {
    events: u32,
    /// One bit a node; nodes 64 apart share one.
    awake: u64,
}

impl Kswapd {
    /// Counts an event; whether it is time for a look.
    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        self.events += 1;
        self.events.is_multiple_of(EVENTS_A_LOOK)
    }

    /// Wakes the kswapd of each node that a request asked for and that has no zone above its
    /// high mark; puts it to sleep, the boosts gone, once one is.
    pub(crate) fn look_after(&mut self, memory: &Memory<'_, ReplayLocks>) {
        for zones in memory.zones().chunk_by(|a, b| a.node() == b.node()) {
            let bit = 1 << (zones[0].node() % 64);
            let was_awake = self.awake & bit != 0;
            let wanted = zones.iter().fold(false, |wanted, zone| zone.take_kswapd_wake() | wanted);
            let boosted = zones.iter().any(|zone| zone.watermark_boost() > 0);
            if !(was_awake || wanted || boosted) {
                continue;
            }
            let is_awake = (was_awake || wanted) && !zones.iter().any(Zone::is_balanced);
            if is_awake != was_awake {
                for zone in zones {
                    zone.set_reclaim_active(is_awake);
                }
                self.awake ^= bit;
            }
            if !is_awake {
                // It reclaims for a boost until that is gone.
                for zone in zones.iter().filter(|zone| zone.watermark_boost() > 0) {
                    zone.relax_boost(zone.watermark_boost());
                }
            }
        }
    }
}
