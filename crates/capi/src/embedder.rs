//! The caller's part in reclaim and compaction: a struct with its functions.
#![expect(unsafe_code, reason = "calls of the caller's functions")]

use core::ffi::c_void;
use core::ptr;

use freehold::{Memory, Order, Pfn, Reclaimed, Relocate, ShrinkControl, Shrinker, ZoneType};

use crate::locks::CPlatform;

/// The functions that move and reclaim pages. A function that is null does nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FreeholdEmbedder {
    /// The first argument of every function.
    pub context: *mut c_void,
    /// Returns true if the allocated block at `pfn` may be moved. The caller then keeps the block allocated until
    /// `relocate` is called for it, or the call into the library returns.
    pub is_movable: Option<unsafe extern "C" fn(context: *mut c_void, pfn: u64, order: u8) -> bool>,
    /// Moves the contents of the block at `from` to the block at `to`. If it returns true, the caller owns `to`, and
    /// the library frees `from`. If it returns false, nothing has changed. It must not allocate.
    pub relocate: Option<unsafe extern "C" fn(context: *mut c_void, from: u64, to: u64, order: u8) -> bool>,
    /// Frees pages by `freehold_free` before it returns, about as many as wanted.
    pub shrink: Option<
        unsafe extern "C" fn(context: *mut c_void, wanted: *const FreeholdShrink) -> FreeholdReclaimed,
    >,
    /// Returns the largest number of pages of one zone that could be reclaimed.
    pub reclaimable_pages: Option<unsafe extern "C" fn(context: *mut c_void, node: u16, kind: u8) -> u64>,
}

/// The parameters of one round of reclaim.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FreeholdShrink {
    /// The number of pages wanted.
    pub wanted: u64,
    /// The flags of the request.
    pub gfp: u32,
    /// The node to reclaim from.
    pub node: u16,
    /// The CPU that reclaims and frees.
    pub cpu: u16,
    /// The highest zone of the node to reclaim from.
    pub highest_zone: u8,
    /// The order of the block for which memory is reclaimed.
    pub order: u8,
    /// The priority of the scan, from 12 down to 0: the number of pages to scan is all pages divided by 2^priority.
    pub priority: u8,
    /// True to free only pages that need not be written first.
    pub clean_only: bool,
}

/// The result of reclaim.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FreeholdReclaimed {
    /// Pages scanned.
    pub scanned: u64,
    /// Pages freed.
    pub reclaimed: u64,
}

/// The functions of one call into the engine.
pub(crate) struct Functions(FreeholdEmbedder);

impl Functions {
    /// Returns the functions that a caller in C passes. Null stands for functions that do nothing.
    ///
    /// # Safety
    /// `embedder` is null or points to functions that may be called with its context.
    pub(crate) unsafe fn of(embedder: *const FreeholdEmbedder) -> Self {
        // SAFETY: by the caller.
        Self(unsafe { embedder.as_ref() }.copied().unwrap_or(FreeholdEmbedder {
            context: ptr::null_mut(),
            is_movable: None,
            relocate: None,
            shrink: None,
            reclaimable_pages: None,
        }))
    }
}

impl Relocate for Functions {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        // Without `relocate` no block can be moved.
        let Some(is_movable) = self.0.is_movable.filter(|_| self.0.relocate.is_some()) else { return false };
        // SAFETY: by the caller of `Functions::of`.
        unsafe { is_movable(self.0.context, pfn.0, order.get()) }
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        let Some(relocate) = self.0.relocate else { return false };
        // SAFETY: by the caller of `Functions::of`.
        unsafe { relocate(self.0.context, from.0, to.0, order.get()) }
    }
}

impl Shrinker<CPlatform> for Functions {
    fn shrink(&mut self, _: &Memory<'_, CPlatform>, control: ShrinkControl) -> Reclaimed {
        let Some(shrink) = self.0.shrink else { return Reclaimed::default() };
        let wanted = FreeholdShrink {
            wanted: control.wanted,
            gfp: control.gfp.bits(),
            node: control.node,
            cpu: control.cpu,
            highest_zone: control.highest_zone as u8,
            order: control.order.get(),
            priority: control.priority,
            clean_only: control.clean_only,
        };
        // SAFETY: by the caller of `Functions::of`.
        let done = unsafe { shrink(self.0.context, &raw const wanted) };
        let mut reclaimed = Reclaimed::default();
        (reclaimed.scanned, reclaimed.reclaimed) = (done.scanned, done.reclaimed);
        reclaimed
    }

    fn reclaimable_pages(&mut self, node: u16, zone: ZoneType) -> u64 {
        let Some(reclaimable_pages) = self.0.reclaimable_pages else { return 0 };
        // SAFETY: by the caller of `Functions::of`.
        unsafe { reclaimable_pages(self.0.context, node, zone as u8) }
    }
}
