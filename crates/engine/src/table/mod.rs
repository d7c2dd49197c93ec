pub(crate) mod cache_line;
pub(crate) mod frame;
pub(crate) mod list;
pub(crate) mod metadata;
pub(crate) mod pageblock;
pub(crate) mod pageblock_use;
pub(crate) mod sync;
