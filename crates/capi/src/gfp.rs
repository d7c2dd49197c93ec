//! The names of common GFP flags.

use freehold::GfpFlags;

/// A request of the kernel that may wait, reclaim and start I/O.
pub const FREEHOLD_GFP_KERNEL: u32 = 0x6c0;
/// A caller that cannot wait, such as an interrupt. It may use half of the min watermark.
pub const FREEHOLD_GFP_ATOMIC: u32 = 0x420;
/// A caller that does not wait.
pub const FREEHOLD_GFP_NOWAIT: u32 = 0x1400;
/// Pages of a user process.
pub const FREEHOLD_GFP_USER: u32 = 0x8_06c0;
/// Pages of a user process that can be moved, in any zone.
pub const FREEHOLD_GFP_HIGHUSER_MOVABLE: u32 = 0x8_06ca;
/// A huge page, with reclaim and compaction.
pub const FREEHOLD_GFP_TRANSHUGE: u32 = 0xe_12ca;
/// Only zone DMA.
pub const FREEHOLD_GFP_DMA: u32 = 0x1;
/// Zone DMA32 or below.
pub const FREEHOLD_GFP_DMA32: u32 = 0x4;
/// The page can be moved.
pub const FREEHOLD_GFP_MOVABLE: u32 = 0x8;
/// The page can be reclaimed.
pub const FREEHOLD_GFP_RECLAIMABLE: u32 = 0x10;
/// A last attempt below all watermarks. It may fail.
pub const FREEHOLD_GFP_NOFAIL: u32 = 0x4000;
/// Fail instead of trying hard.
pub const FREEHOLD_GFP_NORETRY: u32 = 0x8000;
/// No watermark applies.
pub const FREEHOLD_GFP_MEMALLOC: u32 = 0x1_0000;
/// Only the node of the request.
pub const FREEHOLD_GFP_THISNODE: u32 = 0x10_0000;

// cbindgen does not evaluate expressions, so the numbers are literals. These assertions compare them with the engine.
const _: () = {
    const PAIRS: [(u32, GfpFlags); 14] = [
        (FREEHOLD_GFP_KERNEL, GfpFlags::KERNEL),
        (FREEHOLD_GFP_ATOMIC, GfpFlags::GFP_ATOMIC),
        (FREEHOLD_GFP_NOWAIT, GfpFlags::NOWAIT),
        (FREEHOLD_GFP_USER, GfpFlags::USER),
        (FREEHOLD_GFP_HIGHUSER_MOVABLE, GfpFlags::HIGHUSER_MOVABLE),
        (FREEHOLD_GFP_TRANSHUGE, GfpFlags::TRANSHUGE),
        (FREEHOLD_GFP_DMA, GfpFlags::DMA),
        (FREEHOLD_GFP_DMA32, GfpFlags::DMA32),
        (FREEHOLD_GFP_MOVABLE, GfpFlags::MOVABLE),
        (FREEHOLD_GFP_RECLAIMABLE, GfpFlags::RECLAIMABLE),
        (FREEHOLD_GFP_NOFAIL, GfpFlags::NOFAIL),
        (FREEHOLD_GFP_NORETRY, GfpFlags::NORETRY),
        (FREEHOLD_GFP_MEMALLOC, GfpFlags::MEMALLOC),
        (FREEHOLD_GFP_THISNODE, GfpFlags::THISNODE),
    ];
    let mut number = 0;
    while number < PAIRS.len() {
        assert!(PAIRS[number].0 == PAIRS[number].1.bits());
        number += 1;
    }
};
