//! A memory goes in; lists, texts and broken invariants come out, and nothing changes.

mod check;
mod debug;
mod inspect;
mod render;

pub use check::Broken;
pub use render::{PAGETYPEINFO_CAP, PageTypeRows, pagetypeinfo, write_buddyinfo_row};
