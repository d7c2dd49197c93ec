//! Counts anew what of a map was on per-CPU lists.

use std::path::Path;

use super::block::UnmovableKind;
use super::map::PageblockMap;
use super::per_cpu::PerCpuFrames;
use crate::error::Error;
use crate::procfs::{FrameWords, WORD_BYTES, words};

/// Counts the pages on per-CPU lists of a `map` anew, where `listed` has more frames than the reading of `map` knew. A page without a
/// flag counts that was on a list before or after that reading: lists change while pageblocks are read.
///
/// # Errors
/// [`Error::NoKpageflags`] if the kernel has none, [`Error::NotRoot`] if access is refused.
pub fn recount_listed(root: &Path, map: &mut PageblockMap, listed: &PerCpuFrames) -> Result<(), Error> {
    let file = FrameWords::kpageflags(root)?;
    let pages = map.pageblock_pages();
    let mut buffer = vec![0; pages as usize * WORD_BYTES];
    for zone in &mut map.zones {
        for (base, block) in (zone.start_pfn..).step_by(pages as usize).zip(&mut zone.blocks) {
            if block.pages_of(UnmovableKind::Kernel) <= u32::from(block.listed)
                || !listed.has_any(base, base + pages)
            {
                continue;
            }
            let filled = file.read(base, &mut buffer).map_err(|e| file.failed(e))?;
            let known = (base..)
                .zip(words(&buffer[..filled]))
                .filter(|&(pfn, word)| word == 0 && listed.has(pfn))
                .count();
            let most = block.unmovable[UnmovableKind::Kernel as usize];
            block.listed = block.listed.max(u16::try_from(known).unwrap_or(u16::MAX).min(most));
        }
    }
    Ok(())
}
