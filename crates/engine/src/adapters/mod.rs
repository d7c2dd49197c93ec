//! A [`crate::Memory`] comes in; implementations of other crates' allocator traits go out.

#[cfg(not(loom))]
mod page_heap;
#[cfg(all(feature = "x86_64", not(loom)))]
mod page_tables;

#[cfg(not(loom))]
pub use page_heap::{DirectMap, PageHeap};
#[cfg(all(feature = "x86_64", not(loom)))]
pub use page_tables::FrameSource;
