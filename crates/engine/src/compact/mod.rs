//! A wanted order comes in; the embedder moves pages, blocks merge, and a block of that order goes out.

mod free_scanner;
mod kcompactd;
mod migrate_scanner;
mod policy;
mod relocate;
mod run;

pub(crate) use policy::{CompactPriority, CompactResult, compact_gap, gfp_allows_compaction};
pub use relocate::Relocate;
