//! Building of scripts: the calls of a family come in; steps with slots go out.

mod builder;
mod fill;
mod requests;
mod slots;
mod zone;

pub(super) use builder::{Builder, Leaving};
pub(super) use fill::{exhaust, fill, fill_by_split, free_where, mark_some, thin_out};
pub(super) use requests::{Kind, Rights};
pub(super) use zone::{LARGEST_ORDER, PAGEBLOCK_PAGES, Zone};
