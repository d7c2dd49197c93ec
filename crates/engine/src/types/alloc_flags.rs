//! The internal flags of an allocation attempt.

use bitflags::bitflags;

use super::gfp::GfpFlags;
use super::migratetype::Migratetype;
use super::switches::Switches;
use super::units::Order;

bitflags! {
    /// The internal flags of one attempt to allocate. Linux counterpart: `ALLOC_*`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) struct AllocFlags: u16 {
        /// No watermark applies.
        const NO_WATERMARKS = 1 << 0;
        /// The out-of-memory killer has chosen the caller, which may use the reserves.
        const OOM = 1 << 1;
        /// The caller cannot wait.
        const NON_BLOCK = 1 << 2;
        /// `__GFP_HIGH`: half of the min watermark may be used.
        const MIN_RESERVE = 1 << 3;
        /// CMA blocks may be used.
        const CMA = 1 << 4;
        /// Pageblock types should not mix while another zone can serve the request.
        const NOFRAGMENT = 1 << 5;
        /// The reserve for atomic high-order requests may be used.
        const HIGHATOMIC = 1 << 6;
        /// kswapd may be woken.
        const KSWAPD = 1 << 7;
        /// A boost of the watermarks does not apply to a single page at the min watermark.
        const IGNORE_BOOST = 1 << 8;
    }
}

impl AllocFlags {
    /// The flags that open reserves. Linux counterpart: `ALLOC_RESERVES`.
    pub(crate) const RESERVES: Self =
        Self::NON_BLOCK.union(Self::MIN_RESERVE).union(Self::HIGHATOMIC).union(Self::OOM);

    /// Returns the flags of the first attempt, on the fast path, without the atomic reserve.
    pub(crate) fn fast(gfp: GfpFlags) -> Self {
        Self::kswapd(gfp) | Self::cma(gfp)
    }

    /// Returns the flags of the attempts below the low watermark. Linux counterpart:
    /// `alloc_flags_slowpath`.
    pub(crate) fn slow(gfp: GfpFlags, order: Order, switches: Switches) -> Self {
        let mut flags = Self::kswapd(gfp) | Self::cma(gfp) | Self::highatomic(gfp, order);
        flags.set(Self::MIN_RESERVE, gfp.contains(GfpFlags::HIGH));
        let urgent = if switches.high_ignores_boost { GfpFlags::HIGH } else { GfpFlags::ATOMIC };
        flags.set(Self::IGNORE_BOOST, gfp.contains(urgent));
        flags.set(Self::NON_BLOCK, !gfp.intersects(GfpFlags::DIRECT_RECLAIM | GfpFlags::NOMEMALLOC));
        flags
    }

    /// Returns [`Self::HIGHATOMIC`] if a request may use the reserve for atomic high-order requests, otherwise no flag.
    pub(crate) fn highatomic(gfp: GfpFlags, order: Order) -> Self {
        let cannot_wait = !gfp.intersects(GfpFlags::DIRECT_RECLAIM | GfpFlags::NOMEMALLOC);
        let entitled = cannot_wait && order > Order::ZERO && gfp.contains(GfpFlags::HIGH);
        if entitled { Self::HIGHATOMIC } else { Self::empty() }
    }

    fn kswapd(gfp: GfpFlags) -> Self {
        if gfp.contains(GfpFlags::KSWAPD_RECLAIM) { Self::KSWAPD } else { Self::empty() }
    }

    pub(crate) fn cma(gfp: GfpFlags) -> Self {
        if gfp.migratetype() == Migratetype::Movable { Self::CMA } else { Self::empty() }
    }
}
