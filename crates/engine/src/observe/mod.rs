//! A memory comes in, and stays unchanged; lists, texts in the kernel's formats and violated invariants go out.

mod check;
mod debug;
mod inspect;
mod render;

pub use check::Broken;
pub use render::{PAGETYPEINFO_CAP, PageTypeRows, pagetypeinfo, write_buddyinfo_row};
