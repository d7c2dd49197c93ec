//! The limits of a trace, which bound a reader's memory.

/// Rows in one record batch. Bounds what a reader allocates.
pub(crate) const MAX_BATCH_ROWS: usize = 1 << 20;
/// Bytes of one message's metadata; the header with its snapshot is the largest.
pub(crate) const MAX_METADATA_BYTES: usize = 16 << 20;
/// Bytes of one message's body: more than [`MAX_BATCH_ROWS`] uncompressed rows need.
pub(crate) const MAX_BODY_BYTES: usize = 128 << 20;
/// Bytes of all notes in one record batch.
pub(crate) const MAX_NOTE_BYTES: usize = 16 << 20;
/// Runs of the start snapshot's occupancy.
pub(crate) const MAX_RUNS: usize = 1 << 25;
/// Zones of a snapshot: more than Linux can have (1024 nodes with 5 zones each).
pub(super) const MAX_ZONES: usize = 8192;
