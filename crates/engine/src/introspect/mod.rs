//! For tests and laboratories: reads a zone block by block, and restores a saved state in another memory.

mod lists;
mod restore;

pub use restore::ZoneState;
