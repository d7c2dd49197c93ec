//! The wanted order goes in; pages move through the embedder, and blocks merge.

mod emptying;
mod free_scanner;
mod kcompactd;
mod migrate_scanner;
mod policy;
mod relocate;
mod run;
mod tidying;

pub(crate) use policy::{CompactPriority, CompactResult, compact_gap, gfp_allows_compaction};
pub use relocate::Relocate;
