//! What a request wants of one zone goes in; a block comes out, and goes back.

mod before_hygiene;
mod buddy;
mod compaction;
mod config;
mod convert;
mod counts;
mod exchange;
mod fallback;
mod free_area;
mod free_lists;
mod guard;
mod highatomic;
mod isolate;
mod marks;
mod pageblocks;
mod placement;
mod refill;
mod state;
mod watermark;

pub(crate) use buddy::Insertion;
pub use config::ZoneConfig;
pub use counts::FreeCounts;
pub(crate) use free_area::Passage;
pub(crate) use guard::ZoneGuard;
pub(crate) use isolate::Isolation;
pub(crate) use marks::Mark;
pub use marks::Watermarks;
pub(crate) use placement::LOOKS;
pub use state::Zone;
pub(crate) use state::{CpuLists, Unmixed, ZoneParts};
pub(crate) use watermark::{Admission, DEFAULT_BOOST_FACTOR};
