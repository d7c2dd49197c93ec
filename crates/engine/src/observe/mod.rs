//! A memory comes in, and stays unchanged; counters, texts in the kernel's formats and violated invariants go out.

mod check;
mod counters;
mod debug;
mod render;
#[cfg(all(test, not(loom)))]
mod tests;

pub use check::Broken;
pub use render::{PAGETYPEINFO_CAP, PageTypeRows, pagetypeinfo, write_buddyinfo_row};
