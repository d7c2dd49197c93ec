//! Requests to one zone and freed blocks come in; blocks go out. The zone's free lists, counts and watermarks change.

mod before_hygiene;
mod buddy;
mod compaction_state;
mod config;
mod convert;
mod counts;
mod fallback;
mod free_area;
mod free_lists;
mod guard;
mod highatomic;
mod isolate;
mod pageblocks;
mod percpu;
mod refill;
mod settings;
mod size;
mod state;
mod unmixed;
mod watermark_check;
mod watermark_levels;

pub(crate) use buddy::Insertion;
pub use config::ZoneConfig;
pub use counts::FreeCounts;
pub(crate) use fallback::Foreign;
pub(crate) use free_area::ListOp;
pub(crate) use guard::ZoneGuard;
pub(crate) use isolate::Isolation;
pub(crate) use percpu::LockedLists;
pub use state::Zone;
pub(crate) use state::{CpuLists, ZoneParts};
pub(crate) use unmixed::Unmixed;
pub(crate) use watermark_check::{Admission, DEFAULT_BOOST_FACTOR};
#[cfg(feature = "introspect")]
pub(crate) use watermark_levels::MOST_PAGES;
pub(crate) use watermark_levels::Mark;
pub use watermark_levels::Watermarks;
