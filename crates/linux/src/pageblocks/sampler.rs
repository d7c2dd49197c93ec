//! Reads single pageblocks by their first frames, in any order.

use std::path::Path;

use super::block::Pageblock;
use super::fold::fold;
use super::order::pageblock_order;
use super::unflagged::Aside;
use crate::error::Error;
use crate::procfs::{FrameWords, WORD_BYTES, words};

/// An open `/proc/kpageflags`.
#[derive(Debug)]
pub struct PageblockSampler {
    file: FrameWords,
    pageblock_order: u8,
    buffer: Vec<u8>,
}

impl PageblockSampler {
    /// Opens `proc/kpageflags` below `root`.
    ///
    /// # Errors
    ///
    /// [`Error::NoKpageflags`] if the kernel has none, [`Error::NotRoot`] if access is refused.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let (file, pageblock_order) = (FrameWords::kpageflags(root)?, pageblock_order(root));
        Ok(Self { file, pageblock_order, buffer: vec![0; WORD_BYTES << pageblock_order] })
    }

    /// Returns the order of a pageblock.
    pub fn pageblock_order(&self) -> u8 {
        self.pageblock_order
    }

    /// Reads the pageblock that starts at frame `pfn`.
    ///
    /// A pageblock without any flag counts as the kernel's, which it need not be: only the zones' totals
    /// tell holes and memory that is not set up.
    pub fn read(&mut self, pfn: u64) -> Result<Pageblock, Error> {
        let filled = self.file.read(pfn, &mut self.buffer).map_err(|e| self.file.failed(e))?;
        Ok(fold(words(&self.buffer[..filled]), 0, self.pageblock_order, Aside::NONE).block)
    }
}
