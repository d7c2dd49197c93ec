//! The caller's bytes come in; tables of frames, links and pageblocks go out, and lists that run through them.

mod cache_line;
mod frame;
mod frame_table;
mod list;
mod metadata;
mod movable_bitmap;
mod pageblock;
mod pageblock_use;
mod run;
mod sections;
pub(crate) mod sync;

pub(crate) use cache_line::OwnLines;
pub(crate) use frame::{Frame, FrameIndex, FrameKind, FrameWord, Links, RacingFrees};
pub(crate) use frame_table::FrameTable;
pub(crate) use list::{BlockList, Place};
pub(crate) use metadata::{Carver, Tally};
pub(crate) use movable_bitmap::{MovableBitmap, MovableBits};
pub(crate) use pageblock::{LargeCounts, Pageblock, PageblockTable};
pub(crate) use run::Run;
pub use sections::Sections;
pub(crate) use sections::{Places, SectionMap, ZoneSections, base_of};
