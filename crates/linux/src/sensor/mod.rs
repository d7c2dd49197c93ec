//! Where a machine's free blocks are read: kernel fields by BPF, or texts of `/proc`.

mod free_blocks;

pub use free_blocks::{FreeBlocks, Source, ZoneFreeBlocks};
